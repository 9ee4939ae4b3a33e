//! Batches of probes that prefetch memory in groups.
#![allow(clippy::inline_always)] // Compiled into functions for one CPU feature set each.

use types::{HashedKey, KeyHash};

/// The number of probes in flight, enough to occupy all line-fill buffers of a core.
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

/// Probes `hashes` in groups. The memory of a whole group is prefetched, and then the group is probed.
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
