//! Hashes of keys, by which all statistics and samples know a key.

use workload::TraceRecord;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Returns the hash of the key of a record; keys of different column families are different.
pub(crate) fn hash_of(record: &TraceRecord) -> u64 {
    xxh3_64_with_seed(&record.key, record.family.into())
}
