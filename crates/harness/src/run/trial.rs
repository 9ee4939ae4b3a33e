//! One trial of one cell, in a process of its own: open a tree, do the phases, check the answers, report.

use std::io::{BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use measure::{Clock, Stamp};
use results::{Folder, Group, LatencyLog};
use std::sync::{Arc, OnceLock};
use toml::Table;
use tree::{Design, OpenOptions, Tree};
use workload::{
    Command, CommandReader, Extent, Kind, Performer, PhasePlan, Plan, Profile, Rate, Record, Shadow, Target,
    Workload, check,
};

use super::drive::{Drive, Driven, KindTotals};
use super::message::{Message, TrialReport, TrialSpec};
use super::probe;
use super::report::{ALL, PhaseReport, ProcessSample, timeline_rows};
use super::target::TreeTarget;
use super::timeline::{Sample, Timeline};
use crate::experiment::RunMode;

/// How often the process says how far it is.
const PROGRESS_PERIOD: Duration = Duration::from_millis(100);

/// How often the tree is sampled for the timeline.
const SAMPLE_PERIOD: Duration = Duration::from_secs(1);

type TrialResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The body of the trial's process: reads the specification from standard input, writes messages to standard
/// output. Returns whether the trial was done.
pub(crate) fn run_trial_process() -> bool {
    let mut text = String::new();
    let spec = std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str::<TrialSpec>(&text).map_err(|error| error.to_string()));
    let outcome =
        spec.and_then(|spec| Trial::new(spec).and_then(Trial::run).map_err(|error| error.to_string()));
    let done = outcome.is_ok();
    send(&outcome.map_or_else(Message::Failed, Message::Done));
    done
}

