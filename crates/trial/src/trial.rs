//! Runs one trial of one configuration in a separate process. A trial opens a store, runs the phases, checks the
//! answers, and reports the results.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use catalog::Limit;
use engines::{CATALOG, FamilyTarget, OpenStore, Opening};
use measure::{Clock, Stamp, probe};
use results::{Folder, Group, RunMode, StreamRecord};
use subject::Task;
use tree::{Design, Mode};
use workload::{
    AnswerDigests, Extent, PhasePlan, Probed, Profile, Rate, StoreStep, Sustained, Target, Work, Workload,
    WorkloadPlan,
};

use super::disk_watch::DiskWatch;
use super::drive::{Drive, DrivePart, Driven};
use super::failure::TrialResult;
use super::forecast::Forecast;
use super::key_spaces::KeySpaces;
use super::measured::{Measured, Settled};
use super::message::{FixtureStep, Message, Recorded, Step, TrialReport, TrialSpec, Turn, TurnSpec};
use super::observer::Observer;
use super::report::{PhaseReport, PhaseRows};
use super::step::{StepContext, Taken};
use super::store_state::StoreState;
use super::timeline::Sample;
use super::trace_recorder::TraceRecorder;
use super::truth::Checked;
use super::turn::Turns;
use super::usage::Meter;
use super::warm_up::{Begun, Gate, WarmingUp};
use super::{caches, free_memory, lifeline, profile, turn};

/// The time between two progress messages to the parent process.
const PROGRESS_PERIOD: Duration = Duration::from_millis(100);

/// The error message about a phase that cannot be recorded, because its roles have different column families.
const RECORDED_FAMILIES: &str =
    "the phase uses several column families, but a trace has only one; record a phase with one family";

/// The main function of the trial process. The function reads the specification from the first line of standard input,
/// writes messages to standard output, and exits when standard input ends. Returns whether the trial was completed.
pub fn run_trial_process() -> bool {
    let outcome = lifeline::take_orders_and_turns().and_then(|(spec, turns): (TrialSpec, _)| {
        let done = match spec.configuration.task.clone() {
            Task::Workload(workload) => run_on_store(spec, &workload, turns),
            Task::Component(component) => super::component::run(&spec, &component, send),
        };
        done.map_err(|error| error.to_string())
    });
    let done = outcome.is_ok();
    send(&outcome.map_or_else(Message::Failed, Message::Done));
    done
}

fn send(message: &Message) {
    let line = serde_json::to_string(message)
        .expect("a message to the parent process must contain only types that serialize to JSON");
    let mut out = std::io::stdout().lock();
    // A parent that has exited does not need the message.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn run_on_store(spec: TrialSpec, workload: &Workload, turns: Receiver<Turn>) -> TrialResult<TrialReport> {
    if let Some(TurnSpec { core }) = spec.turns {
        die_with_the_parent()?;
        core.map_or(Ok(()), pin)?;
    }
    let turns = spec.turns.map(|_| Turns::new(turns, send));
    let meter = Meter::begin(spec.mode);
    let engine = CATALOG.build(&spec.configuration.engine)?;
    let store = OpenStore::open(engine, opening(&spec))?;
    let trial = Trial::new(spec, workload, store, meter, send)?;
    Trial { turns, ..trial }.run()
}

/// Asks the kernel to kill this process when its parent process ends. This is necessary because a paused process does
/// not notice the end of its standard input.
#[cfg(target_os = "linux")]
fn die_with_the_parent() -> TrialResult<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

/// Does nothing, because lsmbench cannot make this kernel kill a process when its parent ends. `lsmbench doctor`
/// reports this as [`types::PlatformPart::EndWithParent`].
#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the function must return a result, because its variant for Linux can fail"
)]
fn die_with_the_parent() -> TrialResult<()> {
    Ok(())
}

