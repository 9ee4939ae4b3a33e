//! Batches of filter probes. The memory of a group of probes is prefetched together.
#![allow(clippy::inline_always)] // Each caller is compiled for one CPU feature set.

use types::{HashedKey, KeyHash};

/// The number of probes that are prefetched together. The number is large enough to occupy all line-fill buffers of a
/// CPU core.
pub(crate) const GROUP: usize = 32;

/// Probes keys one by one, for filters whose probes use the keys themselves.
///
/// # Panics
/// The slices differ in length.
#[inline]
pub(crate) fn one_by_one(
    keys: &[HashedKey<'_>],
    answers: &mut [bool],
    probe: impl Fn(HashedKey<'_>) -> bool,
) {
    assert_eq!(keys.len(), answers.len(), "one answer per probe");
    answers.iter_mut().zip(keys).for_each(|(answer, key)| *answer = probe(*key));
}

/// Probes `hashes` in groups. The function prefetches the memory of a whole group, and then probes the keys of the
/// group.
///
/// # Panics
/// The slices differ in length.
#[inline(always)]
pub(crate) fn in_groups(
    hashes: &[KeyHash],
    answers: &mut [bool],
    prefetch: impl Fn(KeyHash),
    probe: impl Fn(KeyHash) -> bool,
) {
    assert_eq!(hashes.len(), answers.len(), "one answer per probe");
    for (hashes, answers) in hashes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
        for hash in hashes {
            prefetch(*hash);
        }
        for (hash, answer) in hashes.iter().zip(answers) {
            *answer = probe(*hash);
        }
    }
}
