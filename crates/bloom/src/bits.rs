//! An array of bits in which a key has several, anywhere: the body of a textbook Bloom filter.

use types::KeyHash;

use crate::position::{reduce, remix};
use prefetch::large;
use prefetch::prefetch;

/// The words of a key among `words`, each with the bit to set in it, `probes` times.
#[inline]
pub(crate) fn places(hash: KeyHash, probes: u32, words: usize) -> impl Iterator<Item = (usize, u64)> {
    (0..probes).scan(hash.0, move |derived, _| {
        let bit = reduce(*derived, words * 64);
        *derived = remix(*derived);
        Some((bit / 64, 1 << (bit % 64)))
    })
}

/// Bits addressed by hashes; its length is a multiple of 64 and not 0.
pub(crate) struct BitArray(Vec<u64>);

impl BitArray {
    /// `words` words without a bit set.
    pub(crate) fn zeros(words: usize) -> Self {
        Self(large::zeros(words))
    }

    /// The bits of these words, of which there is one at least.
    pub(crate) fn from_words(words: impl ExactSizeIterator<Item = u64>) -> Self {
        Self(large::collected(words))
    }

    /// The words, to be stored.
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

    /// Whether all bits of a key are set. Stops at the first one that is not: two probes are enough for most
    /// absent keys.
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

    /// Asks for the words of the first two probes: more than two are rare for absent keys.
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
