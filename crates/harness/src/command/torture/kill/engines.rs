//! `lsmbench torture kill --engine` kills processes that write to stores of any engine. It compares the commits that
//! survive with the durability that the engine declares.

use std::path::Path;

use catalog::Choice;
use engines::{Engine, EngineOptions};
use run::{Scratch, interrupt, scratch};
use toml::{Table, Value};
use torture::kill::{KeptCommits, Ledger, Life, Moments, WRITERS};
use torture::{Check, CommitLimits, Findings, Violation};
use tree::Design;
use types::{Outcome, Problem};

use super::early::{MOST_EARLY_KILLS, is_enough, kills_of_store, never_acknowledged};
use super::engine_store::Checked;
use super::orders::{EngineOrders, MEMTABLE, Orders};
use super::process::{Process, read_reports};
use crate::cli::KillArguments;
use crate::command::torture::jobs::{Report, TableRow, run_jobs};
use crate::output::line;

/// The value of `--engine` for all installed engines.
const ALL: &str = "all";

/// The sizes of memtable and cache for engines other than the tree of lsmbench, as TOML.
const OTHER_SIZES: &str = "memtable = { capacity = \"128KiB\" }\ncache = { capacity = \"1MiB\" }";

/// A job of the kill test: the test of one engine in one WAL mode.
struct EngineJob {
    label: String,
    wal: String,
    design: Design,
    /// The durability that the engine declares for this WAL mode, as text.
    declared: String,
}

impl TableRow for EngineJob {
    fn labels(&self) -> Vec<&str> {
        vec![&self.label, &self.wal, &self.declared]
    }
}

/// The results of all kills of one engine in one WAL mode.
#[derive(Default)]
struct EngineTally {
    stores: u64,
    kills: u64,
    /// The number of kills that came before the killed process acknowledged its first commit.
    early: u64,
    acknowledged: u64,
    /// The number of acknowledged commits that a store lost. An engine may declare that such commits can be lost.
    lost: u64,
    findings: Findings<String>,
}

/// Runs the test for every selected engine and WAL mode. Returns whether every engine kept the durability that it
/// declares.
pub(super) fn kill(arguments: &KillArguments, folder: &Path) -> Outcome<bool> {
    // Creates and removes a folder inside `folder`, so that an unusable folder is reported before the first kill.
    drop(scratch(Some(folder))?);
    let jobs = jobs(arguments)?;
    let columns = ["stores", "kills", "early", "acknowledged", "lost", "violations"];
    let threads = arguments.subjects.threads as usize;
    run_jobs(("kill", "--seed"), &["engine", "wal", "declared"], &jobs, threads, &columns, 1, |job| {
        let tally = kill_often(job, arguments, folder)?;
        let EngineTally { stores, kills, early, acknowledged, lost, findings } = tally;
        let counts = vec![stores, kills, early, acknowledged, lost, findings.violations];
        Ok(Report { counts, findings })
    })
}

/// Returns a job for every selected engine and WAL mode. With `--engine all`, an engine that cannot be tested is
/// skipped, and the reason is printed.
///
/// # Errors
/// An engine that the user names is unknown or cannot be tested.
fn jobs(arguments: &KillArguments) -> Outcome<Vec<EngineJob>> {
    let mut jobs = Vec::new();
    for name in &arguments.engine {
        if name != ALL {
            let choice = engines::CATALOG.choose(&Value::String(name.clone()));
            let choice = choice.map_err(|error| Problem::new(error.message))?;
            jobs.extend(jobs_of(&choice, arguments)?.map_err(Problem::new)?);
            continue;
        }
        for choice in engines::CATALOG.all() {
            match jobs_of(&choice, arguments)? {
                Ok(of_engine) => jobs.extend(of_engine),
                Err(reason) => line(&format!("skipped: {reason}")),
            }
        }
    }
    Ok(jobs)
}

/// Returns the jobs that test one engine, one job per WAL mode. The inner error is the reason why the engine cannot be
/// tested.
fn jobs_of(choice: &Choice, arguments: &KillArguments) -> Outcome<Result<Vec<EngineJob>, String>> {
    let engine = engines::CATALOG.build(choice).map_err(|error| Problem::new(error.message))?;
    let label = choice.label();
    if let Err(missing) = engine.identify() {
        return Ok(Err(format!("engine {label}: {missing}")));
    }
    let mut jobs = Vec::new();
    let mut logs = Vec::new();
    for wal in modes(arguments) {
        let design = design(&*engine, &wal)?;
        let log = EngineOptions::of(&design).log;
        // Several WAL modes of the design can be the same mode of another engine, which is then tested only once.
        if arguments.subjects.wal.is_empty() && !engine.reads_whole_design() && logs.contains(&log) {
            continue;
        }
        logs.push(log);
        let Some(survival) = engine.survival(log) else {
            return Ok(Err(format!(
                "engine {label} keeps its stores in a server process, and killing a client does not stop this \
                 process; name another engine"
            )));
        };
        jobs.push(EngineJob { label: label.clone(), wal, design, declared: survival.to_string() });
    }
    Ok(Ok(jobs))
}

