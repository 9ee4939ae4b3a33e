//! Digests (64-bit hashes) of the answers of a store. lsmbench keeps only the digest of an answer, and compares this
//! digest with the digest of the expected answer later.

use types::avalanche;
use xxhash_rust::xxh3::xxh3_64;

/// Returns the digest of the answer to a get. The digest is 0 if the get found nothing.
pub(crate) fn of_value(value: Option<&[u8]>) -> u64 {
    value.map_or(0, |value| xxh3_64(value) | 1)
}

/// Returns the digest of the answer to a conditional put. `exists` is whether the key existed before the put.
pub(crate) fn of_presence(exists: bool) -> u64 {
    u64::from(exists)
}

/// Computes the digest of an answer with several parts, such as the entries of a scan. The parts are added one by one,
/// and their order matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts(u64);

impl Parts {
    /// Adds an entry that a scan returned, with its key and its value, to the digest.
    pub(crate) fn entry(&mut self, key: &[u8], value: &[u8]) {
        self.add(xxh3_64(key));
        self.add(xxh3_64(value));
    }

    /// Adds one part of an answer to its digest, such as the hash of an entry.
    pub(crate) fn add(&mut self, part: u64) {
        self.0 = avalanche(self.0.rotate_left(23) ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }

    /// Returns the digest of the whole answer, after all its parts were added.
    pub(crate) fn digest(self) -> u64 {
        self.0
    }
}
