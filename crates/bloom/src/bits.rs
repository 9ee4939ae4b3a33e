//! A bit array in which each key sets several bits anywhere: the body of a textbook Bloom filter.

use types::KeyHash;

use crate::position::{reduce, remix};
use prefetch::large;
use prefetch::prefetch;

/// Returns `probes` positions of a key: a word index below `words`, and the bit to set in that word.
#[inline]
pub(crate) fn places(hash: KeyHash, probes: u32, words: usize) -> impl Iterator<Item = (usize, u64)> {
    (0..probes).scan(hash.0, move |derived, _| {
        let bit = reduce(*derived, words * 64);
        *derived = remix(*derived);
        Some((bit / 64, 1 << (bit % 64)))
    })
}

/// Bits addressed by hashes. The length is a multiple of 64 and not 0.
pub(crate) struct BitArray(Vec<u64>);

impl BitArray {
    /// Creates an array of `words` zero words.
    pub(crate) fn zeros(words: usize) -> Self {
        Self(large::zeros(words))
    }

    /// Creates the array from its words. At least one word is needed.
    pub(crate) fn from_words(words: impl ExactSizeIterator<Item = u64>) -> Self {
        Self(large::collected(words))
    }

    /// The words to store.
    pub(crate) fn words(&self) -> impl ExactSizeIterator<Item = u64> {
        self.0.iter().copied()
    }

    /// The number of bits.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len() * 64
    }

    /// Sets `probes` bits of a key.
    pub(crate) fn add(&mut self, hash: KeyHash, probes: u32) {
        for (word, mask) in places(hash, probes, self.0.len()) {
            self.0[word] |= mask;
        }
    }

    /// Whether all bits of a key are set. Stops at the first zero bit: two probes suffice for most absent keys.
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

    /// Prefetches the words of the first two probes, because absent keys rarely need more.
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
