//! The bench: the part of a component experiment that measures times and checks answers. The bench has the only
//! clock, checks the answers of the component, and collects the results of each phase.
//!
//! A single call of a few nanoseconds cannot be timed, because reading the clock takes longer. Operations are therefore
//! timed in slices. A slice is a number of operations between two clock readings. The bench prepares the data of a
//! slice before the first clock reading, and checks the answers after the second clock reading. Every few slices, the
//! bench also times the loop of a slice without the component. The results contain this time in a separate column, and
//! no time is subtracted.

use std::ops::Range;
use std::path::Path;
use std::sync::Barrier;

use measure::probe::rss_peak_bytes;
use measure::{Clock, Stamp};
use results::{Measurements, Metric, RunMode, columns as c};
use tree::Design;

use crate::fault::Fault;

/// The bench times the loop without the component once in this number of slices. A slice is a group of operations that
/// are timed together.
const IDLE_STRIDE: u64 = 8;

/// The maximum number of wrong answers that the results of a phase describe. All further wrong answers are only
/// counted.
const MOST_EXAMPLES: usize = 3;

/// The smallest and the largest number of builds that measure the build time of a component. After the smallest number,
/// building ends when the builds have taken [`BUILD_NS`] in total.
const BUILDS: Range<usize> = 3..25;
const BUILD_NS: u64 = 50_000_000;

/// The measuring part of a component trial, with the settings of the trial.
pub struct Bench<'a> {
    /// The design of the trial. Most of its keys have no effect, because the trial tests one component without a tree.
    pub design: &'a Design,
    /// The seed for all random numbers of the trial.
    pub seed: u64,
    /// The folder at which relative paths in parameters start.
    pub base: &'a Path,
    /// An empty folder for the files of the trial. The folder is removed after the trial.
    pub directory: &'a Path,
    mode: RunMode,
    clock: Clock,
    /// A function that the bench calls at the start of each phase, with the number of the phase.
    tell: &'a dyn Fn(usize),
    phases: Vec<PhaseResult>,
    /// The measured values that apply to all phases of the trial, such as the size of the component.
    common: Measurements,
}

/// The results of one phase of a component trial.
#[derive(Debug, Default)]
pub struct PhaseResult {
    /// The name of the phase.
    pub name: &'static str,
    /// The measured values of the phase, by column of the results.
    pub cells: Measurements,
    /// The numbers of checked and wrong answers of the phase.
    pub answers: Answers,
}

/// The numbers of checked and wrong answers of the tested component.
#[derive(Debug, Default)]
pub struct Answers {
    /// Number of answers of the component that were checked.
    pub checked: u64,
    /// Number of answers of the component that were wrong.
    pub wrong: u64,
    /// Descriptions of the first wrong answers of the component.
    pub examples: Vec<String>,
}

/// The number of operations of a phase, and their times in a timed run. If builds of a component are timed, an
/// operation is one entry, and a slice is one build.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// Number of completed operations of the phase.
    pub operations: u64,
    threads: u32,
    /// The wall time from the first to the last operation, in nanoseconds. With one thread or for builds, this is the
    /// sum of the times of all slices.
    elapsed_ns: Option<u64>,
    /// The sum of the times of all slices of all threads, in nanoseconds.
    busy_ns: u64,
    /// The time per operation in each slice, in nanoseconds. A slice is a number of operations that are timed together.
    slices: Vec<f64>,
    /// The times of the loop without calls of the component, one value per measurement, in nanoseconds per operation.
    idle: Vec<f64>,
}

/// A slice that is being measured. A slice is a number of operations that are timed together.
pub struct BenchSlice<'a> {
    clock: Option<&'a Clock>,
    is_idle_wanted: bool,
    operations: usize,
    elapsed_ns: Option<u64>,
    idle_ns: Option<u64>,
    /// The numbers of checked and wrong answers of the phase so far, to which the checks of this slice are added.
    pub answers: &'a mut Answers,
}

