//! Runs read-triggered compactions, which reduce the number of sources that scans merge.

use std::sync::Arc;

use compaction::{RangeWork, merge_down_to, worth_merging};

use crate::error::Result;
use crate::inner::Inner;
use crate::memory::Slot;
use crate::version::View;

/// The number of scans of a thread between two checks whether a read-triggered compaction is due. The first checks come
/// after 1, 2, 4, 8, 16 and 32 scans, so that small trees are compacted too.
const RANGES_BETWEEN_ASKING: u64 = 64;

/// The memtable and the sorted runs that a read-triggered compaction merges.
struct Wanted {
    /// Whether the active memtable is flushed before the compaction, because the compaction also merges its entries.
    memtable: bool,
    /// The file number of an SSTable in the oldest run that the compaction merges.
    oldest: u64,
}

impl Inner {
    /// Lets the compaction policy and the arbiter decide after a scan, and starts a read-triggered compaction if one is
    /// due. The compaction runs on the compaction thread. In a tree without this thread, it runs on the calling thread.
    /// `ranges` is the number of scans of the calling thread so far.
    #[inline]
    pub(crate) fn note_range(&self, ranges: u64) {
        self.note_scan(ranges);
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
            // The scan can continue after an error. The error is recorded, and the next write returns it.
            drop(self.work_inline());
        } else {
            self.signals.state.lock().shape_changed = true;
            self.signals.notify();
        }
    }

    /// Returns the read-triggered compaction that is due. Returns `None` if no such compaction is due, or if a
    /// pending flush will soon change the runs.
    ///
    /// A compaction is due when scans since the last change of the runs have cost at least as much additional work as
    /// the compaction would cost.
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

    /// Returns the additional work of all scans so far, compared with scans of a single sorted run: the additional
    /// sources and entries. Read-triggered compaction reduces this work.
    pub(crate) fn range_work(&self) -> RangeWork {
        let counts = self.counters.sum();
        RangeWork { extra_sources: counts.range_extra_sources, extra_entries: counts.range_extra_entries }
    }

    /// Runs a read-triggered compaction, if it is due. Returns `false` if no such compaction is due.
    pub(super) fn merge_for_ranges(&self) -> Result<bool> {
        let view = self.view.load_full();
        let Some(wanted) = self.wanted_by_ranges(&view) else { return Ok(false) };
        if wanted.memtable && !self.flush_for_ranges(&view.active)? {
            return Ok(false);
        }
        let _guard = self.compacting.lock();
        let version = Arc::clone(&self.view.load().version);
        let shape = version.shape(self.memtable_bytes());
        let job = merge_down_to(&shape, wanted.oldest);
        let Some(job) = job else { return Ok(false) };
        match self.run_job(&version, &job, &[]) {
            // If an input cannot be read, all runs remain unchanged. Writes and scans continue, but no further
            // read-triggered compaction begins.
            Err(error) if error.is_of_reading() => {
                self.stop_merges_for_ranges();
                Ok(false)
            }
            done => done,
        }
    }

    /// Flushes a memtable before a read-triggered compaction. Returns `false` if the tree is being closed.
    fn flush_for_ranges(&self, memtable: &Arc<Slot>) -> Result<bool> {
        if !self.begin_memtable_for_reads(memtable)? {
            return Ok(false);
        }
        let is_waiting = || self.view.load().frozen.iter().any(|slot| Arc::ptr_eq(slot, memtable));
        while is_waiting() && self.flush_oldest()? {}
        Ok(true)
    }

    /// Makes a memtable immutable and begins a new memtable, although no write has filled it. Returns `false` if the
    /// tree is being closed.
    pub(crate) fn begin_memtable_for_reads(&self, memtable: &Arc<Slot>) -> Result<bool> {
        let allowed = self.merges_for_ranges.lock();
        if *allowed {
            // This call does not wait for room, because the calling thread may be the compactor that makes the room.
            self.begin_memtable(memtable)?;
        }
        Ok(*allowed)
    }

    /// Prevents further read-triggered compactions. Without this call, a read-triggered compaction could begin a new
    /// WAL while the tree is being closed.
    pub(super) fn stop_merges_for_ranges(&self) {
        *self.merges_for_ranges.lock() = false;
    }
}
