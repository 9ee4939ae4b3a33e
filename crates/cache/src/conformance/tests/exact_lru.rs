//! An LRU list that shares no code with the crate. The list is the reference for caches that promise exact LRU.

use super::super::calls::{self, Call};
use super::super::invariants::CALLS;
use crate::{BlockId, Cache};

/// Checks after every call that a cache of `capacity` bytes contains the same blocks as an independent LRU list.
pub(crate) fn check(cache: &dyn Cache, capacity: u64) -> Result<(), String> {
    let mut model = LruModel { blocks: Vec::new(), capacity };
    for (number, call) in calls::sequence(7, CALLS, capacity).into_iter().enumerate() {
        match call {
            Call::Get(id) => {
                if cache.get(&id).is_some() != model.get(id) {
                    return Err(format!("get number {number} is a hit in one and a miss in the other"));
                }
            }
            Call::Insert(id, block) => {
                model.insert(id, block.len() as u64);
                cache.insert(id, block);
            }
            Call::RemoveTable(tree, table) => {
                model.blocks.retain(|(id, _)| (id.tree, id.table) != (tree, table));
                cache.remove_table(tree, table);
            }
            Call::SetCapacity(bytes) => {
                model.capacity = bytes;
                model.evict();
                cache.set_capacity(bytes);
            }
        }
        if cache.weight_bytes() != model.weight() {
            return Err(format!(
                "{} bytes are held, exact LRU holds {}",
                cache.weight_bytes(),
                model.weight()
            ));
        }
    }
    Ok(())
}

/// An LRU cache as a plain list. The most recently used block is last.
struct LruModel {
    blocks: Vec<(BlockId, u64)>,
    capacity: u64,
}

impl LruModel {
    fn weight(&self) -> u64 {
        self.blocks.iter().map(|(_, weight)| weight).sum()
    }

    fn get(&mut self, id: BlockId) -> bool {
        let Some(at) = self.blocks.iter().position(|(held, _)| *held == id) else { return false };
        let used = self.blocks.remove(at);
        self.blocks.push(used);
        true
    }

    fn insert(&mut self, id: BlockId, weight: u64) {
        self.blocks.retain(|(held, _)| *held != id);
        if weight > 0 && weight <= self.capacity {
            self.blocks.push((id, weight));
        }
        self.evict();
    }

    fn evict(&mut self) {
        while self.weight() > self.capacity {
            self.blocks.remove(0);
        }
    }
}
