//! Helper functions for the tests of range filters.

use std::ops::Bound;

use crate::filter::Filter;

/// Sorts numbers in ascending order and removes duplicates.
pub(crate) fn sorted(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Returns the fraction of empty ranges that the filter reports as not empty. The ranges have `length` numbers and
/// begin at `starts`. The function `key` converts a number to a key.
///
/// # Panics
/// Panics if at most `least` ranges are empty, because these are too few for a result.
pub(crate) fn share_of_empty_ranges<K: AsRef<[u8]>>(
    (filter, key): (&dyn Filter, fn(u64) -> K),
    numbers: &[u64],
    starts: impl Iterator<Item = u64>,
    length: u64,
    least: u32,
) -> f64 {
    let (mut positives, mut empty) = (0, 0);
    for start in starts {
        let end = start.saturating_add(length);
        let at = numbers.partition_point(|number| *number < start);
        if numbers.get(at).is_none_or(|number| *number >= end) {
            let (low, high) = (key(start), key(end));
            let range = (Bound::Included(low.as_ref()), Bound::Excluded(high.as_ref()));
            empty += 1;
            positives += u32::from(filter.may_contain_range(range.0, range.1));
        }
    }
    assert!(
        empty > least,
        "only {empty} of the tested ranges have no key; the test needs more than {least} such ranges"
    );
    f64::from(positives) / f64::from(empty)
}
