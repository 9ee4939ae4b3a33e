//! The operations that a compaction policy and a memory arbiter observe, and their decisions after gets and scans.

use compaction::{Operations, picks_after_gets, picks_after_scan};

use super::workers::PanicWatch;
use crate::error::Result;
use crate::inner::Inner;

impl Inner {
    /// Counts gets of the calling thread. The caller has already added these gets to the counters. After some of
    /// these gets, the function lets the policy pick a job and lets the arbiter decide, if they observe reads. The
    /// caller must not hold any lock.
    #[inline]
    pub(crate) fn note_gets(&self, added: u64) {
        if picks_after_gets(self.counters.local().gets.get(), added) {
            self.decide_after_reads();
        }
    }

    /// Counts one more scan of the calling thread, like [`note_gets`](Self::note_gets).
    pub(super) fn note_scan(&self, scans: u64) {
        if self.observes_reads && picks_after_scan(scans) {
            self.decide_after_reads();
        }
    }

    /// Lets the arbiter and the policy decide. The read already has its answer, so only the next write returns an
    /// error of this work.
    #[cold]
    fn decide_after_reads(&self) {
        if self.failure.is_set() {
            return;
        }
        let _watch = PanicWatch(self);
        let decided = if self.arbitration.is_some() { self.arbitrate_after_reads() } else { Ok(()) };
        if let Err(error) = decided.and_then(|()| self.pick_after_reads()) {
            self.fail(error);
        }
    }

    /// Runs the jobs that the policy picks, or wakes the compactor to do so.
    fn pick_after_reads(&self) -> Result<()> {
        if !self.observes_operations {
            return Ok(());
        }
        if self.compacts_inline() {
            while self.compact_by_policy()? {}
        } else {
            self.signals.state.lock().shape_changed = true;
            self.signals.notify();
        }
        Ok(())
    }

    /// Moves the window of the observed operations after a flush.
    pub(super) fn note_flush(&self) {
        if self.observes_operations {
            let now = self.operations();
            self.observed.lock().note_flush(now);
        }
    }

    /// Returns the operations in the window of the policy. The result has no operations if the policy observes no
    /// operations.
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
