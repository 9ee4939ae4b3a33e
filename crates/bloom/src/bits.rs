//! The bit array of a textbook Bloom filter. Each key sets several bits at any positions of the array.

use types::KeyHash;

use crate::position::{reduce, remix};
use prefetch::large;
use prefetch::prefetch;

/// Returns the positions of the `probes` bits that a key sets. Each position is the index of a word, below `words`, and
/// a mask with one bit of this word.
#[inline]
pub(crate) fn places(hash: KeyHash, probes: u32, words: usize) -> impl Iterator<Item = (usize, u64)> {
    (0..probes).scan(hash.0, move |derived, _| {
        let bit = reduce(*derived, words * 64);
        *derived = remix(*derived);
        Some((bit / 64, 1 << (bit % 64)))
    })
}

/// A bit array. The hash of a key selects the bits that belong to the key. The length in bits is a multiple of 64 and
/// not 0.
pub(crate) struct BitArray(Vec<u64>);

impl BitArray {
    /// Creates a bit array of `words` 64-bit words in which no bit is set.
    pub(crate) fn zeros(words: usize) -> Self {
        Self(large::zeros(words))
    }

    /// Creates the bit array from its stored 64-bit words. At least one word is needed.
    pub(crate) fn from_words(words: impl ExactSizeIterator<Item = u64>) -> Self {
        Self(large::collected(words))
    }

    /// Returns the 64-bit words of the array, for storage.
    pub(crate) fn words(&self) -> impl ExactSizeIterator<Item = u64> {
        self.0.iter().copied()
    }

    /// Returns the number of bits of the array.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len() * 64
    }

    /// Sets the `probes` bits that belong to a key.
    pub(crate) fn add(&mut self, hash: KeyHash, probes: u32) {
        for (word, mask) in places(hash, probes, self.0.len()) {
            self.0[word] |= mask;
        }
    }

    /// Whether all bits that belong to a key are set. The test stops at the first zero bit, so most absent keys need at
    /// most two tested bits.
    #[inline]
    pub(crate) fn may_contain(&self, hash: KeyHash, probes: u32) -> bool {
        let mut derived = hash.0;
        for _ in 0..probes {
            let bit = reduce(derived, self.len());
            if self.0[bit / 64] >> (bit % 64) & 1 == 0 {
                return false;
            }
            derived = remix(derived);
        }
        true
    }

    /// Prefetches the words with the first two bits that belong to a key, because a lookup of an absent key rarely
    /// reads more words.
    #[inline]
    pub(crate) fn prefetch(&self, hash: KeyHash) {
        for derived in [hash.0, remix(hash.0)] {
            prefetch(&self.0, reduce(derived, self.len()) / 64);
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}
