//! Implements the loop that executes and times operations. Each thread of a phase executes the operations of its
//! stream, and measures their latencies.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use measure::allocation::allocations;
use measure::{Clock, Histogram, Stamp, callgrind, probe};
use results::RunMode;
use workload::{
    AnswerCounts, AnswerDigests, Batch, Due, Extent, Kind, Performer, PhasePart, PhasePlan, Rate, Replay,
    Role, Stream, Target, TargetError,
};

use self::run_queue::RunQueueReading;
use self::shared_slice::SharedSlice;
use super::pace::{Pace, threads_with_an_end, wait_until};
use super::timeline::{Interval, Share, Timeline};
use super::turn::Turns;
use super::warm_up::Gate;

mod run_queue;
mod shared_slice;
mod slices;

/// The number of kinds of operations.
const KINDS: usize = Kind::ALL.len();

/// The settings of the loop that executes and times the operations of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive {
    /// The mode of the trial, which decides whether times are measured.
    pub(super) mode: RunMode,
    /// The sampling interval of latencies: one operation in `sampling` is timed.
    pub(super) sampling: u64,
    /// The sampling interval of answers: one answer in `check` is kept for the check after the phase. 0 means that no
    /// answer is kept.
    pub(super) check: u64,
    /// The length of an interval of the timeline, in nanoseconds.
    pub(super) interval_ns: u64,
    /// The rate at which operations start. Counted mode ignores the rate.
    pub(super) rate: Rate,
    /// Whether callgrind counts the instructions of the operations.
    pub(super) counts_instructions: bool,
}

/// The operations of a phase in one column family, with the store that executes them.
#[derive(Clone, Copy)]
pub(super) struct DrivePart<'a> {
    /// The store or the column family that executes the operations.
    pub(super) target: &'a dyn Target,
    pub(super) part: &'a PhasePart,
    /// The numbers of keys and versions that earlier phases have used in the column family.
    pub(super) from: Extent,
}

/// The results of the threads of a phase.
pub(super) struct Driven {
    /// For each kind of operation, the name of the kind and the totals of its operations. For a step on the store, the
    /// totals of the step.
    pub(super) operations: Vec<(&'static str, KindTotals)>,
    /// The totals of each role (a group of threads with a mix of its own), in the order of the phase. Empty for a phase
    /// without roles.
    pub(super) roles: Vec<RoleTotals>,
    /// The kept answers of each thread. The answers are checked after the phase.
    pub(super) records: Vec<AnswerDigests>,
    /// The time at which the first operation of the phase started.
    pub(super) start: Stamp,
    /// The time from the first start to the end of the last operation, in nanoseconds. `None` if time is not
    /// measured.
    pub(super) elapsed_ns: Option<u64>,
    /// The intervals of the timeline, with the operations and latencies of each interval.
    pub(super) intervals: Vec<Interval>,
    /// The time for which the threads that issue operations were ready to run but had no CPU, in nanoseconds. `None` if
    /// this time is unknown.
    pub(super) run_queue_ns: Option<u64>,
}

/// The results of all threads of a role, which is a group of threads with a mix of their own.
pub(super) struct RoleTotals {
    pub(super) name: String,
    /// For each kind of operation that the role executed, the name of the kind and the totals of its operations.
    pub(super) operations: Vec<(&'static str, KindTotals)>,
    pub(super) threads: u32,
    pub(super) rate: Rate,
    /// The time from the start of the phase's first operation to the end of the role's last operation, in
    /// nanoseconds. `None` if time is not measured.
    pub(super) elapsed_ns: Option<u64>,
}

/// The totals of the operations of one kind.
#[derive(Clone, Default)]
pub(super) struct KindTotals {
    /// The number of executed operations of this kind.
    pub(super) operations: u64,
    /// The number of requested keys that were found. Each key of a multi-get counts.
    pub(super) found: u64,
    /// The number of requested keys that were not found. Each key of a multi-get counts.
    pub(super) missing: u64,
    /// The number of memory allocations by the issuing threads during these operations.
    pub(super) allocations: u64,
    /// The service times of the timed operations, from the actual start to the end.
    pub(super) service: Histogram,
    /// The response times of the timed operations, from the intended start to the end. Empty in a closed loop.
    pub(super) response: Histogram,
}

impl KindTotals {
    /// Returns the totals of a single call of the store, such as a flush. `ns` is the duration of the call in
    /// nanoseconds, if time is measured.
    pub(super) fn one(ns: Option<u64>) -> Self {
        let mut totals = Self { operations: 1, ..Self::default() };
        ns.into_iter().for_each(|ns| totals.service.record(ns));
        totals
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.found += other.found;
        self.missing += other.missing;
        self.allocations += other.allocations;
        self.service.merge(&other.service);
        if other.response.count() > 0 {
            self.response.merge(&other.response);
        }
    }