/// Binds this process to the CPU core `core`. Must be called before the process starts other threads, because new
/// threads inherit the binding.
#[cfg(target_os = "linux")]
fn pin(core: usize) -> TrialResult<()> {
    let mut cores = rustix::thread::CpuSet::new();
    cores.set(core);
    let pinned = rustix::thread::sched_setaffinity(None, &cores);
    Ok(pinned.map_err(|error| format!("cannot bind the process to CPU core {core}: {error}"))?)
}

/// Returns an error, because this kernel cannot bind a process to a core.
#[cfg(not(target_os = "linux"))]
fn pin(_: usize) -> TrialResult<()> {
    Err(types::PlatformPart::CoreBinding.missing().to_string().into())
}

/// Converts the mode of a trial (timed or counted) to the mode of the tree.
fn tree_mode(mode: RunMode) -> Mode {
    match mode {
        RunMode::Timed => Mode::Timed,
        RunMode::Counted => Mode::Counted,
    }
}

/// Returns the options for opening the store of a trial, such as the folder, the design and the clock.
fn opening(spec: &TrialSpec) -> Opening {
    // The store of a fixture gets the seed as its identity. Each build of a fixture then writes equal bytes, if the
    // mode allows it.
    let identity = matches!(spec.fixture, Some(FixtureStep::Build { .. })).then_some(spec.seed);
    let opening = Opening::new(&spec.directory, &spec.configuration.design);
    Opening { mode: tree_mode(spec.mode), clock: monotonic_ns, identity, ..opening }
}

/// Returns the time of the monotonic clock in nanoseconds. The tree measures the stall times of writers with this
/// clock.
fn monotonic_ns() -> u64 {
    static ORIGIN: OnceLock<(Clock, Stamp)> = OnceLock::new();
    let (clock, origin) = ORIGIN.get_or_init(|| {
        let clock = Clock::new();
        let now = clock.now();
        (clock, now)
    });
    clock.ns_between(*origin, turn::now(clock))
}

/// A running trial: the plan of its workload, its settings, and the results so far.
struct Trial {
    spec: TrialSpec,
    plan: WorkloadPlan,
    store: OpenStore,
    clock: Clock,
    meter: Meter,
    design: Design,
    /// Whether the store has files on a file system.
    is_stored: bool,
    spaces: KeySpaces,
    /// The state of the store at the start of the next phase, such as written or flushed.
    state: StoreState,
    forecast: Forecast,
    phases: Vec<PhaseRows>,
    streams: Vec<StreamRecord>,
    /// A description of each wrong answer of the store so far.
    wrong: Vec<String>,
    /// The number of operations that each thread executed in each phase so far.
    done: Vec<Vec<u64>>,
    /// A function that sends a message to the parent process.
    tell: fn(&Message),
    /// The connection to the parent process, which starts the turns of this process. `None` if the process runs without
    /// pauses.
    turns: Option<Turns>,
    /// The outcome of the recording of a phase as a trace. The outcome is set at the end of the recorded phase.
    recorded: OnceLock<Recorded>,
    /// The latest and the largest measured disk space of the store.
    disk: DiskWatch,
}

