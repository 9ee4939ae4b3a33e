//! Delayed writes of a tree. The delay rule is a formula that decides how long a write waits. The tree informs the rule
//! when flushes and compactions have made room, and writers wait as long as the rule requires.

use std::time::Duration;

use compaction::Shape;

use crate::design::{Design, InlineWork, Pacing};
use crate::inner::{Inner, Mode};
use crate::pacing::{Pacer, Payment, Room};
use crate::version::View;

/// The divisor of the stall limit of level 0. The runs of level 0 delay writers only if there are at least
/// `stall.level0_runs` / `LEVEL0_SHARE` of them and a compaction is due.
const LEVEL0_SHARE: usize = 2;

/// Creates the pacer, which delays the writes of a tree. Returns `None` if the design stops writers at limits instead
/// of delaying them, or if the writers run the flushes.
pub(crate) fn pacer(design: &Design, mode: Mode) -> Option<Pacer> {
    let options = &design.options;
    let is_background = mode == Mode::Timed && options.threads.inline == InlineWork::None;
    (options.stall.pacing == Pacing::Delay && is_background).then(Pacer::new)
}

impl Inner {
    /// Returns the initial [`Payment`] of a new memtable, which determines when its writers wait. If the design delays
    /// writes, the first write to the memtable already computes a delay, because an older memtable now waits for its
    /// flush.
    pub(crate) fn payment_of_new_memtable(&self) -> Payment {
        if self.pacer.is_some() { Payment::ASK } else { Payment::FREE }
    }

    /// Records that a memtable has become immutable and waits for its flush. The delay of writes depends on the waiting
    /// memtables.
    pub(crate) fn pace_frozen(&self) {
        if let Some(pacer) = &self.pacer {
            pacer.rule.lock().memory.arrive(pacer.now_ns());
        }
    }

    /// Records a change of the SSTables or memtables, on which the delay of writes depends. `before` contains the
    /// memtables and SSTables before the change, and `level0_runs` is the number of runs in level 0 after the change.
    /// `has_flushed` is set if the change removed a flushed memtable.
    pub(crate) fn pace_change(&self, before: &View, level0_runs: usize, has_flushed: bool) {
        let Some(pacer) = &self.pacer else { return };
        let limit = self.design.options.stall.level0_runs;
        let is_waiting = limit > 0 && level0_runs * LEVEL0_SHARE >= limit && self.is_compaction_due();
        let mut rule = pacer.rule.lock();
        let now_ns = pacer.now_ns();
        if has_flushed {
            // This thread holds the lock of the rule. If another memtable becomes immutable now, `pace_frozen` records
            // it only after this call of `release`.
            rule.memory.release(now_ns, self.view.load().frozen.is_empty());
        }
        if level0_runs < before.version.levels.runs_of(0).len() {
            rule.level0.release(now_ns, !is_waiting);
        } else if is_waiting {
            rule.level0.arrive(now_ns);
        }
    }

    /// Makes the calling writer wait. The wait depends on the bytes that were written since the last wait. Does nothing
    /// if the design does not delay writes.
    #[cold]
    pub(crate) fn pay(&self) {
        let Some(pacer) = &self.pacer else { return };
        let start = (self.clock)();
        let wait_ns = {
            let mut pending = self.pending.lock();
            let room = self.room(pending.charged_bytes);
            let bytes = pending.charged_bytes.saturating_sub(pending.payment.paid_bytes);
            let charge = pacer.rule.lock().charge(pacer.now_ns(), bytes, room);
            let paid_bytes = pending.charged_bytes;
            let due_from = charge.map_or(u64::MAX, |charge| paid_bytes + charge.next_bytes);
            pending.payment = Payment { due_from, paid_bytes };
            charge.map_or(0, |charge| charge.wait_ns)
        };
        if wait_ns > 0 {
            std::thread::sleep(Duration::from_nanos(wait_ns));
            let waited_ns = (self.clock)().saturating_sub(start);
            let counters = self.counters.local();
            counters.delays.bump();
            counters.delay_ns.add(waited_ns);
            counters.stall_ns.add(waited_ns);
        }
    }

    /// Returns how many bytes writers may write before the memtables are full, and before level 0 is full. `charged` is
    /// the size of the active memtable in bytes. The caller must hold the lock of the write queue.
    fn room(&self, charged: u64) -> Room {
        let (view, stall) = (self.view.load(), self.design.options.stall);
        let memtable = self.memtable_bytes();
        let memtables = |limit: usize, used: usize| {
            (limit.saturating_sub(used) as u64).saturating_mul(memtable).saturating_sub(charged)
        };
        let frozen = view.frozen.len();
        Room {
            memory: memtables(stall.frozen_memtables.saturating_add(1), frozen),
            level0: match stall.level0_runs {
                0 => u64::MAX,
                limit => memtables(limit, view.version.levels.runs_of(0).len() + frozen),
            },
        }
    }

    /// Returns whether the compaction policy would pick a job for the current levels of the tree.
    pub(crate) fn is_compaction_due(&self) -> bool {
        let operations = self.observed_operations();
        let shape = self.view.load().version.shape(self.memtable_bytes());
        self.policy.pick(&Shape { operations, ..shape }).is_some()
    }
}