    #[inline]
    fn count(&mut self, outcome: AnswerCounts, allocations: u64) {
        self.operations += 1;
        self.allocations += allocations;
        self.found += u64::from(outcome.found);
        self.missing += u64::from(outcome.missing);
    }

    fn clear(&mut self) {
        (self.operations, self.found, self.missing, self.allocations) = (0, 0, 0, 0);
        self.service.clear();
        if self.response.count() > 0 {
            self.response.clear();
        }
    }
}

/// The state that all threads of a phase share while they execute the phase.
struct Shared<'a> {
    clock: &'a Clock,
    drive: Drive,
    timeline: Timeline,
    /// The warm-up that precedes the measured operations. `None` for a phase without a warm-up.
    gate: Option<&'a dyn Gate>,
    /// The connection to the parent process, which starts the turns of this process. `None` if the process runs without
    /// pauses.
    turns: Option<&'a Turns>,
    slice: SharedSlice,
    phase: &'a PhasePlan,
    /// The number of finished operations of all threads, for the progress bar.
    done: &'a AtomicU64,
    /// Whether a thread has failed. The first thread that fails sets this flag, so that all other threads end, too.
    failed: AtomicBool,
    barrier: Barrier,
    threads: u32,
    /// The number of running threads that are not background threads. When this number is 0, the background threads
    /// end.
    unended: AtomicU32,
}

impl<'a> Shared<'a> {
    fn new(drive: Drive, phase: &'a PhasePlan, clock: &'a Clock, done: &'a AtomicU64) -> Self {
        let threads = phase.phase().threads;
        Self {
            clock,
            drive,
            timeline: Timeline::new(threads, drive.interval_ns),
            gate: None,
            turns: None,
            slice: SharedSlice::default(),
            phase,
            done,
            failed: AtomicBool::new(false),
            barrier: Barrier::new(threads as usize),
            threads,
            unended: AtomicU32::new(threads_with_an_end(phase.phase())),
        }
    }
}

impl Drive {
    /// Runs the operations of a phase on the stores of its column families. With a `gate`, the warm-up runs first. In a
    /// process that takes turns, the measured operations run in slices.
    pub(super) fn streams(
        self,
        parts: &[DrivePart<'_>],
        phase: &PhasePlan,
        clock: &Clock,
        done: &AtomicU64,
        (gate, turns): (Option<&dyn Gate>, Option<&Turns>),
    ) -> Result<Driven, TargetError> {
        let shared = Shared { gate, turns, ..Shared::new(self, phase, clock, done) };
        let mut streams: Vec<(u32, &dyn Target, Stream)> = Vec::new();
        for DrivePart { target, part, from } in parts {
            let numbered = part.threads.iter().zip(part.plan.performed_streams(*from));
            streams.extend(numbered.map(|(thread, stream)| (*thread, *target, stream)));
        }
        streams.sort_by_key(|(thread, ..)| *thread);
        let outcomes: Vec<Result<ThreadOutcome, TargetError>> = match streams.len() {
            1 => streams.into_iter().map(|stream| shared.stream(stream)).collect(),
            _ => std::thread::scope(|scope| {
                let threads: Vec<_> =
                    streams.into_iter().map(|stream| scope.spawn(|| shared.stream(stream))).collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            }),
        };
        let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(shared.combine(outcomes))
    }

    /// Runs the recorded operations of a replay in the calling thread. A replay uses exactly one store.
    pub(super) fn replay(
        self,
        parts: &[DrivePart<'_>],
        phase: &PhasePlan,
        mut replay: Replay<'_>,
        clock: &Clock,
        done: &AtomicU64,
    ) -> Result<Driven, TargetError> {
        let shared = Shared::new(self, phase, clock, done);
        let mut worker = Worker::new(&shared, 0, parts[0].target);
        worker.begin();
        while let Some(Due { request, due_ns }) = replay.next()? {
            worker.due_ns = due_ns;
            let mut answer = AnswerCounts::default();
            self.counting(|| {
                worker.operate(request.kind(), |performer, check| {
                    answer = performer.request(&request, check)?;
                    Ok(answer)
                })
            })?;
            replay.answer(answer);
            done.fetch_add(1, Ordering::Relaxed);
        }
        let outcome = worker.finish();
        Ok(shared.combine(vec![outcome]))
    }

    /// Calls `act`, which executes operations. If callgrind counts instructions, it counts only the instructions of
    /// this call, and only in this thread.
    #[inline]
    fn counting<T>(&self, act: impl FnOnce() -> T) -> T {
        if !self.counts_instructions {
            return act();
        }
        callgrind::toggle_collection();
        let done = act();
        callgrind::toggle_collection();
        done
    }
}

/// The results of one thread of a phase.
struct ThreadOutcome {
    kinds: [Option<Box<KindTotals>>; KINDS],
    record: AnswerDigests,
    start: Stamp,
    end: Stamp,
    run_queue_ns: Option<u64>,
}

impl ThreadOutcome {
    /// Moves the start time and the end time of the results back by `ns` nanoseconds, so that the results exclude the
    /// turns of other processes.
    fn earlier(self, clock: &Clock, ns: u64) -> Self {
        Self { start: clock.before(self.start, ns), end: clock.before(self.end, ns), ..self }
    }
}

impl Shared<'_> {
    fn combine(self, outcomes: Vec<ThreadOutcome>) -> Driven {
        let start = outcomes.iter().map(|o| o.start).min().expect("a phase must have at least one thread");
        let mut roles = Vec::new();
        let mut first = 0;
        for role in self.phase.phase().roles() {
            let own = &outcomes[first..first + role.threads as usize];
            roles.push(self.role(role, own, start));
            first += own.len();
        }
        let mut operations = totals(&outcomes);
        if !roles.is_empty() {
            // Some roles of a phase may be open loops, and others closed loops. Only the rows of roles therefore have
            // response times.
            operations.iter_mut().for_each(|(_, totals)| totals.response.clear());
        }
        let elapsed_ns = self.elapsed_ns(&outcomes, start);
        let run_queue_ns = outcomes.iter().map(|outcome| outcome.run_queue_ns).sum();
        let records = outcomes.into_iter().map(|outcome| outcome.record).collect();
        let intervals = self.timeline.into_intervals();
        Driven { operations, roles, records, start, elapsed_ns, intervals, run_queue_ns }
    }

    fn role(&self, role: &Role, outcomes: &[ThreadOutcome], start: Stamp) -> RoleTotals {
        let Role { name, threads, rate, .. } = role;
        let elapsed_ns = self.elapsed_ns(outcomes, start);
        let rate = if self.drive.mode == RunMode::Timed { *rate } else { Rate::Closed };
        RoleTotals { name: name.clone(), operations: totals(outcomes), threads: *threads, rate, elapsed_ns }
    }

    /// Returns the time from `start` to the end of the last operation of the given threads, in nanoseconds. `None` if
    /// time is not measured.
    fn elapsed_ns(&self, outcomes: &[ThreadOutcome], start: Stamp) -> Option<u64> {
        let end = outcomes.iter().map(|o| o.end).max().unwrap_or(start);
        (self.drive.mode == RunMode::Timed).then(|| self.clock.ns_between(start, end))
    }

    /// Runs the stream of one thread: first its warm-up, and then the measured part, until the stream ends or the time
    /// limit is reached. `thread` is the number of the thread in the phase.
    fn stream(
        &self,
        (thread, target, mut stream): (u32, &dyn Target, Stream),
    ) -> Result<ThreadOutcome, TargetError> {
        let mut worker = Worker::new(self, thread, target);
        let mut batch = Batch::default();
        let mut left = u64::MAX;
        if let Some(gate) = self.gate {
            self.lead(Turns::begin_call);
            let warmed = self.warm_up(gate, &mut worker, &mut stream);
            self.lead(|turns| turns.end_call(self.clock));
            self.pass(gate);
            warmed?;
            left = self.phase.operations_of(stream.thread()).unwrap_or(u64::MAX);
        }
        if let Some(turns) = self.turns {
            return self.slices(turns, worker, stream, left);
        }
        // The first batch is generated before the clock runs.
        let mut filled = fill(&mut stream, &mut batch, &mut left);
        self.barrier.wait();
        worker.begin();
        while filled > 0 && !self.failed.load(Ordering::Relaxed) {
            let went_on = self.drive.counting(|| worker.batch(&batch));
            let went_on = went_on.inspect_err(|_| self.failed.store(true, Ordering::Relaxed))?;
            self.done.fetch_add(filled as u64, Ordering::Relaxed);
            if !went_on {
                break;
            }
            filled = fill(&mut stream, &mut batch, &mut left);
        }
        if !worker.pace.is_background {
            self.unended.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(worker.finish())
    }

    /// Returns whether a background thread must end now: all other threads have ended, or a thread has failed.
    fn ends_background(&self) -> bool {
        self.unended.load(Ordering::Relaxed) == 0 || self.failed.load(Ordering::Relaxed)
    }

    /// Runs the warm-up operations of one thread, and discards their times. The answers of the warm-up are checked like
    /// all other answers.
    fn warm_up(
        &self,
        gate: &dyn Gate,
        worker: &mut Worker<'_>,
        stream: &mut Stream,
    ) -> Result<(), TargetError> {
        let mut batch = Batch::default();
        self.barrier.wait();
        worker.begin();
        worker.deadline = None;
        let mut done = 0;
        while !self.failed.load(Ordering::Relaxed) {
            let mut left = gate.left(done, stream.thread(), self.threads);
            let filled = fill(stream, &mut batch, &mut left);
            if filled == 0 {
                break;
            }
            worker.batch(&batch).inspect_err(|_| self.failed.store(true, Ordering::Relaxed))?;
            self.done.fetch_add(filled as u64, Ordering::Relaxed);
            done += filled as u64;
        }
        worker.forget();
        Ok(())
    }

    /// Waits until all threads have arrived, and calls `act` in one of them. Does nothing in a process that runs
    /// without turns.
    fn lead(&self, act: impl FnOnce(&Turns)) {
        let Some(turns) = self.turns else { return };
        if self.barrier.wait().is_leader() {
            act(turns);
        }
        self.barrier.wait();
    }

    /// Waits at the end of the warm-up until all threads have finished their warm-up operations. One thread then
    /// discards the measurements of the warm-up.
    fn pass(&self, gate: &dyn Gate) {
        if self.barrier.wait().is_leader() {
            self.timeline.begin_anew();
            gate.pass();
        }
        self.barrier.wait();
    }
}

/// Adds up the results of the given threads. Returns one entry for each kind of operation that these threads executed,
/// with the name of the kind.
fn totals(outcomes: &[ThreadOutcome]) -> Vec<(&'static str, KindTotals)> {
    let mut totals: Vec<KindTotals> = vec![KindTotals::default(); KINDS];
    for outcome in outcomes {
        for (total, kind) in totals.iter_mut().zip(&outcome.kinds) {
            kind.iter().for_each(|kind| total.add(kind));
        }
    }
    let named = Kind::ALL.into_iter().map(Kind::name).zip(totals);
    named.filter(|(_, total)| total.operations > 0).collect()
}

/// Generates the next batch of operations of a thread. `left` is the number of operations that the thread may still
/// execute. Returns the size of the batch, and reduces `left` by this size.
fn fill(stream: &mut Stream, batch: &mut Batch, left: &mut u64) -> usize {
    let filled = stream.fill(batch, (*left).min(Batch::OPERATIONS as u64) as usize);
    *left -= filled as u64;
    filled
}

/// The state of one thread in the timed loop, including its measurements.
struct Worker<'a> {
    shared: &'a Shared<'a>,
    thread: u32,
    pace: Pace,
    performer: Performer<'a>,
    record: AnswerDigests,
    /// The totals of each kind of operation in the current interval of the timeline. At the end of the interval, they
    /// are added to `kinds`, the totals of the phase.
    interval: [Option<Box<KindTotals>>; KINDS],
    kinds: [Option<Box<KindTotals>>; KINDS],
    start: Stamp,
    /// The end time of the last operation whose end was measured.
    end: Stamp,
    interval_ends: Stamp,
    interval_number: u64,
    until_timed: u64,
    issued: u64,
    deadline: Option<Stamp>,
    /// The time for which the thread had waited for a CPU before the current slice or phase began, in nanoseconds.
    run_queue_at_start_ns: Option<u64>,
    run_queue_ns: Option<u64>,
    /// The time at which the next operation of a replay must start, in nanoseconds after the start of the replay.
    /// `None` if the trace has no times.
    due_ns: Option<u64>,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>, thread: u32, target: &'a dyn Target) -> Self {
        let now = shared.clock.now();
        Self {
            shared,
            thread,
            pace: Pace::of(shared.phase.phase(), thread, (shared.drive.mode, shared.drive.rate)),
            performer: Performer::new(target),
            record: AnswerDigests::new(shared.drive.check),
            interval: [const { None }; KINDS],
            kinds: [const { None }; KINDS],
            start: now,
            end: now,
            interval_ends: now,
            interval_number: 0,
            until_timed: 0,
            issued: 0,
            deadline: None,
            run_queue_at_start_ns: None,
            run_queue_ns: Some(0),
            due_ns: None,
        }
    }

