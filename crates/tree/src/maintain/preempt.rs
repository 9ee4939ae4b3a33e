//! Pauses compactions of deeper levels under the schedule `silk`. During a pause, compactions of level 0 run first, and
//! then the paused compaction waits while clients use the bandwidth.

use std::sync::Arc;
use std::time::Duration;

use compaction::{Job, Shape};

use crate::design::{Design, InlineWork, Schedule};
use crate::error::Result;
use crate::inner::{Inner, Mode};
use crate::schedule::Scheduler;
use crate::version::Version;

/// The longest time, in nanoseconds, for which a compaction waits for bandwidth before it checks level 0 again.
const WAIT_SLICE_NS: u64 = 5_000_000;

/// Returns the schedule of a tree that gives compactions of level 0 and clients priority. Returns `None` if compactions
/// run one after another as the policy picks them.
pub(crate) fn scheduler(design: &Design, mode: Mode) -> Option<Scheduler> {
    let threads = design.options.threads;
    let has_compactor = mode == Mode::Timed && threads.inline != InlineWork::All;
    (threads.schedule == Schedule::Silk && has_compactor).then(|| Scheduler::new(threads.bandwidth.0))
}

impl Inner {
    /// Pauses a compaction of deeper levels, so that compactions of level 0 and clients come first. The paused
    /// compaction has transferred `bytes` bytes, and uses only the levels `top` and deeper. The function runs the due
    /// compactions of level 0, and then waits until the bandwidth limit allows these bytes. The caller must hold the
    /// lock `compacting`.
    pub(super) fn pause_compaction(&self, scheduler: &Scheduler, top: usize, bytes: u64) -> Result<()> {
        if top == 0 {
            return Ok(());
        }
        self.compact_level_0_first(scheduler, top)?;
        let end_ns = self.charge_bandwidth(scheduler, bytes);
        loop {
            let left_ns = end_ns.saturating_sub(scheduler.now_ns());
            if left_ns == 0 || self.signals.is_stopping() {
                return Ok(());
            }
            let start_ns = self.clock_ns();
            std::thread::sleep(Duration::from_nanos(left_ns.min(WAIT_SLICE_NS)));
            self.counters.local().bandwidth_wait_ns.add(self.clock_ns().saturating_sub(start_ns));
            self.compact_level_0_first(scheduler, top)?;
        }
    }

    /// Records that a compaction has read and written `bytes` bytes. Returns the time until which it must wait to stay
    /// within the bandwidth limit, in nanoseconds of the scheduler's clock. Returns 0 if the bandwidth has no limit.
    fn charge_bandwidth(&self, scheduler: &Scheduler, bytes: u64) -> u64 {
        let Some(bandwidth) = &scheduler.bandwidth else { return 0 };
        let (mut bandwidth, now_ns) = (bandwidth.lock(), scheduler.now_ns());
        if bandwidth.is_outdated(now_ns) {
            let counts = self.counters.sum();
            let read = counts.data_block_bytes_read + counts.fence_page_bytes_read + counts.blob_read_bytes;
            bandwidth.measure(now_ns, counts.wal_bytes + read);
        }
        bandwidth.charge(now_ns, bytes)
    }

    /// Runs the due compactions of level 0 that use only levels with numbers below `top`. The compaction that is paused
    /// meanwhile uses only the levels `top` and deeper, so its job remains valid.
    fn compact_level_0_first(&self, scheduler: &Scheduler, top: usize) -> Result<()> {
        // If the lock is held, a part of the paused compaction already runs a compaction of level 0. No second
        // compaction of level 0 begins then.
        let Some(mut checked) = scheduler.checked.try_lock() else { return Ok(()) };
        loop {
            let view = self.view.load();
            if Arc::as_ptr(&view.version) == checked.as_ptr() {
                return Ok(());
            }
            let version = Arc::clone(&view.version);
            drop(view);
            let Some((job, cuts)) = self.level_0_job(&version, top) else {
                *checked = Arc::downgrade(&version);
                return Ok(());
            };
            if !self.run_job(&version, &job, &cuts)? {
                return Ok(());
            }
            self.counters.local().preempting_compactions.bump();
        }
    }

    /// Returns the compaction of level 0 that is due, and the keys at which its output SSTables end. The compaction
    /// uses only levels with numbers below `top`. Returns `None` if no such compaction is due.
    fn level_0_job(&self, version: &Version, top: usize) -> Option<(Job, Vec<Arc<[u8]>>)> {
        // The policy sees only the levels with numbers below `top`. The other levels are older than all inputs of the
        // job, so the job is also valid for the complete tree.
        let operations = self.observed_operations();
        let mut shape = Shape { operations, ..version.shape(self.memtable_bytes()) };
        shape.levels.levels.truncate(top);
        while shape.levels.levels.last().is_some_and(|level| level.runs.is_empty()) {
            shape.levels.levels.pop();
        }
        let job = self.policy.pick(&shape).filter(|job| job.level < top)?;
        let mut level_0 = shape.runs_of(0).iter().flat_map(|run| &run.tables);
        let has_level_0 = level_0.any(|table| job.inputs.contains(&table.id));
        has_level_0.then(|| {
            let cuts = self.policy.cuts(&shape, &job);
            (job, cuts)
        })
    }
}
