//! The seam of the hash axis.

use types::KeyHash;

/// A hash function over keys; the same key has the same hash on every machine, for good.
pub trait KeyHasher: Send + Sync {
    /// The hash of `key`.
    fn hash(&self, key: &[u8]) -> KeyHash;
}
