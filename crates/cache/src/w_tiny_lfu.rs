//! W-TinyLFU: a small LRU window admits every block. When a block leaves the window, it enters the main part only if
//! it was requested more often than the block that it would evict.
//!
//! A sketch with aging estimates how often blocks are requested, including blocks that are not cached. The main part
//! is a segmented LRU. Its blocks are first on probation, and a hit makes a block protected. Protected blocks take up
//! to four fifths of the main part. Because of the window, new blocks that are used several times in a short time
//! have hits. Blocks that a scan reads once do not enter the main part.
//!
//! Memory per block: 16 bytes of links, 1 byte of segment, and 2 bytes of sketch (four 4-bit counters for the largest
//! number of blocks ever cached, rounded up to a power of two). A hit writes four list nodes and four counters. A hit
//! changes data in eight cache lines, in addition to the cache lines of the sharded cache. Source: Einziger, Friedman
//! and Manes, "`TinyLFU`: A Highly Efficient Cache Admission Policy" (ACM TOS 13(4), 2017), section 4, without the
//! doorkeeper.

use catalog::Variant;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::policy::{Incoming, Policy, Slot, check_percent, share};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};
use crate::sketch::Sketch;

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<WTinyLfu>>(
    "w-tinylfu",
    "an LRU window before a main part that admits blocks by an estimate of their request frequency",
    sharded_reference!(
        "# Capacity of the LRU window in percent of the cache capacity.\n\
         window = 1.0\n\
         # Capacity for protected blocks, in percent of the main part. Blocks are protected after a hit in\n\
         # the main part.\n\
         protected = 80.0\n"
    ),
);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    window: f64,
    protected: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { window: 1.0, protected: 80.0 }
    }
}

/// The part of the cache to which a block belongs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Segment {
    #[default]
    Window,
    Probation,
    Protected,
}

/// The eviction policy W-TinyLFU of a shard: its three LRU queues, and the sketch that estimates how often blocks are
/// requested.
pub(crate) struct WTinyLfu {
    links: Links,
    window: Queue,
    probation: Queue,
    protected: Queue,
    segments: PerSlot<Segment>,
    sketch: Sketch,
    blocks: usize,
    /// The weight of the block that is about to be inserted, in bytes.
    incoming: u64,
    window_share: u64,
    main_share: u64,
    protected_share: u64,
    params: Params,
}

impl WTinyLfu {
    fn queue(&mut self, segment: Segment) -> (&mut Links, &mut Queue) {
        let queue = match segment {
            Segment::Window => &mut self.window,
            Segment::Probation => &mut self.probation,
            Segment::Protected => &mut self.protected,
        };
        (&mut self.links, queue)
    }

    fn push(&mut self, segment: Segment, slot: Slot, weight: u64) {
        self.segments.set(slot, segment);
        let (links, queue) = self.queue(segment);
        links.push(queue, slot, weight);
    }

    fn take(&mut self, slot: Slot) -> u64 {
        let (links, queue) = self.queue(*self.segments.get(slot));
        links.remove(queue, slot)
    }

    fn move_to(&mut self, segment: Segment, slot: Slot) {
        let weight = self.take(slot);
        self.push(segment, slot, weight);
    }

    fn main_weight(&self) -> u64 {
        self.probation.weight() + self.protected.weight()
    }

    /// Returns the oldest block of the window, if the window will be too large after `more` additional bytes. Returns
    /// `None` otherwise.
    fn candidate(&self, more: u64) -> Option<Slot> {
        self.window.oldest().filter(|_| self.window.weight() + more > self.window_share)
    }

    /// Moves blocks from the window to the main part, while the window is too large and the main part has room. `more`
    /// bytes are about to be inserted into the window.
    fn spill(&mut self, more: u64) {
        while let Some(slot) = self.candidate(more)
            && self.main_weight() + self.links.weight(slot) <= self.main_share
        {
            self.move_to(Segment::Probation, slot);
        }
    }
}

impl Policy for WTinyLfu {
    type Params = Params;

    fn new(params: &Params, _: usize) -> Result<Self, String> {
        check_percent("window", params.window, 0.0)?;
        check_percent("protected", params.protected, 0.0)?;
        Ok(Self {
            links: Links::default(),
            window: Queue::default(),
            probation: Queue::default(),
            protected: Queue::default(),
            segments: PerSlot::default(),
            sketch: Sketch::default(),
            blocks: 0,
            incoming: 0,
            window_share: 0,
            main_share: 0,
            protected_share: 0,
            params: params.clone(),
        })
    }

    fn set_share(&mut self, bytes: u64) {
        self.window_share = share(bytes, self.params.window);
        self.main_share = bytes - self.window_share;
        self.protected_share = share(self.main_share, self.params.protected);
        self.incoming = 0;
    }

    fn hit(&mut self, slot: Slot, hash: u64) {
        self.sketch.increment(hash);
        let segment = match *self.segments.get(slot) {
            Segment::Window => Segment::Window,
            Segment::Probation | Segment::Protected => Segment::Protected,
        };
        self.move_to(segment, slot);
        while self.protected.weight() > self.protected_share
            && let Some(oldest) = self.protected.oldest()
        {
            self.move_to(Segment::Probation, oldest);
        }
    }

    fn announce(&mut self, incoming: Incoming) {
        self.sketch.increment(incoming.hash);
        self.incoming = incoming.weight;
    }

    fn victim(&mut self, hashes: &[u64]) -> Slot {
        self.spill(self.incoming);
        let candidate = self.candidate(self.incoming);
        let worst = self.probation.oldest().or(self.protected.oldest());
        let frequency = |slot: Slot| self.sketch.frequency(hashes[slot as usize]);
        let (victim, admitted) = match (candidate, worst) {
            (Some(candidate), Some(worst)) if frequency(candidate) > frequency(worst) => {
                (worst, Some(candidate))
            }
            (Some(candidate), _) => (candidate, None),
            (None, Some(worst)) => (worst, None),
            (None, None) => (
                self.window
                    .oldest()
                    .expect("a cache that requests a victim from W-TinyLFU must contain a block"),
                None,
            ),
        };
        self.remove(victim);
        if let Some(admitted) = admitted {
            self.move_to(Segment::Probation, admitted);
        }
        victim
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        self.blocks += 1;
        self.sketch.grow(self.blocks);
        self.push(Segment::Window, slot, incoming.weight);
        self.spill(0);
    }

    fn remove(&mut self, slot: Slot) {
        self.blocks -= 1;
        self.take(slot);
    }
}
