//! SIEVE: a queue in the order of insertion, in which no block moves. A hit sets the visited bit of the block. A hand
//! moves from the oldest block to the newest block. If the visited bit of the block at the hand is set, the hand clears
//! the bit and moves on. Otherwise, the hand evicts the block.
//!
//! SIEVE differs from CLOCK in one point: a block that is not evicted stays in its position. New blocks are therefore
//! evicted soon if they are not used, while popular old blocks stay. Memory per block: 16 bytes of links and 1 byte
//! with the visited bit. A hit reads one cache line in addition to the cache lines that the sharded cache reads. A scan
//! evicts more popular blocks from SIEVE than from a policy with a ghost list. Source: Zhang et al., "SIEVE is Simpler
//! than LRU" (NSDI 2024), algorithm 1.

use catalog::Variant;

use crate::cache::Cache;
use crate::policy::{Incoming, Policy, Slot};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<Sieve>>(
    "sieve",
    "a hand moves from old to new blocks and evicts unused blocks; spared blocks keep their position",
    sharded_reference!(""),
);

/// The eviction policy SIEVE of a shard: the queue of its blocks, and the hand. The hand is at the block that is
/// examined next. `None` means the oldest block.
#[derive(Default)]
pub(crate) struct Sieve {
    links: Links,
    line: Queue,
    hand: Option<Slot>,
    is_visited: PerSlot<bool>,
}

impl Policy for Sieve {
    type Params = ();

    fn new((): &(), _: usize) -> Result<Self, String> {
        Ok(Self::default())
    }

    fn hit(&mut self, slot: Slot, _: u64) {
        *self.is_visited.at(slot) = true;
    }

    fn victim(&mut self, _: &[u64]) -> Slot {
        loop {
            let slot = self
                .hand
                .or(self.line.oldest())
                .expect("a cache that requests a victim from SIEVE must contain a block");
            if !std::mem::take(self.is_visited.at(slot)) {
                self.remove(slot);
                return slot;
            }
            self.hand = self.links.newer(slot);
        }
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        self.is_visited.set(slot, false);
        self.links.push(&mut self.line, slot, incoming.weight);
    }

    /// Removes a block from the queue. If the hand is at this block, the hand advances to the next block.
    fn remove(&mut self, slot: Slot) {
        if self.hand == Some(slot) {
            self.hand = self.links.newer(slot);
        }
        self.links.remove(&mut self.line, slot);
    }
}
