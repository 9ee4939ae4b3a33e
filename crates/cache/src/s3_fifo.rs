//! S3-FIFO has a small queue for new blocks. When a block leaves the small queue, the block moves to the main queue
//! if it was used several times. If the block was not used several times, its name enters the ghost list. Blocks that
//! are requested only once therefore do not evict blocks of the main queue.
//!
//! A hit increments a counter, at most to three, and moves no block. When the small queue is too large, its oldest
//! block leaves the queue. If the block was used more than once, the block moves to the main queue. If the block was
//! used at most once, the block is evicted, and its name enters the ghost list. If a block in the ghost list is
//! requested again, the block enters the main queue at once. The main queue is a CLOCK whose counters have two bits.
//! If a promotion makes the main queue too large, the main queue evicts a block. Each eviction therefore frees
//! exactly one block.
//!
//! Memory per block: 16 bytes of links and 2 bytes of counter and queue. Memory per ghost: about 30 bytes. A hit
//! reads one cache line in addition to the cache lines that the sharded cache reads. Source: Yang et al., "FIFO
//! Queues are All You Need for Cache Eviction" (SOSP 2023), algorithm 1.

use catalog::Variant;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::ghosts::Ghosts;
use crate::policy::{Incoming, Policy, Slot, check_percent, share};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<S3Fifo>>(
    "s3-fifo",
    "two FIFO queues and a list of evicted blocks; the blocks of scans pass only through the small queue",
    sharded_reference!("# Capacity of the small queue in percent of the cache capacity.\nsmall = 10.0\n"),
);

/// The maximum value of the use counter of a cached block.
pub(crate) const MAX_USES: u8 = 3;

/// The number of uses in the small queue after which a block moves to the main queue.
const PROMOTED_USES: u8 = 2;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    small: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { small: 10.0 }
    }
}

/// The use counters of the cached blocks. The maximum of a counter is [`MAX_USES`].
pub(crate) trait Uses {
    /// Returns the use counter of the block in `slot`.
    fn of(&self, slot: Slot) -> u8;

    /// Decrements the use counter of the block in `slot`. Returns `false` if the counter was 0.
    fn spend(&mut self, slot: Slot) -> bool;

    /// Sets the use counter of the block in `slot` to 0.
    fn clear(&mut self, slot: Slot);
}

impl Uses for PerSlot<u8> {
    fn of(&self, slot: Slot) -> u8 {
        *self.get(slot)
    }

    fn spend(&mut self, slot: Slot) -> bool {
        let uses = self.at(slot);
        let was_used = *uses > 0;
        *uses -= u8::from(was_used);
        was_used
    }

    fn clear(&mut self, slot: Slot) {
        self.set(slot, 0);
    }
}

/// The small queue, the main queue and the ghost list of S3-FIFO. The ghosts (evicted blocks) weigh at most as much as
/// the main queue may. The use counters are not in this type (see [`Uses`]).
pub(crate) struct Queues {
    links: Links,
    small: Queue,
    main: Queue,
    ghosts: Ghosts,
    is_main: PerSlot<bool>,
    small_percent: f64,
    small_share: u64,
    main_share: u64,
}

impl Queues {
    /// Creates queues whose capacity is not set yet. When the cache sets the capacity, the small queue gets `small`
    /// percent of it.
    ///
    /// # Errors
    /// Returns an error if `small` is not a valid percentage.
    pub(crate) fn new(small: f64) -> Result<Self, String> {
        check_percent("small", small, 0.0)?;
        let (links, ghosts, is_main) = Default::default();
        let (small_queue, main) = Default::default();
        let (small_share, main_share) = (0, 0);
        Ok(Self {
            links,
            small: small_queue,
            main,
            ghosts,
            is_main,
            small_percent: small,
            small_share,
            main_share,
        })
    }

    /// Sets the shard's share of the capacity, which is divided between the two queues (see [`Policy::set_share`]).
    pub(crate) fn set_share(&mut self, bytes: u64) {
        self.small_share = share(bytes, self.small_percent);
        self.main_share = bytes - self.small_share;
        self.ghosts.trim(self.main_share);
    }

    /// Selects the block to evict, and removes it from its queue (see [`Policy::victim`]). Returns the slot and the
    /// weight of the block.
    pub(crate) fn victim(&mut self, hashes: &[u64], uses: &mut impl Uses) -> (Slot, u64) {
        let victim = self.victim_of_small(hashes, uses).or_else(|| self.victim_of_main(uses));
        victim.expect("a cache that requests a victim from S3-FIFO must contain a block")
    }

    /// Searches the small queue for a block to evict, and moves blocks that were used several times to the main queue.
    /// Returns `None` if the main queue must evict a block instead, because the small queue is small enough or the main
    /// queue is too large.
    fn victim_of_small(&mut self, hashes: &[u64], uses: &mut impl Uses) -> Option<(Slot, u64)> {
        while self.small.weight() >= self.small_share || self.main.is_empty() {
            let (slot, weight) = self.links.pop(&mut self.small)?;
            if uses.of(slot) < PROMOTED_USES {
                self.ghosts.push(hashes[slot as usize], weight);
                self.ghosts.trim(self.main_share);
                return Some((slot, weight));
            }
            uses.clear(slot);
            self.is_main.set(slot, true);
            self.links.push(&mut self.main, slot, weight);
            if self.main.weight() > self.main_share {
                return None;
            }
        }
        None
    }

    fn victim_of_main(&mut self, uses: &mut impl Uses) -> Option<(Slot, u64)> {
        loop {
            let (slot, weight) = self.links.pop(&mut self.main)?;
            if !uses.spend(slot) {
                return Some((slot, weight));
            }
            self.links.push(&mut self.main, slot, weight);
        }
    }

    /// Adds a block whose use counter is 0 to one of the queues (see [`Policy::admit`]).
    pub(crate) fn admit(&mut self, slot: Slot, incoming: Incoming) {
        let is_main = self.ghosts.take(incoming.hash);
        self.is_main.set(slot, is_main);
        let queue = if is_main { &mut self.main } else { &mut self.small };
        self.links.push(queue, slot, incoming.weight);
    }

    /// Removes a block from its queue (see [`Policy::remove`]), and returns the weight of the block.
    pub(crate) fn remove(&mut self, slot: Slot) -> u64 {
        let queue = if *self.is_main.get(slot) { &mut self.main } else { &mut self.small };
        self.links.remove(queue, slot)
    }
}

/// The eviction policy S3-FIFO of a shard: its queues, and the use counter of each block.
pub(crate) struct S3Fifo {
    queues: Queues,
    uses: PerSlot<u8>,
}

impl Policy for S3Fifo {
    type Params = Params;

    fn new(params: &Params, _: usize) -> Result<Self, String> {
        Ok(Self { queues: Queues::new(params.small)?, uses: PerSlot::default() })
    }

    fn set_share(&mut self, bytes: u64) {
        self.queues.set_share(bytes);
    }

    fn hit(&mut self, slot: Slot, _: u64) {
        let uses = self.uses.at(slot);
        *uses = MAX_USES.min(*uses + 1);
    }

    fn victim(&mut self, hashes: &[u64]) -> Slot {
        self.queues.victim(hashes, &mut self.uses).0
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        self.uses.set(slot, 0);
        self.queues.admit(slot, incoming);
    }

    fn remove(&mut self, slot: Slot) {
        self.queues.remove(slot);
    }
}
