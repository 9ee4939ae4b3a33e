//! The textbook fence: sorted separators in memory, and a binary search that compares whole separators.
//!
//! This fence is the baseline of all other fences. The fence does not remove the common prefix of separators, and has
//! no separate array of 8-byte prefixes. All separators are in one buffer, so no separator has its own allocation.

use catalog::Variant;

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::separators::Separators;
use crate::stored;

pub(crate) const VARIANT: Variant<dyn FencePolicy> =
    Variant::plain("binary", "the textbook binary search over full separator keys in memory", || {
        Box::new(Binary)
    });

const TAG: stored::Tag = *b"fbin";

/// A policy that builds the textbook fence: the sorted separators of an SSTable, searched by binary search.
struct Binary;

/// Returns the policy of the variant "binary" with its default parameters. Fences that contain another fence use this
/// policy.
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

/// The sorted separators of one SSTable, in memory. A separator is a key between two blocks.
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
