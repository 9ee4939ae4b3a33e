//! Combines merge operands in flushes and compactions. The combined version of a key replaces all versions of the key
//! in the inputs.

use types::{HashedKey, MergeOperator, SequenceNumber};

use super::input_deletes::InputDeletes;
use crate::memory::Slot;
use crate::merge_operands::OperandStack;

/// Combines all versions of a key in a memtable. The newest version must be a merge operand. Returns the combined
/// version in the form in which an SSTable stores it. Returns `None` if a version is corrupt.
pub(super) fn combine_in_memtable(
    operator: MergeOperator,
    slot: &Slot,
    key: HashedKey<'_>,
) -> Option<Vec<u8>> {
    let mut stack = OperandStack::default();
    if slot.collect(key, SequenceNumber::MAX, &mut stack) { stack.stored(operator) } else { None }
}

/// Combines the merge operand `newest` of a key with the older versions of the key in the inputs of a compaction.
/// `older` contains these versions from the newest to the oldest, each with the rank of its input run (0 is the newest
/// run). If `is_bottom` is set, no older version exists outside the inputs. Returns the combined version as an SSTable
/// stores it, or `None` if a version is corrupt.
pub(super) fn combine_inputs<'v>(
    operator: MergeOperator,
    (key, newest, rank): (&[u8], Option<&[u8]>, usize),
    older: impl Iterator<Item = (Option<&'v [u8]>, usize)>,
    deletes: &InputDeletes,
    is_bottom: bool,
) -> Option<Vec<u8>> {
    let (mut stack, mut above) = (OperandStack::default(), rank);
    let mut is_sound = stack.add(newest);
    for (value, rank) in older {
        if deletes.delete_below(key, above..rank) {
            stack.end();
        }
        if stack.is_complete() {
            break;
        }
        is_sound &= stack.add(value);
        above = rank;
    }
    if is_bottom || deletes.delete_below(key, above..usize::MAX) {
        stack.end();
    }
    if is_sound { stack.stored(operator) } else { None }
}
