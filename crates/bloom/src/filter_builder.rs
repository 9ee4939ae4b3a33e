//! Builders of filters that accept keys one by one. Several threads may add keys concurrently.
//!
//! [`FilterPolicy::build`](crate::FilterPolicy::build) is faster, but needs all keys of the SSTable in advance. A
//! [`FilterBuilder`] accepts keys one by one or in batches, from many threads. Batches prefetch memory, as in
//! sections 2.3.3 and 4.3.1 of the document cs265.

use std::sync::atomic::{AtomicU64, Ordering};

use prefetch::{large, prefetch};
use types::KeyHash;

use crate::batch::GROUP;
use crate::stored::Head;

/// A filter under construction. Any number of threads may insert keys concurrently.
///
/// Invariant: if all keys of an input are inserted, in any order, [`finish`](Self::finish) returns the bytes that
/// [`build`](crate::FilterPolicy::build) returns for this input.
pub trait FilterBuilder: Send + Sync {
    /// Adds a key, given by its hash, to the filter.
    fn insert(&self, hash: KeyHash);

    /// Adds many keys by their hashes. The effect is that of [`insert`](Self::insert) for each hash. A batch is
    /// faster, because the builder prefetches the memory of a group of keys.
    fn insert_batch(&self, hashes: &[KeyHash]);

    /// Returns the bytes to store. All insertions must have returned before this call.
    fn finish(&self) -> Vec<u8>;
}

/// A rule that determines which bits of a bit array belong to a key.
pub(crate) trait Places: Send + Sync {
    /// Returns the bits that belong to a key in an array of `words` 64-bit words. Each result is the index of a word
    /// and a mask with the bits of this word.
    fn of(&self, hash: KeyHash, words: usize) -> impl Iterator<Item = (usize, u64)>;
}

/// A [`FilterBuilder`] for filters that are one bit array. Many threads can set bits concurrently, because the words
/// are atomic.
pub(crate) struct BitArrayBuilder<P> {
    head: Head,
    words: Vec<AtomicU64>,
    places: P,
}

/// The number of words for each key that a batch of insertions prefetches.
const WORDS_AHEAD: usize = 2;

impl<P: Places> BitArrayBuilder<P> {
    /// Creates a builder for a bit array of `words` 64-bit words in which no bit is set. `head` becomes the header of
    /// the stored filter.
    pub(crate) fn new(head: Head, words: usize, places: P) -> Self {
        Self { head, words: large::collected((0..words).map(|_| AtomicU64::new(0))), places }
    }
}

impl<P: Places> FilterBuilder for BitArrayBuilder<P> {
    #[inline]
    fn insert(&self, hash: KeyHash) {
        for (word, mask) in self.places.of(hash, self.words.len()) {
            // The ordering `Relaxed` suffices, because the reader of the words first waits for the writing threads.
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
