//! FIFO (first in, first out): evicts the block that was inserted first, even if this block is used often.
//!
//! A policy that considers hits should have more hits than FIFO. FIFO has the fastest hits, because a hit changes no
//! data. Memory per block: 16 bytes of links, which a hit does not read. Source: Belady, "A study of replacement
//! algorithms for a virtual-storage computer" (IBM Systems Journal 5(2), 1966).

use catalog::Variant;

use crate::cache::Cache;
use crate::policy::{Incoming, Policy, Slot};
use crate::queue::{Links, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<Fifo>>(
    "fifo",
    "evicts the oldest block, used or not; a baseline for policies that react to hits",
    sharded_reference!(""),
);

/// The eviction policy FIFO of a shard: its blocks in the order of insertion.
#[derive(Default)]
pub(crate) struct Fifo {
    links: Links,
    arrivals: Queue,
}

impl Policy for Fifo {
    type Params = ();

    fn new((): &(), _: usize) -> Result<Self, String> {
        Ok(Self::default())
    }

    fn hit(&mut self, _: Slot, _: u64) {}

    fn victim(&mut self, _: &[u64]) -> Slot {
        self.links
            .pop(&mut self.arrivals)
            .expect("a cache that requests a victim from FIFO must contain a block")
            .0
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        self.links.push(&mut self.arrivals, slot, incoming.weight);
    }

    fn remove(&mut self, slot: Slot) {
        self.links.remove(&mut self.arrivals, slot);
    }
}
