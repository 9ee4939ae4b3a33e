//! The textbook fence: the separators in memory, sorted, and a binary search that compares whole keys.
//!
//! It is plain on purpose, the measure for the others: no prefix is cut, no head compared first. The keys
//! stand in one arena, not one allocation each.

use catalog::Variant;

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::separators::Separators;
use crate::stored;

pub(crate) const VARIANT: Variant<dyn FencePolicy> =
    Variant::plain("binary", "the textbook: binary search over all separators in memory", || {
        Box::new(Binary)
    });

const TAG: stored::Tag = *b"fbin";

/// Builds sorted fences.
struct Binary;

/// The policy with its defaults, for fences made of others.
pub(crate) fn policy() -> Box<dyn FencePolicy> {
    Box::new(Binary)
}

impl FencePolicy for Binary {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        stored::encode(TAG, input.separators)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        Ok(Box::new(BinaryFence { separators: stored::read_separators(TAG, table)? }))
    }
}

/// The separators of one table in memory.
struct BinaryFence {
    separators: Separators,
}

impl Fence for BinaryFence {
    fn seek(&self, key: &[u8], _: &dyn TableView) -> Result<u32, FenceError> {
        Ok(self.separators.rank(key).saturating_sub(1) as u32)
    }

    fn memory_bytes(&self) -> usize {
        self.separators.memory_bytes()
    }
}
