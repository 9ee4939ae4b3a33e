//! The timed loop: the threads of a phase, each doing the operations of its stream.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use measure::{Clock, Histogram, Stamp};
use std::sync::Arc;
use workload::{
    Batch, Extent, Kind, Outcome, Performer, PhasePlan, Rate, Record, Stream, Target, TargetError, Work,
};

use super::timeline::Timeline;
use crate::experiment::RunMode;

/// Nanoseconds before an intended start at which a thread stops sleeping and spins.
const SPIN_NS: u64 = 100_000;

/// Nanoseconds of a second.
const SECOND_NS: u64 = 1_000_000_000;

/// How a phase is driven.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive {
    /// Whether time is measured.
    pub(super) mode: RunMode,
    /// Every how many operations one is timed.
    pub(super) sampling: u64,
    /// Every how many operations the answer is kept.
    pub(super) check: u64,
}

/// What the threads of a phase did.
pub(super) struct Driven {
    /// Per kind of operation.
    pub(super) kinds: Vec<(Kind, KindTotals)>,
    /// The answers kept, thread by thread.
    pub(super) records: Vec<Record>,
    /// From the start of the first operation to the end of the last, in nanoseconds; `None` where time is not
    /// measured.
    pub(super) elapsed_ns: Option<u64>,
    /// Second by second.
    pub(super) timeline: Timeline,
}

/// What the operations of one kind did.
#[derive(Clone, Default)]
pub(super) struct KindTotals {
    /// Operations done.
    pub(super) operations: u64,
    /// Keys asked for and found.
    pub(super) found: u64,
    /// Keys asked for and not found.
    pub(super) missing: u64,
    /// Service times.
    pub(super) service: Histogram,
    /// Response times, in an open loop.
    pub(super) response: Histogram,
}

impl KindTotals {
    pub(super) fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.found += other.found;
        self.missing += other.missing;
        self.service.merge(&other.service);
        self.response.merge(&other.response);
    }
}

/// What the threads of a phase share.
struct Shared<'a> {
    target: &'a dyn Target,
    clock: &'a Clock,
    drive: Drive,
    timeline: Timeline,
    /// Operations done so far, for the progress bar.
    done: &'a AtomicU64,
    /// Set by the first thread that fails, so that the others end too.
    failed: AtomicBool,
    barrier: Barrier,
    rate: Rate,
    threads: u32,
    time_limit_ns: Option<u64>,
}

impl Drive {
    /// Does a phase on `target`.
    pub(super) fn phase(
        self,
        target: &dyn Target,
        phase: &Arc<PhasePlan>,
        from: Extent,
        clock: &Clock,
        done: &AtomicU64,
    ) -> Result<Driven, TargetError> {
        let streams = phase.streams(from);
        let threads = phase.phase().threads;
        let shared = Shared {
            target,
            clock,
            drive: self,
            timeline: Timeline::default(),
            done,
            failed: AtomicBool::new(false),
            barrier: Barrier::new(streams.len()),
            rate: phase.phase().rate,
            threads,
            time_limit_ns: match &phase.phase().work {
                Work::Mixed(mixed) => mixed.time_limit_ns,
                _ => None,
            },
        };
        let outcomes: Vec<Result<ThreadOutcome, TargetError>> = match streams.len() {
            1 => streams.into_iter().map(|stream| shared.drive(stream)).collect(),
            _ => std::thread::scope(|scope| {
                let threads: Vec<_> =
                    streams.into_iter().map(|stream| scope.spawn(|| shared.drive(stream))).collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            }),
        };
        let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(shared.combine(outcomes))
    }
}

/// What one thread did.
struct ThreadOutcome {
    kinds: Vec<Option<Box<KindTotals>>>,
    record: Record,
    start: Stamp,
    end: Stamp,
}

impl Shared<'_> {
    fn combine(self, outcomes: Vec<ThreadOutcome>) -> Driven {
        let mut totals: Vec<KindTotals> = vec![KindTotals::default(); Kind::ALL.len()];
        let (start, end) = (outcomes.iter().map(|o| o.start).min(), outcomes.iter().map(|o| o.end).max());
        let elapsed = start.zip(end).map(|(start, end)| self.clock.ns_between(start, end));
        let mut records = Vec::new();
        for outcome in outcomes {
            for (total, kind) in totals.iter_mut().zip(&outcome.kinds) {
                kind.iter().for_each(|kind| total.add(kind));
            }
            records.push(outcome.record);
        }
        let kinds = Kind::ALL.into_iter().zip(totals).filter(|(_, total)| total.operations > 0).collect();
        let elapsed_ns = elapsed.filter(|_| self.drive.mode == RunMode::Timed);
        Driven { kinds, records, elapsed_ns, timeline: self.timeline }
    }

    /// One thread: its whole stream, or until the time is up.
    fn drive(&self, mut stream: Stream) -> Result<ThreadOutcome, TargetError> {
        let thread = stream.thread();
        let mut worker = Worker::new(self, thread);
        let mut batch = Batch::default();
        // The first batch is made before the clock runs.
        let mut filled = stream.fill(&mut batch, Batch::OPERATIONS);
        self.barrier.wait();
        worker.begin();
        while filled > 0 && !self.failed.load(Ordering::Relaxed) {
            let went_on =
                worker.perform(&batch).inspect_err(|_| self.failed.store(true, Ordering::Relaxed))?;
            self.done.fetch_add(filled as u64, Ordering::Relaxed);
            if !went_on {
                break;
            }
            filled = stream.fill(&mut batch, Batch::OPERATIONS);
        }
        Ok(worker.finish())
    }
}

