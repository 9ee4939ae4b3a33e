//! Hashes that identify keys. All statistics and samples identify a key by its hash.

use workload::TraceRecord;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Returns the hash of the key of a record. Equal keys of different column families have different hashes.
pub(crate) fn hash_of(record: &TraceRecord) -> u64 {
    xxh3_64_with_seed(&record.key, record.family.into())
}
