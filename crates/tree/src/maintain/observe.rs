//! Counts the operations that the compaction policy and the memory arbiter observe. After a number of gets or scans,
//! asks the policy for a job and the arbiter for new sizes.

use compaction::{Operations, picks_after_gets, picks_after_scan};

use super::workers::PanicWatch;
use crate::error::Result;
use crate::inner::Inner;

impl Inner {
    /// After a fixed number of gets, lets the compaction policy pick jobs and the memory arbiter choose sizes. `added`
    /// is the number of gets that the calling thread has just counted. The policy or the arbiter must observe reads,
    /// and the caller must not hold any lock.
    #[inline]
    pub(crate) fn note_gets(&self, added: u64) {
        if picks_after_gets(self.counters.local().gets.get(), added) {
            self.decide_after_reads();
        }
    }

    /// After a fixed number of scans, lets the compaction policy pick jobs and the memory arbiter choose sizes, if one
    /// of them observes reads. `scans` is the number of scans of the calling thread so far.
    pub(super) fn note_scan(&self, scans: u64) {
        if self.observes_reads && picks_after_scan(scans) {
            self.decide_after_reads();
        }
    }

    /// Lets the memory arbiter choose sizes and the compaction policy pick jobs after some reads. If this work fails,
    /// the next write returns the error, because the reads themselves have already succeeded.
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

    /// Runs the jobs that the compaction policy picks. If the tree has a compaction thread, wakes this thread instead,
    /// which then runs the jobs.
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

    /// Records a flush in the window of recent operations, from which the compaction policy chooses the structure of
    /// the tree. If the window then has too many flushes, it drops the operations up to its oldest flush.
    pub(super) fn note_flush(&self) {
        if self.observes_operations {
            let now = self.operations();
            self.observed.lock().note_flush(now);
        }
    }

    /// Returns the recent operations that the compaction policy observes. All counts are 0 if the policy observes no
    /// operations.
    pub(crate) fn observed_operations(&self) -> Operations {
        match self.observes_operations {
            true => self.observed.lock().operations(&self.operations()),
            false => Operations::default(),
        }
    }

    /// Returns the numbers of flushes, gets and scans since the tree was opened.
    fn operations(&self) -> Operations {
        let counts = self.counters.sum();
        Operations {
            flushes: counts.flushes,
            gets_found: counts.gets_found,
            // Another thread may have counted a get, but not yet whether the get found its key.
            gets_missing: counts.gets.saturating_sub(counts.gets_found),
            scans: counts.ranges,
        }
    }
}
