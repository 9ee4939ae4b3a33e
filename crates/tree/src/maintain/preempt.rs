//! Pauses of a compaction for the schedule `silk`: a compaction of level 0 runs first, and the compaction waits while
//! clients use the bandwidth.

use std::sync::Arc;
use std::time::Duration;

use compaction::{Job, Shape};

use crate::design::{Design, InlineWork, Schedule};
use crate::error::Result;
use crate::inner::{Inner, Mode};
use crate::schedule::Scheduler;
use crate::version::Version;

/// The longest part of a wait for bandwidth. After each part, the compaction checks level 0 again.
const WAIT_SLICE_NS: u64 = 5_000_000;

/// Returns the schedule of a tree. Returns `None` if compactions run one after another as the policy picks them.
pub(crate) fn scheduler(design: &Design, mode: Mode) -> Option<Scheduler> {
    let threads = design.options.threads;
    let has_compactor = mode == Mode::Timed && threads.inline != InlineWork::All;
    (threads.schedule == Schedule::Silk && has_compactor).then(|| Scheduler::new(threads.bandwidth.0))
}

impl Inner {
    /// Pauses a compaction whose inputs and output are in the levels from `top` on. Compactions of level 0 that are due
    /// run on the calling thread. Then the function waits for the bandwidth of `bytes` bytes. A compaction of level 0
    /// does not pause. The caller must hold the lock `compacting`.
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

    /// Returns the time of the scheduler until which a compaction waits after it has read and written `bytes` bytes.
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

    /// Runs the compactions of level 0 that are due and use only levels above `top`. Another compaction has its inputs
    /// and its output in the levels from `top` on, so its job remains valid.
    fn compact_level_0_first(&self, scheduler: &Scheduler, top: usize) -> Result<()> {
        // A preempting compaction is not preempted, and other parts of the preempted compaction continue.
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

    /// Returns the job with inputs from level 0 that the policy picks for the levels above `top`, with its cuts. The
    /// hidden levels are older than all inputs of the job, so the job is also valid for the complete tree.
    fn level_0_job(&self, version: &Version, top: usize) -> Option<(Job, Vec<Arc<[u8]>>)> {
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
