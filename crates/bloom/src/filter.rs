//! The interface of the filter axis: construction from keys or hashes, and queries.

use std::ops::Bound;

use types::{Bytes, HashedKey, KeyHash, KeyList};

use crate::batch::{GROUP, in_groups};
use crate::corrupt::CorruptFilter;
use crate::filter_builder::FilterBuilder;

/// A kind of filter. A filter policy builds filters for new SSTables and opens stored filters.
pub trait FilterPolicy: Send + Sync {
    /// Builds the filter of one SSTable and returns the bytes to store. [`open`](Self::open) needs no other input.
    /// Equal inputs give equal bytes on every machine.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8>;

    /// Opens stored bytes. Checks every length in them before use.
    ///
    /// # Errors
    /// The bytes were not written by this policy or are corrupt.
    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter>;

    /// Returns an empty filter to which the keys of `input` are added later. `None` if the filter needs all keys at
    /// once.
    fn grow(&self, _input: &FilterInput<'_>) -> Option<Box<dyn FilterBuilder>> {
        None
    }

    /// The bits per key that the variant's own parameter spends on a large SSTable. An allocation over levels may
    /// redistribute them. `None` if the variant ignores allocations.
    fn bits_per_key(&self) -> Option<f64> {
        None
    }

    /// Whether filters are built from the keys themselves. Most filters need only hashes. Keys are kept until the
    /// SSTable is complete only if this is true.
    fn needs_keys(&self) -> bool {
        false
    }

    /// Whether [`expected_fpr`](Filter::expected_fpr) is the rate of absent keys that are distributed as the keys of
    /// the SSTable. The rate of other absent keys may be higher.
    fn assumes_similar_keys(&self) -> bool {
        false
    }

    /// Whether filters learn from [reported false positives](Filter::report_false_positive). The rate of repeated
    /// lookups is then below [`expected_fpr`](Filter::expected_fpr).
    fn adapts(&self) -> bool {
        false
    }
}

/// The input for building a filter: the keys of one SSTable.
#[derive(Clone, Copy, Debug)]
pub struct FilterInput<'a> {
    /// The hash of every key, in key order. Two may be equal because of a collision.
    pub hashes: &'a [KeyHash],
    /// The bits per key of this SSTable if an allocation over levels sets them. `None` means the variant's own
    /// parameter. A variant of fixed width ignores this value.
    pub bits_per_key: Option<f64>,
    /// The keys themselves, in order, as many as hashes. Present if the policy [needs](FilterPolicy::needs_keys)
    /// them.
    pub keys: Option<&'a KeyList>,
}

impl<'a> FilterInput<'a> {
    /// The keys, for a policy that needs them.
    ///
    /// # Panics
    /// The caller did not provide the keys.
    pub(crate) fn needed_keys(&self) -> &'a KeyList {
        self.keys.expect("the caller provides keys to a policy that needs them")
    }
}

/// The filter of one SSTable.
///
/// Invariants:
/// 1. A key that was added is never reported absent, neither in a lookup by hash nor in one by key.
/// 2. Answers depend only on the stored bytes, the arguments, and the false positives that were reported before.
/// 3. The fraction of absent keys reported present is [`expected_fpr`](Self::expected_fpr), up to sampling error and a
///    small factor that the documentation of the variant justifies.
/// 4. A range with a key that was added is never reported empty.
pub trait Filter: Send + Sync {
    /// Whether a key with this hash may be in the SSTable. The answer `false` is certain. A filter without hashes
    /// always answers true.
    fn may_contain(&self, hash: KeyHash) -> bool;

    /// Whether the key may be in the SSTable; `false` is certain. Lookups call this. Filters of hashes use only the
    /// hash.
    #[inline]
    fn may_contain_key(&self, key: HashedKey<'_>) -> bool {
        self.may_contain(key.hash)
    }

    /// Reports a false positive: [`may_contain_key`](Self::may_contain_key) returned true, and the SSTable lacks the
    /// key. An adaptive filter may answer false for this key from now on. Other filters do nothing.
    fn report_false_positive(&self, _key: HashedKey<'_>) {}

    /// Answers many lookups. `answers[i]` is the answer of [`may_contain_key`](Self::may_contain_key) for `keys[i]`.
    ///
    /// # Panics
    /// The slices differ in length.
    fn may_contain_keys(&self, keys: &[HashedKey<'_>], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "one answer per probe");
        let mut hashes = [KeyHash(0); GROUP];
        for (keys, answers) in keys.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            hashes.iter_mut().zip(keys).for_each(|(hash, key)| *hash = key.hash);
            self.may_contain_batch(&hashes[..keys.len()], answers);
        }
    }

    /// Whether [`may_contain_range`](Self::may_contain_range) can return `false`. Otherwise callers need not call
    /// it.
    fn answers_ranges(&self) -> bool {
        false
    }

    /// Whether a key between the two bounds may be in the table; `false` is certain.
    fn may_contain_range(&self, _low: Bound<&[u8]>, _high: Bound<&[u8]>) -> bool {
        true
    }

    /// Prefetches the memory that a probe of this hash reads first. Changes nothing but time. Does nothing for
    /// filters whose probes cannot miss the caches.
    fn prefetch(&self, _hash: KeyHash) {}

    /// Answers many probes. `answers[i]` is the answer of [`may_contain`](Self::may_contain) for `hashes[i]`. A group
    /// of probes is prefetched before it is probed, so that cache misses overlap.
    ///
    /// # Panics
    /// The slices differ in length.
    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        in_groups(hashes, answers, |hash| self.prefetch(hash), |hash| self.may_contain(hash));
    }

    /// The theoretical false-positive rate of this filter as it was built.
    fn expected_fpr(&self) -> f64;

    /// Memory in bytes. 0 for an ideal bound, because it represents a filter without cost.
    fn memory_bytes(&self) -> usize;
}
