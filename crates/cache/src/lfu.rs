//! LFU (least frequently used): evicts the block with the fewest uses since its insertion. If several blocks have the
//! fewest uses, LFU evicts the block whose last use is the oldest.
//!
//! The policy counts all uses of a block while the block is cached. Such counts work well if the same blocks stay
//! popular, and badly if other blocks become popular. Blocks with equal counts share a queue, and a tree orders the
//! queues by count. Memory per block: 16 bytes of links and 8 bytes of count. A hit moves the block to the next
//! queue. For this move, the hit writes four list nodes and searches the tree twice. Source: the frequency lists of
//! Shah, Mitra and Matani, "An O(1) algorithm for implementing the LFU cache eviction scheme" (2010), with a tree
//! instead of their list of frequencies.

use std::collections::BTreeMap;

use catalog::Variant;

use crate::cache::Cache;
use crate::policy::{Incoming, Policy, Slot};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<Lfu>>(
    "lfu",
    "evicts the block with the fewest uses since its insertion; old uses count as much as new uses",
    sharded_reference!(""),
);

/// The eviction policy LFU of a shard: one queue of blocks for each number of uses. In each queue, the block with the
/// oldest last use is first.
#[derive(Default)]
pub(crate) struct Lfu {
    links: Links,
    queues: BTreeMap<u64, Queue>,
    uses: PerSlot<u64>,
}

impl Lfu {
    fn push(&mut self, slot: Slot, uses: u64, weight: u64) {
        self.uses.set(slot, uses);
        self.links.push(self.queues.entry(uses).or_default(), slot, weight);
    }

    /// Removes a block from the queue for its number of uses, and returns the weight of the block in bytes.
    fn take(&mut self, slot: Slot) -> u64 {
        let uses = *self.uses.get(slot);
        let queue = self
            .queues
            .get_mut(&uses)
            .expect("each cached block must be in the queue for its number of uses");
        let weight = self.links.remove(queue, slot);
        if queue.is_empty() {
            self.queues.remove(&uses);
        }
        weight
    }
}

impl Policy for Lfu {
    type Params = ();

    fn new((): &(), _: usize) -> Result<Self, String> {
        Ok(Self::default())
    }

    fn hit(&mut self, slot: Slot, _: u64) {
        let uses = *self.uses.get(slot) + 1;
        let weight = self.take(slot);
        self.push(slot, uses, weight);
    }

    fn victim(&mut self, _: &[u64]) -> Slot {
        let fewest = self.queues.first_key_value().and_then(|(_, queue)| queue.oldest());
        let slot = fewest.expect("a cache that requests a victim from LFU must contain a block");
        self.take(slot);
        slot
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        self.push(slot, 1, incoming.weight);
    }

    fn remove(&mut self, slot: Slot) {
        self.take(slot);
    }
}
