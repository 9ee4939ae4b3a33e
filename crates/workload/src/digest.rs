//! Digests of answers, 64 bits each. A digest allows checking an answer long after the answer was received.

use types::avalanche;
use xxhash_rust::xxh3::xxh3_64;

/// Returns the digest of a get: 0 if nothing was found.
pub(crate) fn of_value(value: Option<&[u8]>) -> u64 {
    value.map_or(0, |value| xxh3_64(value) | 1)
}

/// Returns the digest of the answer whether a key exists.
pub(crate) fn of_presence(exists: bool) -> u64 {
    u64::from(exists)
}

/// The digest of an answer that has several parts, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts(u64);

impl Parts {
    /// Adds an entry of a scan.
    pub(crate) fn entry(&mut self, key: &[u8], value: &[u8]) {
        self.add(xxh3_64(key));
        self.add(xxh3_64(value));
    }

    /// Adds one part.
    pub(crate) fn add(&mut self, part: u64) {
        self.0 = avalanche(self.0.rotate_left(23) ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }

    /// Returns the digest of all parts so far.
    pub(crate) fn digest(self) -> u64 {
        self.0
    }
}
