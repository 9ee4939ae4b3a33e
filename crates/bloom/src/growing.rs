//! Filters while keys are added to them: arrays of bits that several threads set at the same time.
//!
//! A table knows all its keys when its filter is built, and [`FilterPolicy::build`](crate::FilterPolicy::build) is then
//! the quickest way. This is the other one, of filters that are filled as keys come: one by one, in batches whose
//! words are asked for before they are written, and by many threads (cs265 2.3.3 and 4.3.1).

use std::sync::atomic::{AtomicU64, Ordering};

use memory::{large, prefetch};
use types::KeyHash;

use crate::batch::GROUP;
use crate::stored::Head;

/// A filter to which keys are still added, by any number of threads.
///
/// A law: once all keys of its input were added, in any order, [`finish`](Self::finish) gives the bytes that
/// [`build`](crate::FilterPolicy::build) makes of that input.
pub trait Growing: Send + Sync {
    /// Adds a key by its hash.
    fn insert(&self, hash: KeyHash);

    /// Adds many keys, as [`insert`](Self::insert) does; the memory of a group of them is asked for before any of it is
    /// written.
    fn insert_batch(&self, hashes: &[KeyHash]);

    /// The bytes to store. No insert is under way any more.
    fn finish(&self) -> Vec<u8>;
}

/// Where the bits of a key lie.
pub(crate) trait Places: Send + Sync {
    /// The words of a key among `words` 64-bit ones, each with the bits to set in it.
    fn of(&self, hash: KeyHash, words: usize) -> impl Iterator<Item = (usize, u64)>;
}

/// Bits of keys in words that many threads write.
pub(crate) struct GrowingBits<P> {
    head: Head,
    words: Vec<AtomicU64>,
    places: P,
}

/// The words of a key that a batch asks for ahead.
const WORDS_AHEAD: usize = 2;

impl<P: Places> GrowingBits<P> {
    /// `words` words without a bit set, to be stored under `head`.
    pub(crate) fn new(head: Head, words: usize, places: P) -> Self {
        Self { head, words: large::collected((0..words).map(|_| AtomicU64::new(0))), places }
    }
}

impl<P: Places> Growing for GrowingBits<P> {
    #[inline]
    fn insert(&self, hash: KeyHash) {
        for (word, mask) in self.places.of(hash, self.words.len()) {
            // Who reads the words has waited for the threads that wrote them.
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