/// Returns the WAL modes that the user selected, or all WAL modes.
fn modes(arguments: &KillArguments) -> Vec<String> {
    match arguments.subjects.wal.is_empty() {
        true => tree::wal::CATALOG.variants().iter().map(|variant| variant.kind.to_owned()).collect(),
        false => arguments.subjects.wal.clone(),
    }
}

/// Returns the default design in a WAL mode, with reduced sizes. The sizes for engines other than the tree of lsmbench
/// are larger, because some engines do not work with the tiny sizes of this tree.
fn design(engine: &dyn Engine, wal: &str) -> Outcome<Design> {
    let (base, sizes) = if engine.reads_whole_design() {
        (torture::small(&Design::default()), format!("memtable = {{ capacity = \"{MEMTABLE}\" }}"))
    } else {
        (Design::default(), OTHER_SIZES.to_owned())
    };
    let mut settings: Table =
        sizes.parse().map_err(|error: toml::de::Error| Problem::new(error.to_string()))?;
    settings.insert("wal".to_owned(), Value::String(wal.to_owned()));
    base.with(&settings).map_err(|error| Problem::new(error.message))
}

/// Tests one engine in one WAL mode: kills writer processes of one store after another until the test is complete or
/// the user interrupts it.
fn kill_often(job: &EngineJob, arguments: &KillArguments, folder: &Path) -> Result<EngineTally, String> {
    let mut tally = EngineTally::default();
    let mut seed = arguments.subjects.seed;
    while !is_enough(arguments.kills, tally.kills, tally.acknowledged + tally.findings.violations)
        && !interrupt::is_requested()
    {
        if tally.kills >= arguments.kills + MOST_EARLY_KILLS {
            tally.findings.add(seed.to_string(), format!("{} kills", tally.kills), never_acknowledged());
            break;
        }
        let mut victim = EngineVictim::new(job, seed, folder)?;
        tally.stores += 1;
        for _ in 0..kills_of_store(arguments.kills, tally.kills) {
            let (ledger, checked) = victim.live_and_die()?;
            tally.kills += 1;
            tally.early += u64::from(ledger.acknowledged() == 0);
            tally.acknowledged += ledger.acknowledged() as u64;
            match checked {
                Ok(lost) => tally.lost += lost as u64,
                Err(violation) => {
                    let kept = victim.scratch.keep();
                    let moment = format!(
                        "the engine declares that {declared} commits survive; the store is kept in \
                         {directory}",
                        declared = job.declared,
                        directory = kept.display()
                    );
                    tally.findings.add(seed.to_string(), moment, violation);
                    break;
                }
            }
            // `victim.life` ignores the limits of the engine. Its scripts have as many commits as the scripts within
            // these limits.
            if interrupt::is_requested() || !victim.life.goes_on(victim.orders.from) {
                break;
            }
        }
        seed = seed.wrapping_add(1);
    }
    Ok(tally)
}

/// A store under test, whose writer processes are killed.
struct EngineVictim {
    orders: EngineOrders,
    scratch: Scratch,
    life: Life,
    moments: Moments,
}

impl EngineVictim {
    fn new(job: &EngineJob, seed: u64, folder: &Path) -> Result<Self, String> {
        let scratch = scratch(Some(folder)).map_err(|problem| problem.to_string())?;
        let orders = EngineOrders {
            engine: job.label.clone(),
            design: job.design.to_toml().to_string(),
            directory: scratch.path().join("store"),
            seed,
            from: [0; WRITERS],
        };
        let life = Life::within(seed, CommitLimits::default());
        Ok(Self { orders, scratch, life, moments: Moments::new(seed) })
    }

    /// Starts a process that writes to the store, kills it, and checks the store in another process. Returns the
    /// acknowledged commits and the result of the check. The result is the number of acknowledged commits that the
    /// store lost, or the violation that the check found.
    ///
    /// # Errors
    /// A process cannot be started, or its reports cannot be read.
    fn live_and_die(&mut self) -> Result<(Ledger, Result<usize, Violation>), String> {
        let moment = self.moments.next().expect("the kill test must have an unlimited number of kill times");
        let start = |orders: &Orders| {
            Process::start(orders).map_err(|error| format!("cannot start the test process: {error}"))
        };
        let process = start(&Orders::WriteEngine(self.orders.clone()))?;
        let (printed, ended) = process.die(moment).map_err(|error| error.to_string())?;
        let (ledger, reported) = read_reports(self.orders.from, &printed)?;
        if let Some(failure) = reported.or(ended) {
            return Ok((ledger, Err(Violation::new(Check::GoesOn, failure))));
        }
        let process = start(&Orders::CheckEngine(self.orders.clone(), printed))?;
        let answer = process.output().map_err(|error| error.to_string())?;
        let checked = answer.map_err(|ended| format!("the process that checks the store failed: {ended}"));
        let checked = checked.and_then(|answer| match serde_json::from_str(answer.trim_end()) {
            Ok(Checked::Kept(fewest, most)) => Ok(KeptCommits { fewest, most }),
            Ok(Checked::Broken(what)) => Err(what),
            Err(_) => Err(answer),
        });
        let lost = checked.map(|kept| {
            self.orders.from = kept.fewest;
            ledger.lost(&kept)
        });
        Ok((ledger, lost.map_err(|what| Violation::new(Check::AfterKill, what))))
    }
}
