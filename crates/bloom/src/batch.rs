//! Batches of probes: memory is asked for in groups before it is read.
#![allow(clippy::inline_always)] // Compiled into functions for one kind of processor each.

use types::KeyHash;

/// How many probes are under way at once; enough to keep all line-fill buffers of a core busy.
pub(crate) const GROUP: usize = 32;

/// Probes `hashes` in groups: asks for the memory of a whole group, then probes it.
///
/// # Panics
/// If there is not one answer for each hash.
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
