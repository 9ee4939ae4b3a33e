//! Seeded sequences of cache calls for a few trees and SSTables, and the content of each block.

use types::{Bytes, SplitMix64};

use crate::BlockId;

/// The number of trees whose blocks occur in the calls.
const TREES: u64 = 2;
/// The number of SSTables per tree whose blocks occur in the calls.
const TABLES: u64 = 4;
/// The number of blocks per SSTable that occur in the calls.
const BLOCKS: u64 = 40;

/// One call to a cache under test.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Get(BlockId),
    Insert(BlockId, Bytes),
    RemoveTable(u64, u64),
    SetCapacity(u64),
}

/// Iterates over all blocks that can occur in the calls.
pub(crate) fn all_blocks() -> impl Iterator<Item = BlockId> {
    (0..TREES).flat_map(|tree| {
        (0..TABLES).flat_map(move |table| {
            (0..BLOCKS).map(move |block| BlockId { tree, table, offset: block * 4096 })
        })
    })
}

/// Returns the name of a random block. Blocks with low numbers are more frequent.
pub(crate) fn any_block(random: &mut SplitMix64) -> BlockId {
    let offset = random.below(BLOCKS).min(random.below(BLOCKS)) * 4096;
    BlockId { tree: random.below(TREES), table: random.below(TABLES), offset }
}

/// Returns the content of a block: the name of the block, followed by a unique version number.
pub(crate) fn block(id: BlockId, version: u64, len: usize) -> Bytes {
    let name = [id.tree, id.table, id.offset, version].map(u64::to_le_bytes).concat();
    let bytes: Vec<u8> = name.into_iter().cycle().take(len).collect();
    Bytes::copy_from(&bytes)
}

/// Returns a random block length. The lengths begin at 0, and the largest length exceeds most capacities.
fn any_length(random: &mut SplitMix64) -> usize {
    match random.below(100) {
        0 => 0,
        1 => 200 << 10,
        2..10 => 1,
        _ => 1 + random.below(8191) as usize,
    }
}

/// Returns a sequence of `count` calls, which are mostly gets and inserts. Every thousand calls, an SSTable is
/// removed and the capacity changes.
pub(crate) fn sequence(seed: u64, count: u64, base_capacity: u64) -> Vec<Call> {
    let random = &mut SplitMix64::new(seed);
    (1..=count)
        .map(|number| match number % 1000 {
            300 => Call::RemoveTable(random.below(TREES), random.below(TABLES)),
            600 => Call::SetCapacity(base_capacity / (1 + random.below(19))),
            900 => Call::SetCapacity(base_capacity.saturating_mul(1 + random.below(2))),
            _ if random.chance(0.5) => Call::Get(any_block(random)),
            _ => {
                let id = any_block(random);
                Call::Insert(id, block(id, number, any_length(random)))
            }
        })
        .collect()
}
