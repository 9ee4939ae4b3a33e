//! The operations that a compaction policy observes, and the picks of the policy after gets and scans.

use compaction::{Operations, picks_after_gets, picks_after_scan};

use super::workers::PanicWatch;
use crate::inner::Inner;

impl Inner {
    /// Counts gets of this thread, which were added to its counters before. If the policy observes operations and picks
    /// again after these gets, the function lets the policy pick. The caller holds no locks.
    #[inline]
    pub(crate) fn note_gets(&self, added: u64) {
        if picks_after_gets(self.counters.local().gets.get(), added) {
            self.pick_after_reads();
        }
    }

    /// Counts one more scan of this thread, like [`note_gets`](Self::note_gets).
    pub(super) fn note_scan(&self, scans: u64) {
        if self.observes_operations && picks_after_scan(scans) {
            self.pick_after_reads();
        }
    }

    /// Runs the jobs that the policy picks, or wakes the compactor to do so.
    #[cold]
    fn pick_after_reads(&self) {
        if self.failure.is_set() {
            return;
        }
        if self.compacts_inline() {
            let _watch = PanicWatch(self);
            // The read has its answer. After an error, the next write returns this error.
            while matches!(self.compact_by_policy().map_err(|error| self.fail(error)), Ok(true)) {}
        } else {
            self.signals.state.lock().shape_changed = true;
            self.signals.notify();
        }
    }

    /// Moves the window of the observed operations after a flush.
    pub(super) fn note_flush(&self) {
        if self.observes_operations {
            let now = self.operations();
            self.observed.lock().note_flush(now);
        }
    }

    /// Returns the operations in the window of the policy. Without operations if the policy observes no operations.
    pub(crate) fn observed_operations(&self) -> Operations {
        match self.observes_operations {
            true => self.observed.lock().operations(&self.operations()),
            false => Operations::default(),
        }
    }

    /// Returns the operations since the tree was opened.
    fn operations(&self) -> Operations {
        let counts = self.counters.sum();
        Operations {
            flushes: counts.flushes,
            gets_found: counts.gets_found,
            // Another thread may have counted a lookup, but not its answer yet.
            gets_missing: counts.gets.saturating_sub(counts.gets_found),
            scans: counts.ranges,
        }
    }
}