/// One thread's loop and what it keeps.
struct Worker<'a> {
    shared: &'a Shared<'a>,
    performer: Performer<'a>,
    record: Record,
    /// Of the second that runs; merged into `kinds` when it is over.
    second: Vec<Option<Box<KindTotals>>>,
    kinds: Vec<Option<Box<KindTotals>>>,
    start: Stamp,
    /// The end of the last operation that was timed.
    end: Stamp,
    second_ends: Stamp,
    second_number: u64,
    until_timed: u64,
    schedule: Option<Schedule>,
    deadline: Option<Stamp>,
}

/// When the operations of one thread are due in an open loop.
struct Schedule {
    thread: u32,
    threads: u32,
    ns_per_operation: f64,
    issued: u64,
}

impl Schedule {
    /// Nanoseconds from the start of the phase at which the next operation is due.
    fn next_ns(&mut self) -> u64 {
        let number = self.issued * u64::from(self.threads) + u64::from(self.thread);
        self.issued += 1;
        (number as f64 * self.ns_per_operation) as u64
    }
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>, thread: u32) -> Self {
        let now = shared.clock.now();
        let schedule = match shared.rate {
            Rate::Closed => None,
            Rate::Open { per_second } => Some(Schedule {
                thread,
                threads: shared.threads,
                ns_per_operation: SECOND_NS as f64 / per_second,
                issued: 0,
            }),
        };
        let empty = || vec![None; Kind::ALL.len()];
        Self {
            shared,
            performer: Performer::new(shared.target),
            record: Record::new(shared.drive.check),
            second: empty(),
            kinds: empty(),
            start: now,
            end: now,
            second_ends: now,
            second_number: 0,
            until_timed: 0,
            schedule,
            deadline: None,
        }
    }

    fn begin(&mut self) {
        let clock = self.shared.clock;
        self.start = clock.now();
        self.end = self.start;
        self.second_ends = clock.after(self.start, SECOND_NS);
        self.deadline = self.shared.time_limit_ns.map(|ns| clock.after(self.start, ns));
    }

    /// Does the operations of a batch; `false` when the time is up.
    fn perform(&mut self, batch: &Batch) -> Result<bool, TargetError> {
        let clock = self.shared.clock;
        for at in batch.heads() {
            let due = self.schedule.as_mut().map(Schedule::next_ns).map(|ns| clock.after(self.start, ns));
            if let Some(due) = due {
                wait_until(clock, due);
            }
            let kind = batch.operations()[at].kind as usize;
            let check = self.record.wants();
            if self.is_timed() {
                let start = clock.now();
                let outcome = self.performer.perform(batch, at, check)?;
                self.end = clock.now();
                if self.end >= self.second_ends {
                    self.end_second();
                }
                let totals = self.second[kind].get_or_insert_default();
                totals.service.record(clock.ns_between(start, self.end));
                if let Some(due) = due {
                    totals.response.record(clock.ns_between(due, self.end));
                }
                totals.count(outcome);
            } else {
                let outcome = self.performer.perform(batch, at, check)?;
                self.second[kind].get_or_insert_default().count(outcome);
            }
            self.record.done(|| self.performer.digest());
            if self.deadline.is_some_and(|deadline| clock.now() >= deadline) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the next operation is timed.
    #[inline]
    fn is_timed(&mut self) -> bool {
        if self.shared.drive.mode == RunMode::Counted {
            return false;
        }
        if self.until_timed == 0 {
            self.until_timed = self.shared.drive.sampling;
        }
        self.until_timed -= 1;
        self.until_timed == self.shared.drive.sampling - 1
    }

    /// Closes the second that was running, and finds the one in which the last operation ended.
    #[cold]
    fn end_second(&mut self) {
        self.merge_second();
        let clock = self.shared.clock;
        self.second_number = clock.ns_between(self.start, self.end) / SECOND_NS;
        self.second_ends = clock.after(self.start, (self.second_number + 1) * SECOND_NS);
    }

    fn merge_second(&mut self) {
        for (total, second) in self.kinds.iter_mut().zip(&mut self.second) {
            if let Some(second) = second.as_mut().filter(|second| second.operations > 0) {
                self.shared.timeline.add(
                    self.second_number,
                    second.operations,
                    &second.service,
                    &second.response,
                );
                total.get_or_insert_default().add(second);
                second.clear();
            }
        }
    }

    fn finish(mut self) -> ThreadOutcome {
        if self.shared.drive.sampling > 1 {
            self.end = self.shared.clock.now();
        }
        self.merge_second();
        ThreadOutcome { kinds: self.kinds, record: self.record, start: self.start, end: self.end }
    }
}

impl KindTotals {
    #[inline]
    pub(super) fn count(&mut self, outcome: Outcome) {
        self.operations += 1;
        self.found += u64::from(outcome.found);
        self.missing += u64::from(outcome.missing);
    }

    fn clear(&mut self) {
        self.operations = 0;
        self.found = 0;
        self.missing = 0;
        self.service.clear();
        self.response.clear();
    }
}

fn wait_until(clock: &Clock, due: Stamp) {
    loop {
        let now = clock.now();
        if now >= due {
            return;
        }
        let left_ns = clock.ns_between(now, due);
        if left_ns > 2 * SPIN_NS {
            std::thread::sleep(Duration::from_nanos(left_ns - SPIN_NS));
        } else {
            std::hint::spin_loop();
        }
    }
}
