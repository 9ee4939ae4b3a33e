//! CLOCK, also called second chance. The blocks are in a circle in the order of insertion. A hand moves along the
//! circle and searches for a block to evict. The hand passes a block once for each counted use of the block before it
//! evicts the block.
//!
//! A hit increments the use counter of the block, at most to `uses`, and moves no block. The hand points to the oldest
//! block. If the counter of this block is above 0, the hand decrements the counter and advances. Passing a block has
//! the same effect as moving the block to the newest end of a queue. If the counter is 0, the block is evicted. Memory
//! per block: 16 bytes of links and 1 byte of counter. A hit reads one cache line in addition to the cache lines that
//! the sharded cache reads. Sources: Corbató, "A Paging Experiment with the Multics System" (MIT, 1968); with more than
//! one use, GCLOCK of Smith (ACM TODS 3(3), 1978).

use catalog::Variant;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::policy::{Incoming, Policy, Slot};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<Clock>>(
    "clock",
    "second chance; a hand moves through the blocks in arrival order and spares recently used blocks",
    sharded_reference!(
        "# Maximum number of uses that the cache counts per block, 1 to 255. Each counted use spares the\n\
         # block from one eviction.\n\
         uses = 1\n"
    ),
);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    uses: u8,
}

impl Default for Params {
    fn default() -> Self {
        Self { uses: 1 }
    }
}

/// The blocks in a circle, in the order of insertion. The first block is at the hand, so it is examined next for
/// eviction.
pub(crate) struct Clock {
    links: Links,
    circle: Queue,
    uses: PerSlot<u8>,
    max_uses: u8,
}

impl Policy for Clock {
    type Params = Params;

    fn new(params: &Params, _: usize) -> Result<Self, String> {
        if params.uses == 0 {
            return Err("uses is 0; set 1 to 255, or use kind = \"fifo\", which counts no uses".to_owned());
        }
        let (links, circle, uses) = Default::default();
        Ok(Self { links, circle, uses, max_uses: params.uses })
    }

    fn hit(&mut self, slot: Slot, _: u64) {
        let uses = self.uses.at(slot);
        *uses = self.max_uses.min(uses.saturating_add(1));
    }

    fn victim(&mut self, _: &[u64]) -> Slot {
        loop {
            let (slot, weight) = self
                .links
                .pop(&mut self.circle)
                .expect("a cache that requests a victim from CLOCK must contain a block");
            let uses = self.uses.at(slot);
            if *uses == 0 {
                return slot;
            }
            *uses -= 1;
            self.links.push(&mut self.circle, slot, weight);
        }
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        self.uses.set(slot, 0);
        self.links.push(&mut self.circle, slot, incoming.weight);
    }

    fn remove(&mut self, slot: Slot) {
        self.links.remove(&mut self.circle, slot);
    }
}
