//! A FIFO cache that is correct, or has exactly one seeded fault.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use types::Bytes;

use crate::{BlockId, Cache};

/// The initial capacity of the canary cache.
pub(crate) const CAPACITY_BYTES: u64 = 200 << 10;

/// The seeded fault of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    ReturnsBlocksOfOtherTables,
    ShowsNoBlockToReaders,
    KeepsTheOldBlockOnDecline,
    ForgetsABlockOfARemovedTable,
    RemovesTheTableInOtherTrees,
    ExceedsTheCapacity,
    CountsReplacedBlocks,
    ShrinksLater,
    NeverGrows,
    EvictsByARandomSeed,
}

pub(crate) struct Canary {
    fault: Option<Fault>,
    state: Mutex<State>,
}

struct State {
    /// The blocks by name. The hash seed of this map is random, so its iteration order differs from run to run.
    blocks: HashMap<BlockId, Bytes>,
    turn: VecDeque<BlockId>,
    weight: u64,
    capacity: u64,
    smallest_capacity: u64,
}

impl Canary {
    pub(crate) fn new(fault: Option<Fault>) -> Self {
        let (blocks, turn) = (HashMap::new(), VecDeque::new());
        let (capacity, smallest_capacity) = (CAPACITY_BYTES, CAPACITY_BYTES);
        let state = State { blocks, turn, weight: 0, capacity, smallest_capacity };
        Self { fault, state: Mutex::new(state) }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with the lock")
    }

    fn evict(&self, state: &mut State) {
        let slack = if self.has(Fault::ExceedsTheCapacity) { 1000 } else { 0 };
        let capacity = if self.has(Fault::NeverGrows) { state.smallest_capacity } else { state.capacity };
        while state.weight > capacity + slack {
            let victim = if self.has(Fault::EvictsByARandomSeed) {
                *state.blocks.keys().next().expect("a weight without blocks")
            } else {
                *state.turn.front().expect("a weight without blocks")
            };
            state.remove(victim);
        }
    }
}

impl State {
    fn remove(&mut self, id: BlockId) {
        if let Some(block) = self.blocks.remove(&id) {
            self.weight -= block.len() as u64;
        }
        self.turn.retain(|held| *held != id);
    }
}

impl Cache for Canary {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        let state = self.state();
        let other = BlockId { table: id.table ^ 1, ..*id };
        let other = self.has(Fault::ReturnsBlocksOfOtherTables).then(|| state.blocks.get(&other)).flatten();
        state.blocks.get(id).or(other).cloned()
    }

    fn read(&self, id: &BlockId, look: &mut dyn FnMut(&[u8])) -> bool {
        let block = self.get(id).filter(|_| !self.has(Fault::ShowsNoBlockToReaders));
        block.inspect(|block| look(block)).is_some()
    }

    fn insert(&self, id: BlockId, block: Bytes) {
        let mut state = self.state();
        let is_declined = block.is_empty() || block.len() as u64 > state.capacity;
        if is_declined && self.has(Fault::KeepsTheOldBlockOnDecline) {
            return;
        }
        if self.has(Fault::CountsReplacedBlocks) {
            state.weight += state.blocks.get(&id).map_or(0, |block| block.len() as u64);
        }
        state.remove(id);
        if !is_declined {
            state.weight += block.len() as u64;
            state.blocks.insert(id, block);
            state.turn.push_back(id);
            self.evict(&mut state);
        }
    }

    fn remove_table(&self, tree: u64, table: u64) {
        let mut state = self.state();
        let is_meant = |id: &BlockId| {
            id.table == table && (id.tree == tree || self.has(Fault::RemovesTheTableInOtherTrees))
        };
        let mut removed: Vec<BlockId> = state.turn.iter().copied().filter(is_meant).collect();
        if self.has(Fault::ForgetsABlockOfARemovedTable) {
            removed.pop();
        }
        for id in removed {
            state.remove(id);
        }
    }

    fn set_capacity(&self, bytes: u64) {
        let mut state = self.state();
        state.capacity = bytes;
        state.smallest_capacity = state.smallest_capacity.min(bytes);
        if !self.has(Fault::ShrinksLater) {
            self.evict(&mut state);
        }
    }

    fn capacity(&self) -> u64 {
        self.state().capacity
    }

    fn weight_bytes(&self) -> u64 {
        self.state().weight
    }
}
