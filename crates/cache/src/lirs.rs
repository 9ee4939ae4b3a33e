//! LIRS: selects the block to evict by the distance between the last two uses of each block, and not only by the last
//! use.
//!
//! Blocks whose last two uses were close together are settled blocks, and get nearly all of the capacity. A new block
//! is a visitor in the rest of the capacity. The blocks are in a stack, and every use of a block moves the block to the
//! top of the stack. If a visitor is used again while it is in the stack, the visitor becomes a settled block. All
//! entries below the lowest settled block are removed from the stack. The names of evicted blocks stay in the stack.
//! Suppose that a workload reads the same blocks in a loop, and that these blocks do not fit into the cache. The
//! settled blocks then stay cached and have hits, while LRU has no hits.
//!
//! The paper has other names: a settled block is an LIR block, a visitor is a resident HIR block, and a ghost is a
//! non-resident HIR block. The queue of visitors is `Q`, and the stack is `S`. This implementation limits the number of
//! ghosts, which is unlimited in the paper. The ghost that was evicted first is dropped first. Memory per block: 4
//! bytes of entry number, 32 bytes of entry and 32 bytes of links. Memory per ghost: about 70 bytes. A hit writes four
//! nodes of the stack. A hit of a visitor also writes four nodes of the queue. Source: Jiang and Zhang, "LIRS: An
//! Efficient Low Inter-reference Recency Set Replacement Policy" (SIGMETRICS 2002), section 3.

use catalog::Variant;
use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::policy::{Incoming, Policy, Slot, check_percent, share};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<Lirs>>(
    "lirs",
    "keeps blocks with few requests for other blocks between their last two uses; has hits even in loops \
     larger than the cache",
    sharded_reference!(
        "# Share of the cache for blocks with long reuse distances (HIR), in percent of the cache capacity.\n\
         visitors = 1.0\n\
         # Limit of the list of evicted blocks, which contains only their names: the total size of these\n\
         # blocks in percent of the cache capacity.\n\
         remembered = 200.0\n"
    ),
);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    visitors: f64,
    remembered: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { visitors: 1.0, remembered: 200.0 }
    }
}

/// The status of a block: settled (most of the cache is for such blocks), a visitor (a new block), or a ghost (an
/// evicted block whose name is kept).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Status {
    #[default]
    Settled,
    Visitor,
    Ghost,
}

/// An entry of the stack or of a queue of LIRS: a cached block or a ghost (an evicted block). Entries have their own
/// numbers, because ghosts have no slots.
#[derive(Clone, Copy, Default)]
struct Entry {
    hash: u64,
    weight: u64,
    slot: Slot,
    status: Status,
    is_in_stack: bool,
}

/// The number of an entry, which is its index in `entries` and identifies the entry in the links.
type Number = u32;

/// The state of LIRS: the stack of blocks in the order of their last uses, the queue of visitors (new blocks), and the
/// queue of ghosts (evicted blocks).
pub(crate) struct Lirs {
    entries: PerSlot<Entry>,
    vacant: Vec<Number>,
    used: Number,
    of_slot: PerSlot<Number>,
    stack_links: Links,
    stack: Queue,
    /// The links of the queue of visitors and the queue of ghosts. Both queues use the same links, because an entry is
    /// never in both queues.
    queue_links: Links,
    visitors: Queue,
    ghosts: Queue,
    ghost_index: HashTable<Number>,
    settled_weight: u64,
    settled_share: u64,
    ghosts_share: u64,
    comes_back: bool,
    params: Params,
}

impl Lirs {
    /// Moves an entry to the top of the LIRS stack, or adds it there if it is not in the stack.
    fn raise(&mut self, number: Number) {
        if std::mem::replace(&mut self.entries.at(number).is_in_stack, true) {
            self.stack_links.renew(&mut self.stack, number);
        } else {
            self.stack_links.push(&mut self.stack, number, 0);
        }
    }

    /// Removes an entry from the LIRS stack. Does nothing if the entry is not in the stack.
    fn sink(&mut self, number: Number) {
        if std::mem::take(&mut self.entries.at(number).is_in_stack) {
            self.stack_links.remove(&mut self.stack, number);
        }
    }

    /// Removes the entries below the lowest settled block from the LIRS stack, because their last uses are too old.
    fn prune(&mut self) {
        while let Some(lowest) = self.stack.oldest() {
            match self.entries.get(lowest).status {
                Status::Settled => return,
                Status::Visitor => self.sink(lowest),
                Status::Ghost => self.forget(lowest),
            }
        }
    }

    /// Makes a block a settled block, and moves it to the top of the LIRS stack. The block must not be in a queue.
    fn settle(&mut self, number: Number) {
        let entry = self.entries.at(number);
        entry.status = Status::Settled;
        self.settled_weight += entry.weight;
        self.raise(number);
        self.unsettle_to(self.settled_share);
    }

