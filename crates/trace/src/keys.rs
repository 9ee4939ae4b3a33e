//! Hashes of keys. All statistics and samples identify keys by these hashes.

use workload::TraceRecord;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Returns the hash of the key of a record. The same key in different column families has different hashes.
pub(crate) fn hash_of(record: &TraceRecord) -> u64 {
    xxh3_64_with_seed(&record.key, record.family.into())
}
