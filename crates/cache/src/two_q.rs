//! 2Q has three lists: a FIFO queue of new blocks, a ghost list, and an LRU queue. The ghost list has the names of
//! blocks that have left the FIFO queue. If a block in the ghost list is requested again, the block enters the LRU
//! queue.
//!
//! If a block is used twice within a short time, the second use says little about its popularity, because both uses
//! often belong to one user request. Hits in the FIFO queue therefore have no effect. A block enters the LRU queue only
//! if it is requested again after it has left the FIFO queue. The FIFO queue has a fixed share of the capacity, and the
//! LRU queue gets the rest.
//!
//! Memory per block: 16 bytes of links and 1 byte of queue. Memory per ghost: about 30 bytes. A hit in the LRU queue
//! writes four list nodes, and a hit in the FIFO queue writes none. Source: Johnson and Shasha, "2Q: A Low Overhead
//! High Performance Buffer Management Replacement Algorithm" (VLDB 1994), the full version. In the paper, the names are
//! `A1in`, `A1out` and `Am`.

use catalog::Variant;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::ghosts::Ghosts;
use crate::policy::{Incoming, Policy, Slot, check_percent, share};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<TwoQ>>(
    "2q",
    "a FIFO for new blocks, and an LRU for blocks that are requested again soon after they left the FIFO",
    sharded_reference!(
        "# Capacity of the FIFO for new blocks (A1in) in percent of the cache capacity.\n\
         newcomers = 25.0\n\
         # Limit of the list of blocks that left the FIFO (A1out), which contains only their names: the total\n\
         # size of these blocks in percent of the cache capacity.\n\
         remembered = 50.0\n"
    ),
);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    newcomers: f64,
    remembered: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { newcomers: 25.0, remembered: 50.0 }
    }
}

/// The eviction policy 2Q of a shard: the FIFO queue of new blocks, the LRU queue, and the ghost list of blocks that
/// left the FIFO queue.
pub(crate) struct TwoQ {
    links: Links,
    newcomers: Queue,
    frequent: Queue,
    ghosts: Ghosts,
    is_frequent: PerSlot<bool>,
    /// Whether the ghost list contained the block that is about to be inserted.
    comes_back: bool,
    newcomers_share: u64,
    ghosts_share: u64,
    params: Params,
}

impl Policy for TwoQ {
    type Params = Params;

    fn new(params: &Params, _: usize) -> Result<Self, String> {
        check_percent("newcomers", params.newcomers, 0.0)?;
        check_percent("remembered", params.remembered, 0.0)?;
        Ok(Self {
            links: Links::default(),
            newcomers: Queue::default(),
            frequent: Queue::default(),
            ghosts: Ghosts::default(),
            is_frequent: PerSlot::default(),
            comes_back: false,
            newcomers_share: 0,
            ghosts_share: 0,
            params: params.clone(),
        })
    }

    fn set_share(&mut self, bytes: u64) {
        self.newcomers_share = share(bytes, self.params.newcomers);
        self.ghosts_share = share(bytes, self.params.remembered);
        self.ghosts.trim(self.ghosts_share);
    }

    fn hit(&mut self, slot: Slot, _: u64) {
        if *self.is_frequent.get(slot) {
            self.links.renew(&mut self.frequent, slot);
        }
    }

    fn announce(&mut self, incoming: Incoming) {
        self.comes_back = self.ghosts.take(incoming.hash);
    }

    fn victim(&mut self, hashes: &[u64]) -> Slot {
        if self.newcomers.weight() <= self.newcomers_share
            && let Some((slot, _)) = self.links.pop(&mut self.frequent)
        {
            return slot;
        }
        let Some((slot, weight)) = self.links.pop(&mut self.newcomers) else {
            return self
                .links
                .pop(&mut self.frequent)
                .expect("a cache that requests a victim from 2Q must contain a block")
                .0;
        };
        self.ghosts.push(hashes[slot as usize], weight);
        self.ghosts.trim(self.ghosts_share);
        slot
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        self.is_frequent.set(slot, self.comes_back);
        let queue = if self.comes_back { &mut self.frequent } else { &mut self.newcomers };
        self.links.push(queue, slot, incoming.weight);
    }

    fn remove(&mut self, slot: Slot) {
        let queue = if *self.is_frequent.get(slot) { &mut self.frequent } else { &mut self.newcomers };
        self.links.remove(queue, slot);
    }
}
