//! Builders of filters that take keys one by one. Several threads may set bits of the filter concurrently.
//!
//! A flush or compaction knows all keys of an SSTable when it builds the filter, and
//! [`FilterPolicy::build`](crate::FilterPolicy::build) is then fastest. A [`FilterBuilder`] instead accepts keys as
//! they arrive: one by one, in batches that prefetch their words, and from many threads (cs265 2.3.3 and 4.3.1).

use std::sync::atomic::{AtomicU64, Ordering};

use prefetch::{large, prefetch};
use types::KeyHash;

use crate::batch::GROUP;
use crate::stored::Head;

/// A filter under construction. Any number of threads may insert keys concurrently.
///
/// Invariant: after all keys of an input were inserted, in any order, [`finish`](Self::finish) returns the bytes that
/// [`build`](crate::FilterPolicy::build) returns for that input.
pub trait FilterBuilder: Send + Sync {
    /// Adds a key by its hash.
    fn insert(&self, hash: KeyHash);

    /// Adds many keys. Same result as [`insert`](Self::insert), but prefetches the memory of a group of keys before
    /// writing it.
    fn insert_batch(&self, hashes: &[KeyHash]);

    /// Returns the bytes to store. All inserts must have returned.
    fn finish(&self) -> Vec<u8>;
}

/// The positions of a key's bits in the array.
pub(crate) trait Places: Send + Sync {
    /// Returns the words that a key uses among `words` 64-bit words, each with the bits to set.
    fn of(&self, hash: KeyHash, words: usize) -> impl Iterator<Item = (usize, u64)>;
}

/// A [`FilterBuilder`] over an array of atomic words that many threads write.
pub(crate) struct BitArrayBuilder<P> {
    head: Head,
    words: Vec<AtomicU64>,
    places: P,
}

/// The number of words of a key that a batch prefetches.
const WORDS_AHEAD: usize = 2;

impl<P: Places> BitArrayBuilder<P> {
    /// Creates an array of `words` zero words, to be stored under `head`.
    pub(crate) fn new(head: Head, words: usize, places: P) -> Self {
        Self { head, words: large::collected((0..words).map(|_| AtomicU64::new(0))), places }
    }
}

impl<P: Places> FilterBuilder for BitArrayBuilder<P> {
    #[inline]
    fn insert(&self, hash: KeyHash) {
        for (word, mask) in self.places.of(hash, self.words.len()) {
            // Relaxed, because the reader of the words waits for the writing threads first.
            self.words[word].fetch_or(mask, Ordering::Relaxed);
        }
    }

    fn insert_batch(&self, hashes: &[KeyHash]) {
        for group in hashes.chunks(GROUP) {
            for hash in group {
                let first = self.places.of(*hash, self.words.len()).take(WORDS_AHEAD);
                first.for_each(|(word, _)| prefetch(&self.words, word));
            }
            group.iter().for_each(|hash| self.insert(*hash));
        }
    }

    fn finish(&self) -> Vec<u8> {
        self.head.encode(self.words.iter().map(|word| word.load(Ordering::Relaxed)))
    }
}
