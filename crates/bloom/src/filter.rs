//! The traits that each filter implements: construction from keys or hashes, and queries.

use std::ops::Bound;

use types::{Bytes, HashedKey, KeyHash, KeyList};

use crate::batch::{GROUP, in_groups};
use crate::corrupt::CorruptFilter;
use crate::filter_builder::FilterBuilder;

/// A kind of filter. A filter policy builds filters for new SSTables and opens stored filters.
pub trait FilterPolicy: Send + Sync {
    /// Builds the filter of one SSTable and returns the bytes to store. [`open`](Self::open) opens the filter from
    /// these bytes only. Equal inputs give equal bytes on every machine.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8>;

    /// Opens a filter from stored bytes.
    ///
    /// # Errors
    /// Returns an error if the bytes are corrupt, or were not written by this policy.
    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter>;

    /// Returns a builder of an empty filter, to which the caller adds the keys of `input` later. Returns `None` if the
    /// filter needs all keys at once.
    fn grow(&self, _input: &FilterInput<'_>) -> Option<Box<dyn FilterBuilder>> {
        None
    }

    /// Returns the bits per key that the parameters of this variant set for the filter of a large SSTable. An
    /// allocation distributes this number over the levels of the tree, as an average budget. Returns `None` if the
    /// variant ignores allocations.
    fn bits_per_key(&self) -> Option<f64> {
        None
    }

    /// Whether filters are built from the keys themselves. Most filters return false, because they need only the
    /// hashes of keys. If the result is true, the writer keeps all keys until the SSTable is complete.
    fn needs_keys(&self) -> bool {
        false
    }

    /// Whether [`expected_fpr`](Filter::expected_fpr) assumes that absent keys are distributed like the keys of the
    /// SSTable. For other absent keys, the false-positive rate may be higher.
    fn assumes_similar_keys(&self) -> bool {
        false
    }

    /// Whether filters learn from [reported false positives](Filter::report_false_positive). If so, repeated lookups of
    /// the same absent keys have a lower false-positive rate than [`expected_fpr`](Filter::expected_fpr).
    fn adapts(&self) -> bool {
        false
    }
}

/// The input for building a filter: the keys of one SSTable.
#[derive(Clone, Copy, Debug)]
pub struct FilterInput<'a> {
    /// The hash of every key, in key order. Different keys may have equal hashes.
    pub hashes: &'a [KeyHash],
    /// The bits per key that an allocation sets for this SSTable. A tree always has an allocation, so `None` occurs
    /// only outside of trees. If the value is `None`, the variant uses its own parameter. A variant of fixed size
    /// ignores this value.
    pub bits_per_key: Option<f64>,
    /// The keys themselves, in the order of `hashes`. `None` if the [policy needs only
    /// hashes](FilterPolicy::needs_keys).
    pub keys: Option<&'a KeyList>,
}

impl<'a> FilterInput<'a> {
    /// Returns the keys of the SSTable, for a filter policy that needs more than their hashes.
    ///
    /// # Panics
    /// Panics if the caller did not provide the keys.
    pub(crate) fn needed_keys(&self) -> &'a KeyList {
        self.keys.expect("a filter policy must get the keys of the SSTable if its needs_keys returns true")
    }
}

/// The filter of one SSTable.
///
/// Invariants:
/// 1. A lookup by hash or by key never reports an added key absent.
/// 2. Answers depend only on the stored bytes, the arguments, and the false positives that were reported before.
/// 3. The fraction of absent keys that are reported present is [`expected_fpr`](Self::expected_fpr), up to the
///    sampling error and a small factor that the documentation of the variant explains.
/// 4. A range with a key that was added is never reported empty.
pub trait Filter: Send + Sync {
    /// Whether a key with this hash may be in the SSTable. If the answer is false, the key is certainly absent. A
    /// filter that stores no hashes always answers true.
    fn may_contain(&self, hash: KeyHash) -> bool;

    /// Whether the key may be in the SSTable. If the answer is false, the key is certainly absent. Point lookups call
    /// this function. A filter that was built from hashes uses only the hash of the key.
    #[inline]
    fn may_contain_key(&self, key: HashedKey<'_>) -> bool {
        self.may_contain(key.hash)
    }

    /// Reports a false positive to the filter: [`may_contain_key`](Self::may_contain_key) returned true for a key
    /// that the SSTable lacks. After this call, an adaptive filter may answer false for this key. Other filters
    /// ignore the report.
    fn report_false_positive(&self, _key: HashedKey<'_>) {}

    /// Answers many point lookups at once. `answers[i]` is the answer of [`may_contain_key`](Self::may_contain_key)
    /// for `keys[i]`.
    ///
    /// # Panics
    /// Panics if the slices differ in length.
    fn may_contain_keys(&self, keys: &[HashedKey<'_>], answers: &mut [bool]) {
        assert_eq!(
            keys.len(),
            answers.len(),
            "the lists of looked-up keys and answers must have equal lengths"
        );
        let mut hashes = [KeyHash(0); GROUP];
        for (keys, answers) in keys.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            hashes.iter_mut().zip(keys).for_each(|(hash, key)| *hash = key.hash);
            self.may_contain_batch(&hashes[..keys.len()], answers);
        }
    }

    /// Whether [`may_contain_range`](Self::may_contain_range) can return `false`. If the result is false, callers
    /// need not call `may_contain_range`.
    fn answers_ranges(&self) -> bool {
        false
    }

    /// Whether a key between the two bounds may be in the SSTable. If the answer is false, the range certainly has no
    /// key.
    fn may_contain_range(&self, _low: Bound<&[u8]>, _high: Bound<&[u8]>) -> bool {
        true
    }

    /// Prefetches the memory that a probe of this hash reads first. A prefetch does not change any answer of the
    /// filter. For a filter whose probes cannot miss the CPU caches, this function does nothing.
    fn prefetch(&self, _hash: KeyHash) {}

    /// Answers many probes by hash at once. `answers[i]` is the answer of [`may_contain`](Self::may_contain) for
    /// `hashes[i]`. A batch is faster than single probes, because it prefetches the memory of many probes and the cache
    /// misses overlap.
    ///
    /// # Panics
    /// Panics if the slices differ in length.
    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        in_groups(hashes, answers, |hash| self.prefetch(hash), |hash| self.may_contain(hash));
    }

    /// Returns the theoretical false-positive rate of this filter, which depends on its number of keys and its size.
    fn expected_fpr(&self) -> f64;

    /// Returns the memory of the filter in bytes. An ideal bound returns 0, because an ideal bound represents a
    /// filter without cost.
    fn memory_bytes(&self) -> usize;
}
