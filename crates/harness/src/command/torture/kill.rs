//! `lsmbench torture kill` starts processes that write to a store, kills them with `kill -9`, and checks the store
//! after each kill.

mod early;
mod engine_store;
mod engines;
mod orders;
mod process;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use run::interrupt;
use run::{Scratch, scratch};
use storage::{Purpose, Storage};
use toml::{Table, Value};
use torture::kill::{Commits, Event, Ledger, Life, Moments, WRITERS};
use torture::{Check, Findings, StoreKind, Violation};
use tree::{Design, Families, OpenOptions};
use trial::take_orders;

use super::jobs::{Job, Report, jobs, run_jobs};
use crate::cli::KillArguments;
use crate::output::line;
use early::{MOST_EARLY_KILLS, is_enough, kills_of_store, never_acknowledged};
use orders::{MEMTABLE, Orders, TreeOrders};
use process::{FAILURE, OPEN_HERE, Process, read_reports, tell};
use types::{Outcome, Problem};

/// The storage back ends that store data in files. The stores of a test use these back ends in turn.
const BACK_ENDS: [&str; 4] = ["pread", "direct", "mmap", "uring"];

/// The results of all kills of one design in one WAL mode.
#[derive(Default)]
struct Tally {
    stores: u64,
    kills: u64,
    /// The number of kills that came before the killed process acknowledged its first commit.
    early: u64,
    acknowledged: u64,
    findings: Findings<String>,
}

/// Runs the test for every selected design and WAL mode, or for engines with the option `--engine`. Returns whether
/// no store violated an invariant.
pub(super) fn kill(arguments: &KillArguments) -> Outcome<bool> {
    interrupt::install();
    let folder = arguments.dir.clone().unwrap_or_else(std::env::temp_dir);
    if !arguments.engine.is_empty() {
        return engines::kill(arguments, &folder);
    }
    let back_ends = usable(&folder)?;
    let columns = ["stores", "kills", "early", "acknowledged", "violations"];
    let (jobs, threads) = (jobs(&arguments.subjects)?, arguments.subjects.threads as usize);
    run_jobs(("kill", "--seed"), &["design", "wal"], &jobs, threads, &columns, 1, |job| {
        let tally = kill_often(job, arguments, &folder, &back_ends)?;
        let Tally { stores, kills, early, acknowledged, findings } = tally;
        let counts = vec![stores, kills, early, acknowledged, findings.violations];
        Ok(Report { counts, findings })
    })
}

/// Returns the storage back ends that can create a file in `folder`, and prints the others with the reason.
///
/// # Errors
/// The first back end cannot create a file.
fn usable(folder: &Path) -> Outcome<Vec<&'static str>> {
    let probe = scratch(Some(folder))?;
    let mut usable = Vec::new();
    for kind in BACK_ENDS {
        let storage = build(kind).map_err(Problem::new)?;
        match storage.create(&probe.path().join(kind), Purpose::Table) {
            Ok(_) => usable.push(kind),
            Err(error) if kind != BACK_ENDS[0] => line(&format!("skipped: storage = \"{kind}\": {error}")),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(usable)
}

fn build(kind: &str) -> Result<Arc<dyn Storage>, String> {
    let choice = storage::CATALOG.choose(&Value::String(kind.to_owned())).map_err(|error| error.message)?;
    storage::CATALOG.build(&choice).map(Arc::from).map_err(|error| error.message)
}

/// Tests one design in one WAL mode: kills writer processes of one store after another until the test is complete or
/// the user interrupts it.
fn kill_often(
    job: &Job,
    arguments: &KillArguments,
    folder: &Path,
    back_ends: &[&str],
) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let mut seed = arguments.subjects.seed;
    while !is_enough(arguments.kills, tally.kills, tally.acknowledged + tally.findings.violations)
        && !interrupt::is_requested()
    {
        if tally.kills >= arguments.kills + MOST_EARLY_KILLS {
            tally.findings.add(seed.to_string(), format!("{} kills", tally.kills), never_acknowledged());
            break;
        }
        let kind = back_ends[(seed % back_ends.len() as u64) as usize];
        let mut store = Victim::new(job, seed, kind, folder)?;
        tally.stores += 1;
        for _ in 0..kills_of_store(arguments.kills, tally.kills) {
            let death = store.live_and_die()?;
            tally.kills += 1;
            tally.early += u64::from(death.ledger.acknowledged() == 0);
            tally.acknowledged += death.ledger.acknowledged() as u64;
            if let Err(violation) = store.judge(&death) {
                let kept = store.scratch.keep();
                let moment = format!(
                    "storage = \"{kind}\"; the store is kept in {directory}",
                    directory = kept.display()
                );
                tally.findings.add(seed.to_string(), moment, violation);
                break;
            }
            if interrupt::is_requested() || !store.life.goes_on(store.from) {
                break;
            }
        }
        seed = seed.wrapping_add(1);
    }
    Ok(tally)
}

