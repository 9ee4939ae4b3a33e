//! SIEVE: arrivals in a line that nothing ever moves in, and a hand that walks from the oldest to the
//! newest, sparing what was used and evicting what was not.
//!
//! What differs from CLOCK is one thing: a spared block stays where it is, so that new blocks behind the
//! hand prove themselves or go soon, while old good ones stay. Per block 16 bytes of links and 1 of mark; a
//! hit touches one line beside the shell's. A scan through it is not resisted as by policies with a memory
//! of the evicted. Source: Zhang et al., "SIEVE is Simpler than LRU" (NSDI 2024), algorithm 1.

use catalog::Variant;

use crate::cache::Cache;
use crate::policy::{Incoming, Policy, Slot};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<Sieve>>(
    "sieve",
    "a hand walks from old to new and evicts what was not used since; spared blocks stay where they are",
    sharded_reference!(""),
);

/// The line, and the hand: the block it looks at next, or the oldest if there is none.
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
            let slot = self.hand.or(self.line.oldest()).expect("a block is held");
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

    /// A hand on the block goes on to the next.
    fn remove(&mut self, slot: Slot) {
        if self.hand == Some(slot) {
            self.hand = self.links.newer(slot);
        }
        self.links.remove(&mut self.line, slot);
    }
}
