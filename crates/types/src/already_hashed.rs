//! A hasher for maps whose keys are hashes.

use std::hash::Hasher;

/// A hasher for maps whose keys are 64-bit hashes: it returns the hash unchanged. Hashing a [`KeyHash`](crate::KeyHash)
/// again would have no benefit.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
