//! Implements the timed loop of a process that runs in turns. Each thread executes a part of the operations of each
//! slice. A slice contains the same operations in the processes of all configurations.

use std::sync::atomic::Ordering;

use workload::{Batch, Stream, TargetError};

use super::{Shared, ThreadOutcome, Worker, fill};
use crate::message::{Slice, Yielded};
use crate::turn::{self, Begun, Turns};

impl Shared<'_> {
    /// Executes at most `left` operations of one thread, slice by slice. A slice is the number of operations that the
    /// process executes in one turn.
    pub(super) fn slices(
        &self,
        turns: &Turns,
        mut worker: Worker<'_>,
        mut stream: Stream,
        mut left: u64,
    ) -> Result<ThreadOutcome, TargetError> {
        let (mut batch, mut filled, mut outcome) = (Batch::default(), 0, Ok(()));
        let mut paused_ns = None;
        loop {
            self.next_slice(turns);
            if self.slice.is_over.load(Ordering::Acquire) {
                break;
            }
            let share = self.share(self.slice.operations.load(Ordering::Acquire), worker.thread);
            if paused_ns.is_none() {
                // The first batch is generated before the clock runs.
                filled = fill_some(&mut stream, &mut batch, &mut left, share);
                worker.begin();
            } else {
                worker.resume(self.slice.waited_ns.load(Ordering::Acquire));
            }
            paused_ns = Some(turn::paused_ns());
            let mut of_slice = share;
            while filled > 0 && of_slice > 0 && !self.failed.load(Ordering::Relaxed) {
                outcome = worker.batch(&batch).map(drop);
                if outcome.is_err() {
                    self.failed.store(true, Ordering::Relaxed);
                    break;
                }
                self.done.fetch_add(filled as u64, Ordering::Relaxed);
                self.slice.done.fetch_add(filled as u64, Ordering::Relaxed);
                of_slice = of_slice.saturating_sub(filled as u64);
                let most = if of_slice == 0 { share } else { of_slice };
                filled = fill_some(&mut stream, &mut batch, &mut left, most);
            }
            worker.end_slice();
            self.slice.run_queue_ns.fetch_add(worker.leave_cpu(), Ordering::AcqRel);
            if filled > 0 {
                self.slice.has_more.store(true, Ordering::Release);
            }
        }
        outcome?;
        Ok(worker.into_outcome().earlier(self.clock, paused_ns.unwrap_or(0)))
    }

    /// Returns how many of the `operations` operations of a slice the thread with the number `thread` executes. The
    /// result is at least 1, so that each slice makes progress.
    fn share(&self, operations: u64, thread: u32) -> u64 {
        let (thread, threads) = (u64::from(thread), u64::from(self.threads));
        (operations / threads + u64::from(thread < operations % threads)).max(1)
    }

    /// Waits after a slice until all threads have finished it and the parent process starts the next turn. Marks the
    /// phase as ended if no thread has operations left, or if a thread has failed.
    fn next_slice(&self, turns: &Turns) {
        if self.barrier.wait().is_leader() {
            let slice = &self.slice;
            let is_last =
                !slice.has_more.swap(false, Ordering::AcqRel) || self.failed.load(Ordering::Acquire);
            let operations = slice.done.swap(0, Ordering::AcqRel);
            let waited_ns = slice.run_queue_ns.swap(0, Ordering::AcqRel);
            let mut used = slice.used.lock();
            let begun = turns.next(self.clock, |end| match &*used {
                None => {
                    let phase = self.phase.phase().name.clone();
                    Yielded::Ready { phase, operations: self.phase.operations() }
                }
                Some(used) => {
                    let (ns, cpu_ns) = used.since(self.clock, end);
                    Yielded::Ran(Slice { operations, ns, cpu_ns, waited_ns, is_last })
                }
            });
            let Begun { operations, waited_ns, used: now } = begun;
            slice.is_over.store(used.is_some() && is_last, Ordering::Release);
            slice.operations.store(operations, Ordering::Release);
            slice.waited_ns.store(waited_ns, Ordering::Release);
            *used = Some(now);
        }
        self.barrier.wait();
    }
}

/// Generates the next batch of operations of a thread, with at most `most` operations. `left` is the number of
/// operations that the thread may still execute. Returns the size of the batch, and reduces `left` by this size.
fn fill_some(stream: &mut Stream, batch: &mut Batch, left: &mut u64, most: u64) -> usize {
    let mut some = most.min(*left);
    let filled = fill(stream, batch, &mut some);
    *left -= filled as u64;
    filled
}
