//! Merges that ranges have paid for, as far as the compaction policy lets them.

use std::sync::Arc;

use compaction::{RangeWork, merge_down_to, worth_merging};

use crate::error::Result;
use crate::inner::Inner;
use crate::memory::Slot;
use crate::version::View;

/// A thread asks whether a merge is paid for whenever it has opened so many ranges; before that ever more seldom, so
/// that small trees have theirs too.
const RANGES_BETWEEN_ASKING: u64 = 64;

/// What ranges want merged.
struct Wanted {
    /// Whether the active memtable is flushed first.
    memtable: bool,
    /// A table of the oldest run of all that are merged.
    oldest: u64,
}

impl Inner {
    /// Takes note of one more range of this thread: the compactor is woken where ranges have paid for a merge, or,
    /// where there is none, the merge is done now.
    #[inline]
    pub(crate) fn note_range(&self, ranges: u64) {
        let is_time = ranges.is_multiple_of(RANGES_BETWEEN_ASKING) || ranges.is_power_of_two();
        if is_time && self.policy.seek_price() > 0 {
            self.ask_for_merge();
        }
    }

    #[cold]
    fn ask_for_merge(&self) {
        if self.wanted_by_ranges(&self.view.load()).is_none() {
            return;
        }
        if self.compacts_inline() {
            // What fails is no fault of the range, which can go on; it is noted, and the next write tells.
            drop(self.work_inline());
        } else {
            self.signals.state.lock().shape_changed = true;
            self.signals.notify();
        }
    }

    /// What ranges have paid for since the runs last changed; nothing while a flush is about to change them.
    fn wanted_by_ranges(&self, view: &View) -> Option<Wanted> {
        let price = self.policy.seek_price();
        let is_allowed = self.merges_for_ranges.try_lock().is_some_and(|allowed| *allowed);
        if price == 0 || !view.frozen.is_empty() || !is_allowed || self.failure.is_set() {
            return None;
        }
        let work = self.range_work().since(&view.version.ranges_before);
        let memtable = Some(self.pending.lock().charged_bytes).filter(|bytes| *bytes > 0);
        let runs = view.version.runs.iter().map(|run| run.bytes);
        let sources: Vec<u64> = memtable.into_iter().chain(runs).collect();
        let worth = worth_merging(&sources, &work, price);
        let oldest = worth.checked_sub(1 + usize::from(memtable.is_some()))?;
        Some(Wanted { memtable: memtable.is_some(), oldest: view.version.runs[oldest].tables[0].id() })
    }

    /// What all ranges did so far.
    pub(crate) fn range_work(&self) -> RangeWork {
        let counts = self.counters.sum();
        RangeWork { extra_sources: counts.range_extra_sources, extra_entries: counts.range_extra_entries }
    }

    /// Does the merge that ranges have paid for; `false` where there is none.
    pub(super) fn merge_for_ranges(&self) -> Result<bool> {
        let view = self.view.load_full();
        let Some(wanted) = self.wanted_by_ranges(&view) else { return Ok(false) };
        if wanted.memtable && !self.flush_for_ranges(&view.active)? {
            return Ok(false);
        }
        let _guard = self.compacting.lock();
        let version = Arc::clone(&self.view.load().version);
        let shape = version.shape(self.design.memtable_capacity.0);
        let job = merge_down_to(&shape, wanted.oldest);
        let Some(job) = job else { return Ok(false) };
        match self.run_job(&version, &job) {
            // What cannot be read need not be merged: writers go on, and ranges as they are.
            Err(error) if error.is_of_reading() => {
                self.stop_merges_for_ranges();
                Ok(false)
            }
            done => done,
        }
    }

    /// Flushes a memtable ahead of a merge; `false` where the tree is being closed.
    fn flush_for_ranges(&self, memtable: &Arc<Slot>) -> Result<bool> {
        let allowed = self.merges_for_ranges.lock();
        if !*allowed {
            return Ok(false);
        }
        // Without a wait for room: that may be a wait for this very compactor.
        self.begin_memtable(memtable)?;
        drop(allowed);
        let is_waiting = || self.view.load().frozen.iter().any(|slot| Arc::ptr_eq(slot, memtable));
        while is_waiting() && self.flush_oldest()? {}
        Ok(true)
    }

    /// Lets no more merges for ranges begin: behind the back of whoever closes the tree none begins a log.
    pub(super) fn stop_merges_for_ranges(&self) {
        *self.merges_for_ranges.lock() = false;
    }
}