impl Answers {
    /// Records whether an answer of the component is correct. `describe` returns the description of a wrong answer.
    pub fn expect(&mut self, is_right: bool, describe: impl FnOnce() -> String) {
        self.checked += 1;
        if !is_right {
            self.wrong += 1;
            if self.examples.len() < MOST_EXAMPLES {
                self.examples.push(describe());
            }
        }
    }
}

impl BenchSlice<'_> {
    /// Runs and times the operations of the slice.
    pub fn time(&mut self, work: impl FnOnce()) {
        self.elapsed_ns = timed(self.clock, work);
    }

    /// Times the loop of a slice without calls of the component, but only in every eighth slice of a timed run. In
    /// other slices and in counted mode, `work` does not run.
    pub fn idle(&mut self, work: impl FnOnce()) {
        if self.is_idle_wanted {
            self.idle_ns = timed(self.clock, work);
        }
    }

    fn per_operation(&self, ns: u64) -> f64 {
        ns as f64 / self.operations.max(1) as f64
    }
}

fn timed(clock: Option<&Clock>, work: impl FnOnce()) -> Option<u64> {
    let start = clock.map(Clock::now);
    work();
    clock.zip(start).map(|(clock, start)| clock.ns_between(start, clock.now()))
}

impl<'a> Bench<'a> {
    /// Creates a bench for a run mode (timed or counted). The bench calls `tell` at the start of each phase, with the
    /// number of the phase.
    pub fn new(
        design: &'a Design,
        (seed, mode): (u64, RunMode),
        (base, directory): (&'a Path, &'a Path),
        tell: &'a dyn Fn(usize),
    ) -> Self {
        let (phases, common) = (Vec::new(), Measurements::default());
        Self { design, seed, base, directory, mode, clock: Clock::new(), tell, phases, common }
    }

    /// Returns the results that apply to all phases, so that the caller can add sizes in bytes, the build time, and
    /// theoretical values.
    pub fn about(&mut self) -> &mut Measurements {
        &mut self.common
    }

    /// Begins the phase with the name `name`, and returns its empty result.
    pub fn begin(&mut self, name: &'static str) -> PhaseResult {
        (self.tell)(self.phases.len());
        PhaseResult { name, ..PhaseResult::default() }
    }

    /// Ends a phase, and adds its measurements to the results.
    pub fn end(&mut self, mut phase: PhaseResult) {
        if self.mode == RunMode::Timed {
            phase.cells.set_some(&c::RSS_PEAK_BYTES, rss_peak_bytes());
        }
        self.phases.push(phase);
    }

    /// Returns the results of all phases of the trial.
    pub fn into_phases(self) -> Vec<PhaseResult> {
        let Self { mut phases, common, .. } = self;
        phases.iter_mut().for_each(|phase| phase.cells.extend(common.clone()));
        phases
    }

    fn clock(&self) -> Option<&Clock> {
        (self.mode == RunMode::Timed).then_some(&self.clock)
    }

