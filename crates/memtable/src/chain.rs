//! Functions for the chain of all versions of one key. Each version has a link to the next older version. This link is
//! the link on the lowest level of the version's tower.

use std::iter;

use types::SequenceNumber;

use crate::shared_arena::{LinkWord, Ref, SharedArena, Version};

/// Returns the next older version of the same key, or `None` if `version` is the oldest version.
#[inline]
pub(crate) fn older(arena: &SharedArena, version: Ref<Version>) -> Option<Ref<Version>> {
    arena.link(version, 0).load().target()
}

/// Returns the oldest of a key's versions whose sequence number is above `sequence`, or `None` if there is none. The
/// search begins at `newest`, the newest version of the key.
pub(crate) fn last_above(
    arena: &SharedArena,
    newest: Ref<Version>,
    sequence: SequenceNumber,
) -> Option<Ref<Version>> {
    let is_above = |version: &Ref<Version>| arena.record(*version).sequence > sequence;
    iter::successors(Some(newest), |version| older(arena, *version)).take_while(is_above).last()
}

/// Returns the newest of a key's versions whose sequence number is at most `snapshot`, or `None` if there is none. The
/// search begins at `newest`, the newest version of the key.
#[inline]
pub(crate) fn first_within(
    arena: &SharedArena,
    newest: Ref<Version>,
    snapshot: SequenceNumber,
) -> Option<Ref<Version>> {
    iter::successors(Some(newest), |version| older(arena, *version))
        .find(|version| arena.record(*version).sequence <= snapshot)
}

/// Inserts `version` into the chain of versions of its key, after all versions with a higher sequence number. `first`
/// must be such a version. Several threads may call this function concurrently.
pub(crate) fn add(arena: &SharedArena, first: Ref<Version>, version: Ref<Version>) {
    let sequence = arena.record(version).sequence;
    loop {
        let before = last_above(arena, first, sequence)
            .expect("the first version of a key must have a higher sequence number than an inserted version");
        let behind = arena.link(before, 0).load();
        let is_passed = behind.target().is_some_and(|behind| arena.record(behind).sequence > sequence);
        arena.link(version, 0).store(behind);
        if !is_passed && arena.link(before, 0).swing(behind, LinkWord::new(version, 0)) {
            return;
        }
    }
}