/// A store under test, whose writer processes are killed.
struct Victim {
    seed: u64,
    design: Design,
    subject: StoreKind,
    storage: Arc<dyn Storage>,
    scratch: Scratch,
    life: Life,
    moments: Moments,
    /// For each writer, the number of its commits that the last check found in the store.
    from: Commits,
}

impl Victim {
    fn new(job: &Job, seed: u64, kind: &str, folder: &Path) -> Result<Self, String> {
        let table: Table = format!("storage = \"{kind}\"\nmemtable = {{ capacity = \"{MEMTABLE}\" }}")
            .parse()
            .map_err(|error: toml::de::Error| error.to_string())?;
        let design = job.tree.with(&table).map_err(|error| error.message)?;
        Ok(Self {
            seed,
            subject: StoreKind::tree(&job.design, design.clone()).map_err(|error| error.to_string())?,
            design,
            storage: build(kind)?,
            scratch: scratch(Some(folder)).map_err(|problem| problem.to_string())?,
            life: Life::new(seed),
            moments: Moments::new(seed),
            from: [0; WRITERS],
        })
    }

    fn directory(&self) -> PathBuf {
        self.scratch.path().join("store")
    }

    /// Starts a process that writes to the store, and kills it.
    ///
    /// # Errors
    /// The process cannot be started, or its reports cannot be read.
    fn live_and_die(&mut self) -> Result<Death, String> {
        let orders = Orders::WriteTree(TreeOrders {
            design: self.design.to_toml().to_string(),
            directory: self.directory(),
            seed: self.seed,
            from: self.from,
        });
        let moment = self.moments.next().expect("the kill test must have an unlimited number of kill times");
        let process =
            Process::start(&orders).map_err(|error| format!("cannot start the writer process: {error}"))?;
        let (printed, mut failure) = process.die(moment).map_err(|error| error.to_string())?;
        let (ledger, reported) = read_reports(self.from, &printed)?;
        failure = reported.or(failure);
        Ok(Death { ledger, failure })
    }

    /// Checks the content of the store against the commits that the killed process acknowledged, and records how many
    /// commits of each writer the store contains.
    fn judge(&mut self, death: &Death) -> Result<(), Violation> {
        if let Some(failure) = &death.failure {
            return Err(Violation::new(Check::GoesOn, failure));
        }
        let _open = OPEN_HERE.read();
        let kept = self.life.check(&self.subject, &self.storage, &self.directory(), &death.ledger)?;
        self.from = kept.fewest;
        Ok(())
    }
}

/// The reports that a writer process printed before it was killed.
struct Death {
    ledger: Ledger,
    /// The failure of the process before the kill. `None` if the process did not fail.
    failure: Option<String>,
}

/// Runs as a child process of the kill test: reads an order from standard input and executes it. The process writes to
/// a store until it is killed, or checks a store and prints the result.
pub(crate) fn write_until_killed() {
    let done = take_orders().and_then(|orders| match orders {
        Orders::WriteTree(orders) => write(&orders),
        Orders::WriteEngine(orders) => engine_store::write(&orders),
        Orders::CheckEngine(orders, printed) => {
            tell(&engine_store::check(&orders, &printed)?);
            std::process::exit(0);
        }
    });
    if let Err(message) = done {
        tell(&format!("{FAILURE}{message}"));
        return;
    }
    // All writes are done. The process waits until it is killed.
    loop {
        std::thread::park();
    }
}

fn write(orders: &TreeOrders) -> Result<(), String> {
    let table: Table = orders.design.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let design = Design::default().with(&table).map_err(|error| error.message)?;
    let (life, failed) = (Life::new(orders.seed), |error: tree::Error| error.to_string());
    let report = |event: Event| tell(&event.to_string());
    if design.has_family_trees() {
        let families = Families::open(OpenOptions::new(design), &orders.directory).map_err(failed)?;
        return life.play(&families, orders.from, &report);
    }
    let tree = OpenOptions::new(design).open(&orders.directory).map_err(failed)?;
    life.play(&tree, orders.from, &report)
}