    /// Runs `operations` operations in one thread, in slices of `length` operations. Stops early when the timed parts
    /// of the slices have taken `limit_ns` nanoseconds in total. A call of `slice` receives a number of operations, and
    /// prepares, times and checks these operations.
    ///
    /// # Errors
    /// The first error of a slice.
    pub fn slices(
        &self,
        (operations, length, limit_ns): (u64, usize, u64),
        answers: &mut Answers,
        mut slice: impl FnMut(usize, &mut BenchSlice<'_>) -> Result<(), Fault>,
    ) -> Result<Timing, Fault> {
        let mut timing = Timing { threads: 1, elapsed_ns: self.clock().map(|_| 0), ..Timing::default() };
        let mut number = 0;
        while timing.operations < operations && timing.busy_ns < limit_ns {
            let count = usize::try_from(operations - timing.operations).unwrap_or(length).min(length);
            let is_idle_wanted = self.clock().is_some() && number % IDLE_STRIDE == 0;
            let (clock, operations, answers) = (self.clock(), count, &mut *answers);
            let mut one =
                BenchSlice { clock, is_idle_wanted, operations, elapsed_ns: None, idle_ns: None, answers };
            slice(count, &mut one)?;
            timing.slices.extend(one.elapsed_ns.map(|ns| one.per_operation(ns)));
            timing.idle.extend(one.idle_ns.map(|ns| one.per_operation(ns)));
            let ns = one.elapsed_ns.unwrap_or(0);
            timing.busy_ns += ns;
            timing.elapsed_ns = timing.elapsed_ns.map(|elapsed| elapsed + ns);
            timing.operations += count as u64;
            number += 1;
        }
        Ok(timing)
    }

    /// Runs `operations` operations in several threads at the same time. `worker` creates one function per thread, and
    /// each call of this function executes one slice of operations. A thread stops early when its slices have taken
    /// `limit_ns` nanoseconds in total.
    pub fn together<W: FnMut(Range<usize>) + Send>(
        &self,
        threads: u32,
        (operations, length, limit_ns): (u64, usize, u64),
        worker: impl Fn(u32) -> W + Sync,
    ) -> Timing {
        let (barrier, clock) = (Barrier::new(threads as usize), self.clock());
        let work = |thread: u32| {
            let share = share_of(operations as usize, thread, threads);
            let mut run = worker(thread);
            barrier.wait();
            let mut part = Part::begin(clock);
            let mut next = share.start;
            while next < share.end && part.busy_ns < limit_ns {
                let end = (next + length).min(share.end);
                let ns = timed(clock, || run(next..end)).unwrap_or(0);
                part.slices.push(ns as f64 / (end - next) as f64);
                part.busy_ns += ns;
                next = end;
            }
            part.operations = (next - share.start) as u64;
            part.end = clock.map(Clock::now);
            part
        };
        let parts: Vec<Part> = std::thread::scope(|scope| {
            let work = &work;
            let others: Vec<_> = (1..threads).map(|thread| scope.spawn(move || work(thread))).collect();
            let own = work(0);
            let joined = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            std::iter::once(own).chain(joined).collect()
        });
        self.sum_up(threads, parts)
    }

    fn sum_up(&self, threads: u32, parts: Vec<Part>) -> Timing {
        let start = parts.iter().filter_map(|part| part.start).min();
        let end = parts.iter().filter_map(|part| part.end).max();
        let wall_ns = start.zip(end).map(|(start, end)| self.clock.ns_between(start, end));
        let mut timing = Timing { threads, ..Timing::default() };
        for part in parts {
            timing.operations += part.operations;
            timing.busy_ns += part.busy_ns;
            timing.slices.extend(part.slices);
        }
        timing.elapsed_ns = wall_ns.map(|wall| if threads == 1 { timing.busy_ns } else { wall });
        if self.clock().is_none() {
            timing.slices.clear();
        }
        timing
    }

    /// Times `work`, which is a loop of `operations` operations without calls of the component. Returns the time per
    /// operation in nanoseconds, or `None` in counted mode.
    pub fn idle(&self, operations: usize, work: impl FnOnce()) -> Option<f64> {
        timed(self.clock(), work).map(|ns| ns as f64 / operations.max(1) as f64)
    }

    /// Builds a structure of `entries` entries several times. Returns the last structure, and the timing of all builds.
    ///
    /// # Errors
    /// Returns the error of a failed build.
    ///
    /// # Panics
    /// Never panics, because the bench always runs the closure that builds the structure.
    pub fn build<T>(
        &self,
        entries: u64,
        mut build: impl FnMut() -> Result<T, Fault>,
    ) -> Result<(T, Timing), Fault> {
        self.rounds(1, entries, || {
            let mut product = None;
            let ns = timed(self.clock(), || product = Some(build()));
            Ok((product.expect("`timed` must call its closure, which builds the component")?, ns))
        })
    }

    /// Builds a structure of `entries` entries several times with several threads. Returns the last structure, and the
    /// timing of all builds. `begin` creates the empty structure, and then each thread runs `work` on its part of the
    /// entries. The measured time includes only `work`.
    ///
    /// # Errors
    /// Returns the error of `begin`.
    pub fn build_together<T: Sync>(
        &self,
        threads: u32,
        entries: u64,
        mut begin: impl FnMut() -> Result<T, Fault>,
        work: impl Fn(&T, Range<usize>) + Sync,
    ) -> Result<(T, Timing), Fault> {
        self.rounds(threads, entries, || {
            let product = begin()?;
            let plan = (entries, entries as usize, u64::MAX);
            let part = self.together(threads, plan, |_| |range: Range<usize>| work(&product, range));
            Ok((product, part.elapsed_ns))
        })
    }

    /// Repeats the build of a component, and returns the last build with the timing of all builds. Each call of `round`
    /// builds the component once, and returns the build time in nanoseconds. In counted mode, the build runs once.
    fn rounds<T>(
        &self,
        threads: u32,
        entries: u64,
        mut round: impl FnMut() -> Result<(T, Option<u64>), Fault>,
    ) -> Result<(T, Timing), Fault> {
        let mut timing = Timing { threads, elapsed_ns: self.clock().map(|_| 0), ..Timing::default() };
        loop {
            let (product, ns) = round()?;
            timing.operations += entries;
            let Some(ns) = ns.filter(|_| self.clock().is_some()) else { return Ok((product, timing)) };
            timing.busy_ns += ns;
            timing.elapsed_ns = Some(timing.busy_ns);
            timing.slices.push(ns as f64 / entries.max(1) as f64);
            let builds = timing.slices.len();
            if (builds >= BUILDS.start && timing.busy_ns >= BUILD_NS) || builds >= BUILDS.end {
                return Ok((product, timing));
            }
        }
    }
}

/// The number of operations that one thread executed in a phase, and their times.
struct Part {
    operations: u64,
    busy_ns: u64,
    slices: Vec<f64>,
    start: Option<Stamp>,
    end: Option<Stamp>,
}

impl Part {
    fn begin(clock: Option<&Clock>) -> Self {
        Self { operations: 0, busy_ns: 0, slices: Vec::new(), start: clock.map(Clock::now), end: None }
    }
}

/// Divides `count` items among `threads` threads, and returns the range of items of the thread `thread`. The sizes of
/// the ranges differ by at most 1.
pub(crate) fn share_of(count: usize, thread: u32, threads: u32) -> Range<usize> {
    let at = |thread: u32| (count as u128 * u128::from(thread) / u128::from(threads)) as usize;
    at(thread)..at(thread + 1)
}

impl Timing {
    /// Returns the median time per operation of all slices, in nanoseconds. Returns `None` if no slice was timed.
    pub fn typical_ns(&self) -> Option<f64> {
        median(&self.slices)
    }