impl Trial {
    fn new(
        spec: TrialSpec,
        workload: &Workload,
        store: OpenStore,
        meter: Meter,
        tell: fn(&Message),
    ) -> TrialResult<Self> {
        let plan = WorkloadPlan::new(workload, spec.seed, &spec.base)?;
        let design = spec.configuration.design.clone();
        let limits = store.engine().limits(&design);
        let is_stored = !limits.contains(&Limit::NotDurable);
        let spaces = KeySpaces::new(&plan, &design, &store);
        let forecast = Forecast::new(design.clone(), plan.format());
        let clock = Clock::new();
        let (phases, streams, wrong, done) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            spec,
            plan,
            store,
            clock,
            meter,
            design,
            is_stored,
            spaces,
            state: StoreState::default(),
            forecast,
            phases,
            streams,
            wrong,
            done,
            tell,
            turns: None,
            recorded: OnceLock::new(),
            disk: DiskWatch::default(),
        })
    }

    fn run(mut self) -> TrialResult<TrialReport> {
        let phases = self.plan.phases().to_vec();
        self.stand_on_fixture(&phases)?;
        let (first, last) = match &self.spec.fixture {
            None => (0, phases.len()),
            Some(FixtureStep::Build { phases }) => (0, *phases),
            Some(FixtureStep::Stands { done }) => (done.len(), phases.len()),
        };
        let last = match self.final_phase(&phases) {
            Some(phase) => last.min(phase + 1),
            None => last,
        };
        for (number, phase) in phases.iter().enumerate().take(last).skip(first) {
            if let Some(step) = phase.step() {
                self = self.step(number, phase, step)?;
                continue;
            }
            let unseen = self.spaces.begin(phase, &self.store)?;
            self.blame(unseen);
            let cache = phase.phase().before.cache;
            self.store = caches::set(cache, self.store, self.spaces.families(), &self.spec.directory)?;
            self.state.prepare(cache);
            match (self.spec.mode, phase.phase().rate) {
                // If no time is measured, no operation waits for its start.
                (RunMode::Counted, _) => drop(self.once(number, phase, Rate::Closed)?),
                (RunMode::Timed, Rate::Sustained(search)) => self.search(number, phase, search)?,
                (RunMode::Timed, rate) => drop(self.once(number, phase, rate)?),
            }
        }
        let unseen = self.spaces.verify(|family| self.store.family(family))?;
        self.blame(unseen);
        if let Some(FixtureStep::Build { .. }) = self.spec.fixture {
            // All data is in SSTables, so a clone is complete in any mode of the WAL.
            self.store.target().flush()?;
            self.store.target().settle()?;
        }
        self.conclude()
    }

    /// Returns the index of the phase that is recorded or observed, which is the last phase to run. `None` if the trial
    /// runs all phases.
    fn final_phase(&self, phases: &[Arc<PhasePlan>]) -> Option<usize> {
        let recorded = self.spec.recording.as_ref().map(|recording| &recording.phase);
        let name = recorded.or(self.spec.observed.as_ref().map(|observed| &observed.phase))?;
        phases.iter().position(|phase| phase.phase().name == *name)
    }

    /// Applies the writes of the fixture's phases to the expected content. The trial skips these phases, because it
    /// starts from a copy of the fixture, which is a saved store.
    fn stand_on_fixture(&mut self, phases: &[Arc<PhasePlan>]) -> TrialResult<()> {
        let Some(FixtureStep::Stands { done }) = &self.spec.fixture else { return Ok(()) };
        for (phase, done) in phases.iter().zip(done) {
            self.forecast.pass(phase.phase());
            self.state.pass(phase.phase(), true);
            if phase.step().is_some() {
                continue;
            }
            let records: Vec<AnswerDigests> =
                done.iter().map(|operations| AnswerDigests::unkept(*operations)).collect();
            self.spaces.check(phase, &records)?;
        }
        self.state.reopen_flushed();
        Ok(())
    }

    /// Runs a phase at one rate and checks its answers. Returns the measured values that a rate search compares with
    /// its limits.
    fn once(&mut self, number: usize, phase: &Arc<PhasePlan>, rate: Rate) -> TrialResult<Probed> {
        let measured = self.measure(number, phase, rate)?;
        self.done.push(measured.driven.records.iter().map(AnswerDigests::operations).collect());
        (self.tell)(&Message::Progress(Step { phase: number, share: 1.0, checking: true }));
        self.judge(phase, &measured)?;
        Ok(measured.probed())
    }

    /// Executes a phase that is a step on the store. A step writes no keys, so the expected content stays unchanged.
    fn step(mut self, number: usize, phase: &Arc<PhasePlan>, step: StoreStep) -> TrialResult<Self> {
        (self.tell)(&Message::Progress(Step { phase: number, share: 0.0, checking: false }));
        self.prepare_memory()?;
        let page_cache_share = self.page_cache_share();
        let (before, usage_before) = (self.store.stats(), self.meter.read());
        let (mode, clock, directory) = (self.spec.mode, &self.clock, &*self.spec.directory);
        let turns = self.turns.as_ref();
        let observer = Observer::of(self.spec.observed.as_ref(), &phase.phase().name)?;
        let context = StepContext { mode, clock, turns, directory, spaces: &mut self.spaces };
        let taken = observer.observe_call(|| context.take(step, self.store))?;
        let Taken { store, driven, restarted, close_ns, wrong } = taken;
        self.store = store;
        let (usage, burst) = ([usage_before, self.meter.read()], self.store.stats());
        let measured = Measured {
            driven,
            samples: Vec::new(),
            warmed: None,
            before: restarted.unwrap_or(before),
            burst,
            settled: self.settle(phase)?,
            close_ns,
            disk_bytes: self.disk_bytes(),
            disk_peak_bytes: None,
            page_cache_share,
            is_stored: self.is_stored,
            allocates_in_program: self.store.engine().allocates_in_program(),
            usage,
            rate: Rate::Closed,
        };
        let checked = Checked { live_bytes: self.spaces.live_bytes(), ..Checked::default() };
        self.report(phase, Extent::default(), &measured, &checked, &Profile::default());
        self.blame(wrong);
        self.done.push(Vec::new());
        Ok(self)
    }

    /// Runs a phase at several rates, one after the other, to find the highest rate that the store sustains. Each run
    /// starts with the store of the previous run, after compaction has finished. The rows describe the run at the
    /// highest sustained rate.
    fn search(&mut self, number: usize, phase: &Arc<PhasePlan>, search: Sustained) -> TrialResult<()> {
        let mut wrong = 0;
        let found = search.search(|per_second| -> TrialResult<_> {
            let probed = self.once(number, phase, Rate::Open { per_second })?;
            let rows = self.phases.pop().expect("a measured phase must have rows");
            let stream = self.streams.pop().expect("a measured phase must have a record of its operations");
            wrong += rows.wrong;
            Ok(((rows, stream), search.objective.missed(&probed)))
        })?;
        let (mut rows, stream) = found.best.expect("a rate search must try at least one rate");
        rows.set_found(found.rate, found.limit, found.probes);
        rows.wrong = wrong;
        self.phases.push(rows);
        self.streams.push(stream);
        Ok(())
    }

    /// Runs the operations of a phase at one rate, and returns all its measurements.
    fn measure(&self, number: usize, phase: &Arc<PhasePlan>, rate: Rate) -> TrialResult<Measured> {
        let page_cache_share = self.page_cache_share();
        self.prepare_memory()?;
        let work = || self.drive_and_settle(number, phase, rate);
        let (measured, disk_peak_bytes) = self.disk.during(|| self.disk_bytes(), work);
        Ok(Measured { disk_peak_bytes, page_cache_share, ..measured? })
    }

    /// Runs the operations of a phase, and waits until the flushes and compactions of the phase have finished.
    fn drive_and_settle(&self, number: usize, phase: &Arc<PhasePlan>, rate: Rate) -> TrialResult<Measured> {
        let (mut before, mut usage_before) = (self.store.stats(), self.meter.read());
        let (driven, mut samples, begun) = self.drive(number, phase, rate)?;
        let warmed = begun.map(|begun| {
            samples.retain(|sample| sample.at > begun.sample.at);
            before = begun.sample.stats.clone();
            usage_before = begun.usage;
            samples.insert(0, begun.sample);
            begun.warmed
        });
        let usage_after = self.meter.read();
        let burst = self.store.stats();
        let settled = self.settle(phase)?;
        let disk_bytes = self.disk_bytes();
        let usage = [usage_before, usage_after];
        let allocates_in_program = self.store.engine().allocates_in_program();
        let is_stored = self.is_stored;
        Ok(Measured {
            driven,
            samples,
            warmed,
            before,
            burst,
            settled,
            close_ns: None,
            disk_bytes,
            disk_peak_bytes: None,
            page_cache_share: None,
            is_stored,
            allocates_in_program,
            usage,
            rate,
        })
    }

    /// Returns the fraction of the store's file pages that are in the page cache. Returns `None` if time is not
    /// measured or the store has no files.
    fn page_cache_share(&self) -> Option<f64> {
        match self.spec.mode {
            RunMode::Timed if self.is_stored => caches::page_cache_share(&self.spec.directory),
            _ => None,
        }
    }

    /// Writes to as much free memory as the setting `trials.warm_memory` requests.
    fn prepare_memory(&self) -> TrialResult<()> {
        let Some(bytes) = self.spec.warm_memory else { return Ok(()) };
        let doing = |error| {
            format!(
                "cannot write to {bytes} bytes of free memory before the phase, as trials.warm_memory \
                 requests: {error}"
            )
        };
        Ok(free_memory::touch(bytes).map_err(doing)?)
    }

    /// Waits until all flushes and compactions have finished, unless the phase has `settle = false`. In counted mode,
    /// flushes and compactions have already finished.
    fn settle(&self, phase: &PhasePlan) -> TrialResult<Option<Settled>> {
        if !phase.phase().settle && self.spec.mode == RunMode::Timed {
            return Ok(None);
        }
        let start = turn::now(&self.clock);
        turn::call(self.turns.as_ref(), &self.clock, || self.store.target().settle())?;
        let ns = self.clock.ns_between(start, turn::now(&self.clock));
        let ns = ns.saturating_sub(self.store.settle_margin().as_nanos() as u64);
        Ok(Some(Settled { stats: self.store.stats(), ns, usage: self.meter.read() }))
    }

    /// Returns the size of the store's files in bytes. `None` if time is not measured.
    fn disk_bytes(&self) -> Option<u64> {
        match self.spec.mode {
            RunMode::Timed => self.store.disk_bytes(),
            RunMode::Counted => None,
        }
    }

    /// Checks the answers that the store gave in a phase, and computes the rows of the phase.
    fn judge(&mut self, phase: &Arc<PhasePlan>, measured: &Measured) -> TrialResult<()> {
        let name = &phase.phase().name;
        let (from, parts) = (self.spaces.extent_of_phase(phase), phase.parts());
        let profiles: Vec<Profile> = parts
            .iter()
            .map(|part| {
                let from = self.spaces.extent(part);
                let profile = profile::realised(part, from, &measured.driven);
                self.streams.push(StreamRecord {
                    phase: part.plan.phase().name.clone(),
                    hash: profile.stream_hash.clone(),
                    intended: profile::as_result(&Profile::intended(&part.plan, from)),
                    realised: profile::as_result(&profile),
                });
                profile
            })
            .collect();
        let checked = self.spaces.check(phase, &measured.driven.records)?;
        self.wrong.extend(checked.examples.iter().map(|example| format!("phase {name}, {example}")));
        // The keys of several families have no common distribution.
        let whole = if let [whole] = &*profiles { whole.clone() } else { Profile::default() };
        self.report(phase, from, measured, &checked, &whole);
        Ok(())
    }

    /// Computes the rows of a phase, and records the state of the store after the phase.
    fn report(
        &mut self,
        phase: &Arc<PhasePlan>,
        from: Extent,
        measured: &Measured,
        checked: &Checked,
        profile: &Profile,
    ) {
        let report = PhaseReport {
            phase: phase.phase(),
            mode: self.spec.mode,
            cache_state: &caches::name(phase.phase().before.cache, &self.design),
            state_at_start: &self.state.name(),
            memory_limit: self.spec.memory_limit,
            warm_memory: self.spec.warm_memory,
            measured,
            checked,
            profile,
        };
        let mut rows = report.rows(&self.clock);
        rows.expect(self.forecast.of_phase(phase.phase(), from, measured, checked.live_bytes));
        self.phases.push(rows);
        self.state.pass(phase.phase(), measured.settled.is_some());
    }

    /// Adds descriptions of wrong answers to those of the trial. A difference between the store and its expected
    /// content is a wrong answer, too.
    fn blame(&mut self, wrong: Vec<String>) {
        if let Some(last) = self.phases.last_mut() {
            last.wrong += wrong.len() as u64;
        }
        self.wrong.extend(wrong);
    }

    /// Creates the report of the trial. If the store gave a wrong answer, the report contains no measurements.
    fn conclude(self) -> TrialResult<TrialReport> {
        let engine_version = self.store.version();
        let (streams, wrong, done) = (self.streams, self.wrong, self.done);
        let recorded = self.recorded.into_inner();
        let mut report =
            TrialReport { streams, wrong, done, engine_version, recorded, ..TrialReport::default() };
        if !report.wrong.is_empty() {
            report.rows = self.phases.iter().map(PhaseRows::without_numbers).collect();
            return Ok(report);
        }
        let folder = self.spec.results.as_ref().map(Folder::new);
        let group = Group { cell: self.spec.cell, trial: self.spec.trial };
        for phase in self.phases {
            if let (Some(folder), Some(duration)) = (&folder, phase.duration) {
                phase.latencies.write(&folder.histogram(group, &phase.name), duration)?;
            }
            report.rows.extend(phase.rows);
            report.timeline.extend(phase.timeline);
            report.levels.extend(phase.levels);
        }
        Ok(report)
    }

    /// Runs the operations of a phase. During the phase, another thread takes samples of the store and reports the
    /// progress.
    fn drive(
        &self,
        number: usize,
        phase: &Arc<PhasePlan>,
        rate: Rate,
    ) -> TrialResult<(Driven, Vec<Sample>, Option<Begun>)> {
        let done = AtomicU64::new(0);
        let over = AtomicBool::new(false);
        let total = match phase.replay() {
            Some(replay) => replay.expected_requests()?,
            None => phase.operations(),
        };
        let way = Way { number, total, time_limit_ns: time_limit_ns(phase) };
        let observer = Observer::of(self.spec.observed.as_ref(), &phase.phase().name)?;
        let drive = Drive {
            mode: self.spec.mode,
            sampling: self.spec.sampling,
            check: if self.spaces.is_known(phase) { self.spec.check } else { 0 },
            interval_ns: self.spec.interval_ns,
            rate,
            counts_instructions: observer.counts_instructions(),
        };
        // If the phase has a warm-up, this function is called at its end, and also switches the observing tool on.
        let sample = || {
            observer.begin();
            (self.sample(), self.meter.read())
        };
        let mode = self.spec.mode;
        let warming_up = WarmingUp::of(phase, mode, &self.store, (&self.clock, &done), &sample);
        if warming_up.is_none() {
            observer.begin();
        }
        let gate = warming_up.as_ref().map(|warming_up| warming_up as &dyn Gate);
        let gates = (gate, self.turns.as_ref());
        let recording =
            self.spec.recording.as_ref().filter(|recording| recording.phase == phase.phase().name);
        let parts = phase.parts();
        let families: Vec<FamilyTarget<'_>> =
            parts.iter().map(|part| self.store.family(part.family.as_deref())).collect::<Result<_, _>>()?;
        let recorder = match (recording, &*families) {
            (None, _) => None,
            (Some(recording), [family]) => {
                Some(TraceRecorder::create(recording, family.target(), &self.clock)?)
            }
            (Some(_), _) => return Err(RECORDED_FAMILIES.into()),
        };
        let target_of = |family| {
            recorder.as_ref().map_or(FamilyTarget::target(family), |recorder| recorder as &dyn Target)
        };
        let driven_parts: Vec<DrivePart<'_>> = families
            .iter()
            .zip(&parts)
            .map(|(family, part)| DrivePart {
                target: target_of(family),
                part,
                from: self.spaces.extent(part),
            })
            .collect();
        let driven = std::thread::scope(|scope| {
            let watcher = scope.spawn(|| self.watch(&way, &done, &over));
            if let Some(warming_up) = &warming_up {
                scope.spawn(|| warming_up.supervise(&over));
            }
            let driven = match phase.replay() {
                Some(replay) => replay
                    .open()
                    .map_err(Into::into)
                    .and_then(|replay| drive.replay(&driven_parts, phase, replay, &self.clock, &done)),
                None => drive.streams(&driven_parts, phase, &self.clock, &done, gates),
            };
            over.store(true, Ordering::Release);
            watcher.thread().unpark();
            let samples = watcher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            TrialResult::Ok((driven?, samples))
        });
        let (driven, samples) = driven?;
        observer.end()?;
        if let Some(recorder) = recorder {
            let outcome = recorder.finish()?;
            self.recorded
                .set(outcome)
                .map_err(|_| "a phase that is recorded as a trace must run only once")?;
        }
        Ok((driven, samples, warming_up.and_then(WarmingUp::into_begun)))
    }

    fn watch(&self, way: &Way, done: &AtomicU64, over: &AtomicBool) -> Vec<Sample> {
        let start = turn::now(&self.clock);
        let mut samples = vec![self.sample()];
        let interval_ns = self.spec.interval_ns;
        let (mut elapsed_ns, mut next_ns, mut told_ns) = (0, interval_ns, 0);
        while !over.load(Ordering::Acquire) {
            // The next sample is due at the next interval boundary, even if the previous sample took long.
            std::thread::park_timeout(PROGRESS_PERIOD.min(Duration::from_nanos(next_ns - elapsed_ns)));
            elapsed_ns = self.clock.ns_between(start, turn::now(&self.clock));
            if elapsed_ns >= told_ns {
                let share = way.share(done.load(Ordering::Relaxed), elapsed_ns);
                (self.tell)(&Message::Progress(Step { phase: way.number, share, checking: false }));
                told_ns = elapsed_ns + PROGRESS_PERIOD.as_nanos() as u64;
            }
            if self.spec.mode == RunMode::Timed && elapsed_ns >= next_ns {
                samples.push(self.sample());
            }
            next_ns = (elapsed_ns / interval_ns + 1) * interval_ns;
        }
        samples.push(self.sample());
        samples
    }

    fn sample(&self) -> Sample {
        Sample {
            at: turn::now(&self.clock),
            stats: self.store.stats(),
            rss_peak_bytes: probe::rss_peak_bytes(),
            disk_bytes: self.disk.latest(),
        }
    }
}

/// The length of a running phase, from which the progress bar computes the finished fraction.
struct Way {
    /// The index of the running phase, from 0.
    number: usize,
    /// The number of operations of the phase, if known.
    total: Option<u64>,
    time_limit_ns: Option<u64>,
}

impl Way {
    /// Returns the finished fraction of the phase: the fraction of its operations or the fraction of its time limit,
    /// whichever is larger.
    fn share(&self, done: u64, elapsed_ns: u64) -> f64 {
        let share =
            |part: u64, whole: Option<u64>| whole.map_or(0.0, |whole| part as f64 / whole.max(1) as f64);
        share(done, self.total).max(share(elapsed_ns, self.time_limit_ns)).min(1.0)
    }
}

fn time_limit_ns(phase: &PhasePlan) -> Option<u64> {
    match &phase.phase().work {
        Work::Mixed(mixed) => mixed.time_limit_ns,
        Work::Roles(roles) => roles.iter().filter_map(|role| role.mixed.time_limit_ns).max(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
