//! ARC has two LRU lists: one list of blocks that were used once, and one list of blocks that were used more often.
//! The capacity is divided between the two lists adaptively. If a list would have had a hit with more capacity, the
//! list gets more capacity.
//!
//! The paper calls these lists `T1` and `T2`. The ghost lists `B1` and `B2` contain the names of the blocks that were
//! evicted from `T1` and `T2`. A request for a block in a ghost list changes the target size of `T1`. The policy has no
//! parameters. The paper counts blocks, while this implementation counts bytes. Where the paper adds or subtracts one
//! block, this implementation adds or subtracts the weight of the incoming block.
//!
//! Memory per block: 16 bytes of links and 1 byte of queue. Memory per ghost: about 30 bytes. A hit writes four list
//! nodes. Source: Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache" (FAST 2003), figure 4.

use catalog::Variant;

use crate::cache::Cache;
use crate::ghosts::Ghosts;
use crate::policy::{Incoming, Policy, Slot};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<Arc>>(
    "arc",
    "lists of recently and of frequently used blocks; requests for evicted blocks adapt the sizes of both lists",
    sharded_reference!(""),
);

/// The four lists of ARC (T1 and T2 of cached blocks, B1 and B2 of evicted blocks), and the target weight of the list
/// T1.
#[derive(Default)]
pub(crate) struct Arc {
    links: Links,
    once: Queue,
    often: Queue,
    once_ghosts: Ghosts,
    often_ghosts: Ghosts,
    is_often: PerSlot<bool>,
    share: f64,
    once_target: f64,
    found: GhostHit,
}

/// Whether a list of evicted blocks contained the name of the incoming block, and which list: the ghost list B1 or B2
/// of ARC.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum GhostHit {
    #[default]
    Nowhere,
    /// The block is in neither ghost list, and the blocks that were used once (list T1) fill the whole capacity. This
    /// is case IV.A of the ARC paper.
    NowhereAndOnceIsFull,
    InOnceGhosts,
    InOftenGhosts,
}

impl Arc {
    /// Drops names of evicted blocks (ghosts) before a block of `weight` bytes is inserted, as in case IV of the ARC
    /// paper. After the call:
    ///
    /// * T1, B1 and the incoming block together weigh at most the capacity. If T1 alone is too large, `found` becomes
    ///   [`GhostHit::NowhereAndOnceIsFull`] instead.
    /// * All four lists and the incoming block together weigh at most twice the capacity.
    fn make_room_to_remember(&mut self, weight: u64) {
        let over = |weights: u64, share: f64| (weights + weight) as f64 > share;
        while over(self.once.weight() + self.once_ghosts.weight(), self.share) {
            if !self.once_ghosts.forget_oldest() {
                self.found = GhostHit::NowhereAndOnceIsFull;
                return;
            }
        }
        while over(self.total_weight(), 2.0 * self.share) && self.often_ghosts.forget_oldest() {}
    }

    fn total_weight(&self) -> u64 {
        self.once.weight() + self.often.weight() + self.once_ghosts.weight() + self.often_ghosts.weight()
    }
}

impl Policy for Arc {
    type Params = ();

    fn new((): &(), _: usize) -> Result<Self, String> {
        Ok(Self::default())
    }

    fn set_share(&mut self, bytes: u64) {
        self.share = bytes as f64;
        self.once_target = self.once_target.min(self.share);
        self.once_ghosts.trim(bytes);
        self.often_ghosts.trim(bytes);
    }

    fn hit(&mut self, slot: Slot, _: u64) {
        if *self.is_often.get(slot) {
            self.links.renew(&mut self.often, slot);
        } else {
            let weight = self.links.remove(&mut self.once, slot);
            self.links.push(&mut self.often, slot, weight);
            self.is_often.set(slot, true);
        }
    }

    fn announce(&mut self, incoming: Incoming) {
        let (once, often) = (self.once_ghosts.weight() as f64, self.often_ghosts.weight() as f64);
        let weight = incoming.weight as f64;
        if self.once_ghosts.take(incoming.hash) {
            self.found = GhostHit::InOnceGhosts;
            self.once_target = self.share.min(self.once_target + weight * (often / once).max(1.0));
        } else if self.often_ghosts.take(incoming.hash) {
            self.found = GhostHit::InOftenGhosts;
            self.once_target = (self.once_target - weight * (once / often).max(1.0)).max(0.0);
        } else {
            self.found = GhostHit::Nowhere;
            self.make_room_to_remember(incoming.weight);
        }
    }

    fn victim(&mut self, hashes: &[u64]) -> Slot {
        let once = self.once.weight() as f64;
        // This is the procedure REPLACE of the paper. T1 is too large if it is above its target size. If the ghost list
        // B2 contained the incoming block, T1 is already too large at exactly its target size.
        let is_once_over =
            once > self.once_target || (self.found == GhostHit::InOftenGhosts && once >= self.once_target);
        if self.found == GhostHit::NowhereAndOnceIsFull
            && let Some((slot, _)) = self.links.pop(&mut self.once)
        {
            return slot;
        }
        if (is_once_over || self.often.is_empty())
            && let Some((slot, weight)) = self.links.pop(&mut self.once)
        {
            self.once_ghosts.push(hashes[slot as usize], weight);
            return slot;
        }
        let (slot, weight) = self
            .links
            .pop(&mut self.often)
            .expect("a cache that requests a victim from ARC must contain a block");
        self.often_ghosts.push(hashes[slot as usize], weight);
        slot
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        let is_often = matches!(self.found, GhostHit::InOnceGhosts | GhostHit::InOftenGhosts);
        self.is_often.set(slot, is_often);
        let queue = if is_often { &mut self.often } else { &mut self.once };
        self.links.push(queue, slot, incoming.weight);
    }

    fn remove(&mut self, slot: Slot) {
        let queue = if *self.is_often.get(slot) { &mut self.often } else { &mut self.once };
        self.links.remove(queue, slot);
    }
}
