//! Batches of filter probes. A batch prefetches the memory for a group of probes before the first probe of the group.
#![allow(clippy::inline_always)] // Each caller is compiled for one CPU feature set.

use types::{HashedKey, KeyHash};

/// The number of filter probes whose memory is prefetched together. A group is large enough to occupy all line-fill
/// buffers of a CPU core.
pub(crate) const GROUP: usize = 32;

/// Probes a filter with keys one by one, and writes the answer for `keys[i]` to `answers[i]`. Filters that use the keys
/// themselves instead of their hashes call this function.
///
/// # Panics
/// Panics if the slices differ in length.
#[inline]
pub(crate) fn one_by_one(
    keys: &[HashedKey<'_>],
    answers: &mut [bool],
    probe: impl Fn(HashedKey<'_>) -> bool,
) {
    assert_eq!(keys.len(), answers.len(), "the lists of filter probes and answers must have equal lengths");
    answers.iter_mut().zip(keys).for_each(|(answer, key)| *answer = probe(*key));
}

/// Probes a filter with hashes in groups. The function prefetches the memory of a whole group, and then probes the keys
/// of the group.
///
/// # Panics
/// Panics if the slices differ in length.
#[inline(always)]
pub(crate) fn in_groups(
    hashes: &[KeyHash],
    answers: &mut [bool],
    prefetch: impl Fn(KeyHash),
    probe: impl Fn(KeyHash) -> bool,
) {
    assert_eq!(hashes.len(), answers.len(), "the lists of filter probes and answers must have equal lengths");
    for (hashes, answers) in hashes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
        for hash in hashes {
            prefetch(*hash);
        }
        for (hash, answer) in hashes.iter().zip(answers) {
            *answer = probe(*hash);
        }
    }
}