    /// Makes the lowest settled blocks visitors, until the remaining settled blocks weigh at most `bytes`.
    fn unsettle_to(&mut self, bytes: u64) {
        while self.settled_weight > bytes
            && let Some(lowest) = self.stack.oldest()
        {
            self.sink(lowest);
            let entry = self.entries.at(lowest);
            entry.status = Status::Visitor;
            self.settled_weight -= entry.weight;
            self.queue_links.push(&mut self.visitors, lowest, entry.weight);
            self.prune();
        }
        self.prune();
    }

    /// Removes a ghost (an evicted block) from the ghost list and from the stack.
    fn forget(&mut self, number: Number) {
        self.queue_links.remove(&mut self.ghosts, number);
        let found = self.ghost_index.find_entry(self.entries.get(number).hash, |ghost| *ghost == number);
        found.expect("every ghost of LIRS must be in its index of ghosts").remove();
        self.release(number);
    }

    fn release(&mut self, number: Number) {
        self.sink(number);
        self.vacant.push(number);
    }

    /// Makes an evicted visitor a ghost, whose name is kept. The entry of the visitor must be in the stack.
    fn remember(&mut self, number: Number) {
        let entry = self.entries.at(number);
        entry.status = Status::Ghost;
        let hash = entry.hash;
        self.queue_links.push(&mut self.ghosts, number, entry.weight);
        let entries = &self.entries;
        self.ghost_index.insert_unique(hash, number, |ghost| entries.get(*ghost).hash);
        self.trim();
    }

    fn trim(&mut self) {
        while self.ghosts.weight() > self.ghosts_share
            && let Some(oldest) = self.ghosts.oldest()
        {
            self.forget(oldest);
        }
    }
}

impl Policy for Lirs {
    type Params = Params;

    fn new(params: &Params, _: usize) -> Result<Self, String> {
        check_percent("visitors", params.visitors, 0.0)?;
        if !(0.0..=1000.0).contains(&params.remembered) {
            return Err(format!("remembered is {}; it must be 0 to 1000 percent", params.remembered));
        }
        Ok(Self {
            entries: PerSlot::default(),
            vacant: Vec::new(),
            used: 0,
            of_slot: PerSlot::default(),
            stack_links: Links::default(),
            stack: Queue::default(),
            queue_links: Links::default(),
            visitors: Queue::default(),
            ghosts: Queue::default(),
            ghost_index: HashTable::new(),
            settled_weight: 0,
            settled_share: 0,
            ghosts_share: 0,
            comes_back: false,
            params: params.clone(),
        })
    }

    fn set_share(&mut self, bytes: u64) {
        self.settled_share = bytes - share(bytes, self.params.visitors);
        self.ghosts_share = share(bytes, self.params.remembered);
        self.unsettle_to(self.settled_share);
        self.trim();
    }

    fn hit(&mut self, slot: Slot, _: u64) {
        let number = *self.of_slot.get(slot);
        let Entry { status, is_in_stack, .. } = *self.entries.get(number);
        if status == Status::Settled {
            self.raise(number);
            self.prune();
        } else if is_in_stack {
            self.queue_links.remove(&mut self.visitors, number);
            self.settle(number);
        } else {
            self.raise(number);
            self.queue_links.renew(&mut self.visitors, number);
        }
    }

    fn announce(&mut self, incoming: Incoming) {
        let is_meant = |ghost: &Number| self.entries.get(*ghost).hash == incoming.hash;
        let ghost = self.ghost_index.find(incoming.hash, is_meant).copied();
        self.comes_back = ghost.is_some();
        if let Some(ghost) = ghost {
            self.forget(ghost);
        }
    }

    fn victim(&mut self, _: &[u64]) -> Slot {
        if self.visitors.is_empty() {
            self.unsettle_to(self.settled_weight - 1);
        }
        let (number, _) = self
            .queue_links
            .pop(&mut self.visitors)
            .expect("a cache that requests a victim from LIRS must contain a block");
        let Entry { slot, is_in_stack, .. } = *self.entries.get(number);
        if is_in_stack {
            self.remember(number);
        } else {
            self.release(number);
        }
        slot
    }

    fn admit(&mut self, slot: Slot, Incoming { hash, weight }: Incoming) {
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        });
        let is_settled = self.comes_back || self.settled_weight + weight <= self.settled_share;
        self.entries.set(number, Entry { hash, weight, slot, status: Status::Visitor, is_in_stack: false });
        self.of_slot.set(slot, number);
        if is_settled {
            self.settle(number);
        } else {
            self.raise(number);
            self.queue_links.push(&mut self.visitors, number, weight);
            self.prune();
        }
    }

    fn remove(&mut self, slot: Slot) {
        let number = *self.of_slot.get(slot);
        let Entry { status, weight, .. } = *self.entries.get(number);
        match status {
            Status::Settled => self.settled_weight -= weight,
            Status::Visitor | Status::Ghost => {
                self.queue_links.remove(&mut self.visitors, number);
            }
        }
        self.release(number);
        self.prune();
    }
}