    /// Adds a separately measured time of the loop without the component, in nanoseconds per operation. Does nothing if
    /// the time is `None`.
    #[must_use]
    pub fn with_idle(mut self, idle_ns: Option<f64>) -> Self {
        self.idle.extend(idle_ns);
        self
    }

    /// Sets the columns of the results that contain the number of operations and their times.
    pub fn write(&self, cells: &mut Measurements) {
        cells.set(&c::OPS, self.operations).set(&c::THREADS, u64::from(self.threads));
        let Some(ns) = self.elapsed_ns.filter(|ns| *ns > 0 && self.operations > 0) else { return };
        let operations = self.operations as f64;
        cells.set(&c::SECONDS, ns as f64 / 1e9).set(&c::OPS_PER_SECOND, operations * 1e9 / ns as f64);
        cells.set(&c::MEAN_NS, self.busy_ns as f64 / operations);
        cells.set_some(&c::P50_SLICE_NS, self.typical_ns());
        cells.set_some(&c::LOOP_NS, median(&self.idle));
    }

    /// Sets the column `megabytes_per_second` of the results. `bytes` is the number of bytes that each operation
    /// processes.
    pub fn write_speed(&self, bytes: f64, cells: &mut Measurements) {
        cells.set_some(&c::MEGABYTES_PER_SECOND, self.typical_ns().map(|ns| bytes * 1e3 / ns));
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The column of the results by which a verdict compares the times of components.
pub(crate) const TIME: &Metric = &c::P50_SLICE_NS;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn bench(mode: RunMode, check: impl FnOnce(&mut Bench<'_>)) {
        let (design, here) = (Design::default(), Path::new("."));
        check(&mut Bench::new(&design, (1, mode), (here, here), &|_| {}));
    }

    #[test]
    fn slices_are_timed_and_checked_and_the_empty_loop_is_known() {
        bench(RunMode::Timed, |bench| {
            let mut phase = bench.begin("x");
            let timing = bench.slices((2_500, 1_000, u64::MAX), &mut phase.answers, |count, slice| {
                slice.time(|| std::thread::sleep(std::time::Duration::from_micros(count as u64)));
                slice.idle(|| {});
                (0..count).for_each(|at| slice.answers.expect(at != 7, || format!("number {at}")));
                Ok(())
            });
            let timing = timing.unwrap();
            assert_eq!((timing.operations, timing.slices.len(), timing.idle.len()), (2_500, 3, 1));
            assert!(timing.typical_ns().unwrap() >= 1_000.0);
            assert_eq!((phase.answers.checked, phase.answers.wrong), (2_500, 3));
            assert_eq!(phase.answers.examples, ["number 7"; 3]);
            timing.write(&mut phase.cells);
            let names: Vec<&str> = phase.cells.iter().map(|(metric, _)| metric.name).collect();
            assert!(names.contains(&"mean_ns") && names.contains(&"loop_ns"), "{names:?}");
        });
    }

    #[test]
    fn without_a_clock_there_are_operations_and_no_times() {
        bench(RunMode::Counted, |bench| {
            let mut phase = bench.begin("x");
            let mut done = 0;
            let timing = bench.slices((100, 30, 0), &mut phase.answers, |count, slice| {
                slice.time(|| done += count);
                slice.idle(|| panic!("nobody asks what it costs"));
                Ok(())
            });
            assert_eq!(timing.unwrap(), Timing::default().with_threads());
            let timing = bench.slices((100, 30, 1), &mut phase.answers, |count, slice| {
                slice.time(|| done += count);
                Ok(())
            });
            timing.unwrap().write(&mut phase.cells);
            assert_eq!(done, 100);
            let names: Vec<&str> = phase.cells.iter().map(|(metric, _)| metric.name).collect();
            assert_eq!(names, ["ops", "threads"]);
            let (built, timing) = bench.build(10, || Ok(3)).unwrap();
            assert_eq!((built, timing.operations, timing.typical_ns()), (3, 10, None));
        });
    }

    impl Timing {
        fn with_threads(mut self) -> Self {
            self.threads = 1;
            self
        }
    }

    #[test]
    fn threads_share_the_operations_and_each_is_done_once() {
        let parts: Vec<Range<usize>> = (0..3).map(|thread| share_of(10, thread, 3)).collect();
        assert_eq!(parts, [0..3, 3..6, 6..10]);
        bench(RunMode::Timed, |bench| {
            for threads in [1, 3] {
                let sum = AtomicU64::new(0);
                let timing = bench.together(threads, (1_000, 64, u64::MAX), |_| {
                    |range: Range<usize>| {
                        sum.fetch_add(range.map(|at| at as u64).sum(), Ordering::Relaxed);
                    }
                });
                assert_eq!((timing.operations, timing.threads), (1_000, threads));
                assert_eq!(sum.into_inner(), 499_500);
                assert!(timing.elapsed_ns.is_some());
            }
            let begin = || Ok(AtomicU64::new(0));
            let add = |sum: &AtomicU64, range: Range<usize>| {
                sum.fetch_add(range.map(|at| at as u64).sum(), Ordering::Relaxed);
            };
            let (sum, timing) = bench.build_together(3, 1_000, begin, add).unwrap();
            assert_eq!((sum.into_inner(), timing.threads), (499_500, 3));
            assert!(timing.operations >= 3_000 && timing.typical_ns().unwrap() > 0.0);
            let timing = bench.together(2, (1_000, 1, 0), |_| |_: Range<usize>| {});
            assert_eq!(timing.operations, 0, "the time is over before it begins");
        });
    }
}