fn send(message: &Message) {
    let line = serde_json::to_string(message).expect("messages are plain data");
    let mut out = std::io::stdout().lock();
    // A parent that is gone has no use for the message.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Nanoseconds of the process' clock, for the time that writers stall.
fn monotonic_ns() -> u64 {
    static ORIGIN: OnceLock<(Clock, Stamp)> = OnceLock::new();
    let (clock, origin) = ORIGIN.get_or_init(|| {
        let clock = Clock::new();
        let now = clock.now();
        (clock, now)
    });
    clock.ns_between(*origin, clock.now())
}

/// One trial, ready to run.
struct Trial {
    spec: TrialSpec,
    plan: Plan,
    target: TreeTarget,
    clock: Clock,
    shadow: Shadow,
    report: TrialReport,
    /// Whether the shadow still knows what the store holds: a text replay writes what it does not know.
    is_known: bool,
}

impl Trial {
    fn new(spec: TrialSpec) -> TrialResult<Self> {
        let design = Design::default().with(&spec.design.parse::<Table>()?)?;
        let workload = Workload::from_toml(&spec.workload.parse()?)?;
        let plan = Plan::new(&workload, spec.seed, &spec.base)?;
        let options = OpenOptions::new(design).mode(spec.mode.of_tree()).clock(monotonic_ns);
        let target = TreeTarget::new(options.open(&spec.directory)?);
        let shadow = Shadow::new(plan.format());
        Ok(Self {
            spec,
            plan,
            target,
            clock: Clock::new(),
            shadow,
            report: TrialReport::default(),
            is_known: true,
        })
    }

    fn run(mut self) -> TrialResult<TrialReport> {
        let mut extent = Extent::default();
        for phase in self.plan.phases().to_vec() {
            extent = self.run_phase(&phase, extent)?;
        }
        if self.is_known {
            let verdict = self.shadow.verify(&self.target)?;
            self.report.wrong.extend(
                verdict.first.map(|first| format!("{} entries are wrong at the end: {first}", verdict.wrong)),
            );
        }
        self.target.into_tree().close()?;
        Ok(self.report)
    }

    fn run_phase(&mut self, phase: &Arc<PhasePlan>, from: Extent) -> TrialResult<Extent> {
        let before = self.tree().stats();
        let process_before = ProcessSample::take();
        let (driven, samples) = self.drive(phase, from)?;
        let process_after = ProcessSample::take();
        let burst = self.tree().stats();
        let settle_start = self.clock.now();
        self.target.settle()?;
        let settle_ns = self.clock.ns_between(settle_start, self.clock.now());
        let settled = self.tree().stats();
        let (extent, checked, wrong, profile) = self.check(phase, from, &driven);
        let report = PhaseReport {
            phase: &phase.phase().name,
            mode: self.spec.mode,
            threads: phase.phase().threads,
            target_rate: match phase.phase().rate {
                Rate::Closed => None,
                Rate::Open { per_second } => Some(per_second),
            },
            driven: &driven,
            before: &before,
            burst: &burst,
            settled: &settled,
            settle_ns: (self.spec.mode == RunMode::Timed).then_some(settle_ns),
            process_before,
            process_after,
            live_bytes: self.is_known.then(|| self.shadow.live_bytes()),
            checked,
            wrong,
            profile: &profile,
        };
        self.report.rows.extend(report.rows());
        if wrong == 0 && self.spec.mode == RunMode::Timed {
            let seconds = driven.timeline.seconds();
            self.report.timeline.extend(timeline_rows(&report, &seconds, &samples));
            self.write_latencies(&phase.phase().name, &driven)?;
        }
        if let Some(hash) = profile.stream_hash {
            self.report.streams.push((phase.phase().name.clone(), hash));
        }
        Ok(extent)
    }

    fn tree(&self) -> &Tree {
        self.target.tree()
    }

    /// Does the operations of a phase, while another thread samples the tree and reports progress.
    fn drive(&self, phase: &Arc<PhasePlan>, from: Extent) -> TrialResult<(Driven, Vec<Sample>)> {
        let done = AtomicU64::new(0);
        let over = AtomicBool::new(false);
        let start = self.clock.now();
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| self.watch(phase, start, &done, &over));
            let drive = Drive { mode: self.spec.mode, sampling: self.spec.sampling, check: self.spec.check };
            let driven = match phase.text() {
                Some(_) => self.replay_text(phase, &done),
                None => drive.phase(&self.target, phase, from, &self.clock, &done),
            };
            over.store(true, Ordering::Release);
            watcher.thread().unpark();
            let samples = watcher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok((driven?, samples))
        })
    }

    fn watch(&self, phase: &PhasePlan, start: Stamp, done: &AtomicU64, over: &AtomicBool) -> Vec<Sample> {
        let mut samples = vec![self.sample(start)];
        let mut next_ns = SAMPLE_PERIOD.as_nanos() as u64;
        while !over.load(Ordering::Acquire) {
            std::thread::park_timeout(PROGRESS_PERIOD);
            let (name, total) = (phase.phase().name.clone(), phase.operations());
            send(&Message::Progress { phase: name, done: done.load(Ordering::Relaxed), total });
            if self.spec.mode == RunMode::Timed && self.clock.ns_between(start, self.clock.now()) >= next_ns {
                samples.push(self.sample(start));
                next_ns += SAMPLE_PERIOD.as_nanos() as u64;
            }
        }
        samples.push(self.sample(start));
        samples
    }

    fn sample(&self, start: Stamp) -> Sample {
        let at_ns = self.clock.ns_between(start, self.clock.now());
        Sample { at_ns, stats: self.tree().stats(), rss_peak_bytes: probe::rss_peak_bytes() }
    }

    /// Does the commands of a text file, one after the other.
    fn replay_text(&self, phase: &PhasePlan, done: &AtomicU64) -> TrialResult<Driven> {
        let path = phase.text().expect("a text replay has a file");
        let mut reader = CommandReader::new(BufReader::new(std::fs::File::open(path)?));
        let mut performer = Performer::new(&self.target);
        let mut kinds: Vec<(Kind, KindTotals)> = Vec::new();
        let mut record = Record::new(0);
        let (timeline, begin) = (Timeline::default(), self.clock.now());
        while let Some(command) = reader.read()? {
            let Some(kind) = kind_of(&command) else { continue };
            let start = self.clock.now();
            let outcome = performer.command(&command, false)?;
            let ns = self.clock.ns_between(start, self.clock.now());
            let at = kinds.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
                kinds.push((kind, KindTotals::default()));
                kinds.len() - 1
            });
            let totals = &mut kinds[at].1;
            totals.count(outcome);
            if self.spec.mode == RunMode::Timed {
                totals.service.record(ns);
            }
            record.done(|| 0);
            done.fetch_add(1, Ordering::Relaxed);
        }
        let elapsed_ns = self.clock.ns_between(begin, self.clock.now());
        let elapsed_ns = (self.spec.mode == RunMode::Timed).then_some(elapsed_ns);
        Ok(Driven { kinds, records: vec![record], elapsed_ns, timeline })
    }

    /// Goes through the phase once more, off the clock: checks the answers and takes the profile.
    fn check(
        &mut self,
        phase: &Arc<PhasePlan>,
        from: Extent,
        driven: &Driven,
    ) -> (Extent, u64, u64, Profile) {
        if phase.text().is_some() {
            self.is_known = false;
            return (from, 0, 0, Profile::default());
        }
        let verdict = check(phase, from, &driven.records, &mut self.shadow);
        let wrong = verdict.examples.iter().map(|example| format!("phase {}, {example}", phase.phase().name));
        self.report.wrong.extend(wrong);
        let performed: Vec<u64> = driven.records.iter().map(Record::operations).collect();
        let profile = Profile::realised(phase, from, Some(&performed));
        (verdict.extent, verdict.checked, verdict.wrong, profile)
    }

    fn write_latencies(&self, phase: &str, driven: &Driven) -> TrialResult<()> {
        let mut log = LatencyLog::default();
        let mut all = KindTotals::default();
        for (kind, totals) in &driven.kinds {
            all.add(totals);
            push_latencies(&mut log, kind.name(), totals);
        }
        push_latencies(&mut log, ALL, &all);
        let group = Group { cell: self.spec.cell, trial: self.spec.trial };
        let path = Folder::new(&self.spec.results).histogram(group, phase);
        Ok(log.write(&path, Duration::from_nanos(driven.elapsed_ns.unwrap_or(0)))?)
    }
}

fn push_latencies(log: &mut LatencyLog, name: &str, totals: &KindTotals) {
    log.push(name, totals.service.as_hdr().clone());
    if totals.response.count() > 0 {
        log.push(format!("{name}:response"), totals.response.as_hdr().clone());
    }
}

/// The kind of operation that a command of a text replay is.
fn kind_of(command: &Command) -> Option<Kind> {
    match command {
        Command::Put { .. } => Some(Kind::Put),
        Command::Get { .. } => Some(Kind::Get),
        Command::Delete { .. } => Some(Kind::Delete),
        Command::Range { .. } => Some(Kind::Range),
        Command::Load { .. } | Command::Statistics => None,
    }
}
