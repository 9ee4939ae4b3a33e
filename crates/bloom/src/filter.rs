//! The seam of the filter axis: how a filter is built from keys or their hashes, and what it answers.

use std::ops::Bound;

use types::{Bytes, HashedKey, KeyHash, KeyList};

use crate::batch::{GROUP, in_groups};
use crate::corrupt::CorruptFilter;
use crate::filter_builder::FilterBuilder;

/// How filters are built for new tables and opened for stored ones.
pub trait FilterPolicy: Send + Sync {
    /// Builds the filter of one table and returns the bytes to store. They hold all that
    /// [`open`](Self::open) needs, and are the same for the same input on every machine.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8>;

    /// Opens stored bytes. Every length in them is checked before use.
    ///
    /// # Errors
    /// If the bytes were not written by this policy or are corrupt.
    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter>;

    /// An empty filter for the keys of `input`, which are yet to be added; `None` where all of them must be known at
    /// once.
    fn grow(&self, _input: &FilterInput<'_>) -> Option<Box<dyn FilterBuilder>> {
        None
    }

    /// The bits per key that its own parameter spends on a large table, which an allocation over levels may
    /// share out otherwise; none where the variant pays no heed to an allocation.
    fn bits_per_key(&self) -> Option<f64> {
        None
    }

    /// Whether a filter is built from the keys themselves. Only then are they held until the table ends: most
    /// filters need their hashes alone.
    fn needs_keys(&self) -> bool {
        false
    }
}

/// What a table knows when its filter is built.
#[derive(Clone, Copy, Debug)]
pub struct FilterInput<'a> {
    /// The hash of every key, in key order; collisions may make two of them equal.
    pub hashes: &'a [KeyHash],
    /// The bits this table may spend per key where an allocation over levels decides it; the variant's own
    /// parameter otherwise. A variant whose width is fixed ignores it.
    pub bits_per_key: Option<f64>,
    /// The keys themselves, in order, as many as hashes: where the policy [needs](FilterPolicy::needs_keys)
    /// them.
    pub keys: Option<&'a KeyList>,
}

impl<'a> FilterInput<'a> {
    /// The keys, for a policy that needs them.
    ///
    /// # Panics
    /// If they were not handed over.
    pub(crate) fn needed_keys(&self) -> &'a KeyList {
        self.keys.expect("a policy that needs keys is given them")
    }
}

/// One table's filter.
///
/// Laws:
/// 1. A key that was added is never reported absent, by its hash or by itself.
/// 2. Answers depend on the stored bytes and what is asked alone.
/// 3. The share of absent keys reported present is [`expected_fpr`](Self::expected_fpr), within sampling
///    error and a small factor that the variant's documentation justifies.
/// 4. A range that holds a key that was added is never reported empty.
pub trait Filter: Send + Sync {
    /// Whether a key with this hash may be in the table; `false` is certain. A filter that keeps no hashes
    /// says "maybe" of all.
    fn may_contain(&self, hash: KeyHash) -> bool;

    /// Whether the key may be in the table; `false` is certain. What a lookup asks: filters of hashes look at
    /// the hash alone.
    #[inline]
    fn may_contain_key(&self, key: HashedKey<'_>) -> bool {
        self.may_contain(key.hash)
    }

    /// Answers many lookups; `answers[i]` is what [`may_contain_key`](Self::may_contain_key) says of
    /// `keys[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn may_contain_keys(&self, keys: &[HashedKey<'_>], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "one answer per probe");
        let mut hashes = [KeyHash(0); GROUP];
        for (keys, answers) in keys.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            hashes.iter_mut().zip(keys).for_each(|(hash, key)| *hash = key.hash);
            self.may_contain_batch(&hashes[..keys.len()], answers);
        }
    }

    /// Whether [`may_contain_range`](Self::may_contain_range) can ever say "empty": otherwise there is no
    /// need to ask.
    fn answers_ranges(&self) -> bool {
        false
    }

    /// Whether a key between the two bounds may be in the table; `false` is certain.
    fn may_contain_range(&self, _low: Bound<&[u8]>, _high: Bound<&[u8]>) -> bool {
        true
    }

    /// Asks for the memory that a probe of this hash reads first, without waiting for it. It changes nothing
    /// but time; where no probe can miss the caches there is nothing to ask for.
    fn prefetch(&self, _hash: KeyHash) {}

    /// Answers many probes; `answers[i]` is what [`may_contain`](Self::may_contain) says of `hashes[i]`.
    /// Probes are asked for in groups before they are made, so that their cache misses overlap.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        in_groups(hashes, answers, |hash| self.prefetch(hash), |hash| self.may_contain(hash));
    }

    /// The false-positive rate that theory gives for this filter as it was built.
    fn expected_fpr(&self) -> f64;

    /// The bytes of memory it holds; an oracle reports 0, since it stands for a filter that costs nothing.
    fn memory_bytes(&self) -> usize;
}
