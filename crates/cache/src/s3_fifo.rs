//! S3-FIFO: a small queue on probation, a main queue for what was used on probation, and a memory of what
//! failed. What comes once passes through the small queue and leaves the main one alone.
//!
//! A hit counts to three at most and moves nothing. A block leaves the small queue for the main one if it
//! was used more than once, else for the ghosts; one that comes back while it is a ghost enters the main
//! queue at once. The main queue is a CLOCK of two bits. Where a promotion fills the main queue, what that
//! gives up is the victim: one eviction makes one place.
//!
//! Per block 16 bytes of links and 2 of counter and queue, per ghost about 30; a hit touches one line
//! beside the shell's. Source: Yang et al., "FIFO Queues are All You Need for Cache Eviction" (SOSP 2023),
//! algorithm 1.

use catalog::Variant;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::ghosts::Ghosts;
use crate::policy::{Incoming, Policy, Slot, check_percent, share};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<S3Fifo>>(
    "s3-fifo",
    "two FIFO queues and a memory of what was evicted: scans pass through the small one",
    sharded_reference!("# The share of the small queue in percent of the capacity.\nsmall = 10.0\n"),
);

/// Uses that are counted at most.
const MAX_USES: u8 = 3;

/// Uses on probation that take a block into the main queue.
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

/// Both queues, and as many ghosts as the main queue can hold blocks.
pub(crate) struct S3Fifo {
    links: Links,
    small: Queue,
    main: Queue,
    ghosts: Ghosts,
    states: PerSlot<State>,
    small_percent: f64,
    small_share: u64,
    main_share: u64,
}

/// Where a block is, and how often it was used there.
#[derive(Clone, Copy, Default)]
struct State {
    is_main: bool,
    uses: u8,
}

impl S3Fifo {
    /// The block that the small queue gives up; none if it promoted so many that it is small enough.
    fn victim_of_small(&mut self, hashes: &[u64]) -> Option<Slot> {
        while self.small.weight() >= self.small_share || self.main.is_empty() {
            let (slot, weight) = self.links.pop(&mut self.small)?;
            if self.states.get(slot).uses < PROMOTED_USES {
                self.ghosts.push(hashes[slot as usize], weight);
                self.ghosts.trim(self.main_share);
                return Some(slot);
            }
            self.states.set(slot, State { is_main: true, uses: 0 });
            self.links.push(&mut self.main, slot, weight);
            if self.main.weight() > self.main_share {
                return None;
            }
        }
        None
    }

    fn victim_of_main(&mut self) -> Option<Slot> {
        loop {
            let (slot, weight) = self.links.pop(&mut self.main)?;
            let uses = &mut self.states.of(slot).uses;
            if *uses == 0 {
                return Some(slot);
            }
            *uses -= 1;
            self.links.push(&mut self.main, slot, weight);
        }
    }
}

impl Policy for S3Fifo {
    type Params = Params;

    fn new(params: &Params, _: usize) -> Result<Self, String> {
        check_percent("small", params.small, 0.0)?;
        Ok(Self {
            links: Links::default(),
            small: Queue::default(),
            main: Queue::default(),
            ghosts: Ghosts::default(),
            states: PerSlot::default(),
            small_percent: params.small,
            small_share: 0,
            main_share: 0,
        })
    }

    fn set_share(&mut self, bytes: u64) {
        self.small_share = share(bytes, self.small_percent);
        self.main_share = bytes - self.small_share;
        self.ghosts.trim(self.main_share);
    }

    fn hit(&mut self, slot: Slot, _: u64) {
        let uses = &mut self.states.of(slot).uses;
        *uses = MAX_USES.min(*uses + 1);
    }

    fn victim(&mut self, hashes: &[u64]) -> Slot {
        self.victim_of_small(hashes).or_else(|| self.victim_of_main()).expect("a block is held")
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        let is_main = self.ghosts.take(incoming.hash);
        self.states.set(slot, State { is_main, uses: 0 });
        let queue = if is_main { &mut self.main } else { &mut self.small };
        self.links.push(queue, slot, incoming.weight);
    }

    fn remove(&mut self, slot: Slot) {
        let queue = if self.states.get(slot).is_main { &mut self.main } else { &mut self.small };
        self.links.remove(queue, slot);
    }
}
