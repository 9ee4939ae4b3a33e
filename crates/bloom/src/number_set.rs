//! Filters that represent keys as numbers, and answer lookups and ranges by these numbers (see [`Universe`]).

use std::ops::Bound;

use types::{HashedKey, KeyHash};

use crate::batch::one_by_one;
use crate::filter::Filter;
use crate::universe::Universe;

/// A set of the numbers to which a [`Universe`] maps keys. The set may report an absent number as present.
pub(crate) trait NumberSet: Send + Sync {
    /// Returns the mapping from keys to the numbers of this set.
    fn universe(&self) -> &Universe;

    /// Whether a stored key may have the number `number`.
    fn has(&self, number: u64) -> bool {
        self.has_between(number, number)
    }

    /// Whether a stored key may have a number from `first` to `last`, inclusive.
    fn has_between(&self, first: u64, last: u64) -> bool;

    /// Returns the theoretical false-positive rate of point lookups with this set.
    fn expected_fpr(&self) -> f64;

    /// Returns the memory of the set in bytes, without the mapping from keys to numbers.
    fn memory_bytes(&self) -> usize;
}

/// A filter that answers lookups and ranges with a set of key numbers.
pub(crate) struct ByNumber<S>(pub(crate) S);

impl<S: NumberSet> Filter for ByNumber<S> {
    /// Always returns true, because the set needs the number of a key, and a hash does not determine this number.
    fn may_contain(&self, _: KeyHash) -> bool {
        true
    }

    fn may_contain_key(&self, key: HashedKey<'_>) -> bool {
        self.0.universe().find(key.bytes).is_some_and(|number| self.0.has(number))
    }

    fn may_contain_keys(&self, keys: &[HashedKey<'_>], answers: &mut [bool]) {
        one_by_one(keys, answers, |key| self.may_contain_key(key));
    }

    fn answers_ranges(&self) -> bool {
        true
    }

    fn may_contain_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> bool {
        let numbers = self.0.universe().between(low, high);
        numbers.is_some_and(|(first, last)| self.0.has_between(first, last))
    }

    fn expected_fpr(&self) -> f64 {
        self.0.expected_fpr()
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes() + self.0.universe().memory_bytes()
    }
}