    /// Begins a slice: the part of a phase that the process executes in one turn. `waited_ns` is the time for which the
    /// process waited for its turn, in nanoseconds.
    fn resume(&mut self, waited_ns: u64) {
        let clock = self.shared.clock;
        self.run_queue_at_start_ns = probe::thread_run_queue_wait_ns();
        self.start = clock.after(self.start, waited_ns);
        self.interval_ends = clock.after(self.interval_ends, waited_ns);
    }

    fn begin(&mut self) {
        let clock = self.shared.clock;
        let reading = RunQueueReading::take(clock);
        (self.run_queue_at_start_ns, self.start) = (reading.waited_ns, reading.at);
        self.end = self.start;
        self.interval_ends = clock.after(self.start, self.shared.drive.interval_ns);
        self.deadline = self.pace.time_limit_ns.map(|ns| clock.after(self.start, ns));
    }

    /// Discards all measurements of the warm-up, but not the answers that are kept for the check.
    fn forget(&mut self) {
        self.kinds.iter_mut().chain(&mut self.interval).for_each(|kind| *kind = None);
        (self.interval_number, self.until_timed, self.issued) = (0, 0, 0);
        self.run_queue_ns = Some(0);
    }

    /// Runs the operations of a batch. Returns `false` if the thread must end. A thread ends at its time limit. A
    /// background thread also ends when all other threads have ended or when one has failed.
    fn batch(&mut self, batch: &Batch) -> Result<bool, TargetError> {
        for at in batch.heads() {
            let ends = || self.shared.ends_background();
            if self.pace.is_background
                && !self.pace.wait_in_background(self.issued, (self.shared.clock, self.start), ends)
            {
                return Ok(false);
            }
            let kind = batch.operations()[at].kind;
            self.operate(kind, |performer, check| performer.perform(batch, at, check))?;
            if self.deadline.is_some_and(|deadline| self.end >= deadline) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until the intended start of one operation, and executes the operation. Measures the time of the operation
    /// if the operation is among the sampled operations.
    #[inline]
    fn operate(
        &mut self,
        kind: Kind,
        act: impl FnOnce(&mut Performer<'a>, bool) -> Result<AnswerCounts, TargetError>,
    ) -> Result<(), TargetError> {
        let due = match self.pace.rate {
            _ if self.due_ns.is_some() && self.shared.drive.mode == RunMode::Timed => {
                self.wait_for_recorded()
            }
            Rate::Closed | Rate::Sustained(_) => None,
            Rate::Open { .. } => self.wait_for_turn(),
        };
        let check = self.record.wants();
        let allocated = allocations();
        let (outcome, allocated) = if self.is_timed() {
            let start = self.shared.clock.now();
            let outcome = act(&mut self.performer, check)?;
            self.end = self.shared.clock.now();
            let allocated = allocations() - allocated;
            self.note(kind, due, start);
            (outcome, allocated)
        } else {
            let outcome = act(&mut self.performer, check)?;
            if self.deadline.is_some() {
                self.end = self.shared.clock.now();
            }
            (outcome, allocations() - allocated)
        };
        self.interval[kind as usize].get_or_insert_default().count(outcome, allocated);
        self.record.done(|| self.performer.digest());
        Ok(())
    }

    /// Waits until the next operation of an open loop is due, and returns its intended start. In a closed loop, returns
    /// `None` at once.
    fn wait_for_turn(&mut self) -> Option<Stamp> {
        let clock = self.shared.clock;
        let due_ns = self.pace.due_ns(self.issued)?;
        self.issued += 1;
        let due = clock.after(self.start, due_ns);
        wait_until(clock, due);
        Some(due)
    }

    /// Waits until the recorded time of the next operation of a replay, and returns this time. Returns `None` at once
    /// if the trace has no times.
    fn wait_for_recorded(&mut self) -> Option<Stamp> {
        let due = self.shared.clock.after(self.start, self.due_ns.take()?);
        wait_until(self.shared.clock, due);
        Some(due)
    }

    /// Returns whether the next operation is one of the sampled operations, whose time is measured. In counted mode, no
    /// operation is sampled.
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

    /// Records the latencies of the last operation, which started at `start`. In an open loop, `due` is the intended
    /// start of the operation.
    #[inline]
    fn note(&mut self, kind: Kind, due: Option<Stamp>, start: Stamp) {
        if self.end >= self.interval_ends {
            self.end_interval();
        }
        let clock = self.shared.clock;
        let totals = self.interval[kind as usize].get_or_insert_default();
        totals.service.record(clock.ns_between(start, self.end));
        if let Some(due) = due {
            totals.response.record(clock.ns_between(due, self.end));
        }
    }

    /// Ends the current interval of the timeline. The next interval is the one in which the last operation ended.
    #[cold]
    fn end_interval(&mut self) {
        let Shared { clock, drive: Drive { interval_ns, .. }, .. } = *self.shared;
        let next = clock.ns_between(self.start, self.end) / interval_ns;
        self.merge_interval(Some(next));
        self.interval_number = next;
        self.interval_ends = clock.after(self.start, (next + 1) * interval_ns);
    }

    fn merge_interval(&mut self, next: Option<u64>) {
        let done = self.interval.iter().flatten().filter(|kind| kind.operations > 0);
        let shares = done.map(|kind| Share {
            operations: kind.operations,
            service: &kind.service,
            response: &kind.response,
        });
        if self.shared.drive.mode == RunMode::Timed {
            self.shared.timeline.add(self.thread, self.interval_number, shares, next);
        }
        for (total, kind) in self.kinds.iter_mut().zip(&mut self.interval) {
            if let Some(kind) = kind.as_mut().filter(|kind| kind.operations > 0) {
                total.get_or_insert_default().add(kind);
                kind.clear();
            }
        }
    }

    /// Records the current time as the end of the slice or phase, unless the end of the last operation was timed.
    fn end_slice(&mut self) {
        if self.shared.drive.sampling > 1 {
            self.end = self.shared.clock.now();
        }
    }

    /// Adds the time for which the thread waited for a CPU in this slice to the total of the thread. Returns this time
    /// in nanoseconds, or 0 if it is unknown.
    fn leave_cpu(&mut self) -> u64 {
        let now = probe::thread_run_queue_wait_ns();
        let waited = now.zip(self.run_queue_at_start_ns).map(|(now, before)| now.saturating_sub(before));
        self.add_waits(waited);
        waited.unwrap_or(0)
    }

    fn add_waits(&mut self, waited_ns: Option<u64>) {
        self.run_queue_ns = self.run_queue_ns.zip(waited_ns).map(|(sum, waited)| sum + waited);
    }

    fn finish(mut self) -> ThreadOutcome {
        self.end_slice();
        let clock = self.shared.clock;
        let waits = RunQueueReading::take(clock).waits(self.run_queue_at_start_ns, self.end, clock);
        self.add_waits(waits);
        self.into_outcome()
    }

    fn into_outcome(mut self) -> ThreadOutcome {
        self.merge_interval(None);
        let Self { kinds, record, start, end, run_queue_ns, .. } = self;
        ThreadOutcome { kinds, record, start, end, run_queue_ns }
    }
}
