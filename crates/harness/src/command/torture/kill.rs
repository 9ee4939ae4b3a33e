//! `lsmbench torture kill` starts processes that write to a store, kills them with `kill -9`, and checks the store.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use run::interrupt;
use run::{Scratch, scratch};
use serde::{Deserialize, Serialize};
use storage::{Purpose, Storage};
use toml::{Table, Value};
use torture::kill::{Commits, Event, Ledger, Life, Moment, Moments, WRITERS};
use torture::{Check, Findings, StoreKind, Violation};
use tree::{Design, OpenOptions};
use trial::take_orders;

use super::designs::check_one_tree;
use super::jobs::{Job, Report, jobs, run_jobs};
use crate::cli::{KillArguments, WRITER_COMMAND};
use crate::output::line;
use types::{Outcome, Problem};

/// The storage back ends that store files. Successive stores of a test use these back ends in turn.
const BACK_ENDS: [&str; 4] = ["pread", "direct", "mmap", "uring"];

/// The number of kills per store.
const KILLS_PER_STORE: u64 = 4;

/// The capacity of memtables in bytes. A small capacity causes frequent flushes.
const MEMTABLE: &str = "8KiB";

/// The prefix of the error message of a writer process.
const FAILURE: &str = "! ";

/// The time limits for the output of a process: one limit for its first line, and one limit for all its lines.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_millis(500);

/// A lock that prevents this process from starting a child process while a store is open. Between fork and exec, a
/// child process shares all file locks of its parent, so a store that is open in the parent would seem to be in use.
/// Code that opens a store locks for reading, and code that starts a process locks for writing.
static OPEN_HERE: RwLock<()> = RwLock::new(());

/// The task of a writer process.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    /// The design, as TOML.
    design: String,
    /// The directory of the store.
    directory: PathBuf,
    /// The seed for the operations of the writers.
    seed: u64,
    /// The number of commits of each writer that the store already contains.
    from: Commits,
}

/// The results of all kills of a job.
#[derive(Default)]
struct Tally {
    stores: u64,
    kills: u64,
    /// The number of kills before the process acknowledged its first commit.
    early: u64,
    acknowledged: u64,
    findings: Findings<String>,
}

/// Kills processes for every design and WAL mode. Returns whether no store lost data.
pub(super) fn kill(arguments: &KillArguments) -> Outcome<bool> {
    interrupt::install();
    let folder = arguments.dir.clone().unwrap_or_else(std::env::temp_dir);
    let back_ends = usable(&folder)?;
    let columns = ["stores", "kills", "early", "acknowledged", "violations"];
    let (jobs, threads) = (jobs(&arguments.subjects)?, arguments.subjects.threads as usize);
    jobs.iter().try_for_each(|job| check_one_tree("kill", &job.design, &job.tree))?;
    run_jobs(("kill", "--seed"), &jobs, threads, &columns, 1, |job| {
        let tally = kill_often(job, arguments, &folder, &back_ends)?;
        let Tally { stores, kills, early, acknowledged, findings } = tally;
        let counts = vec![stores, kills, early, acknowledged, findings.violations];
        Ok(Report { counts, findings })
    })
}

/// Returns the storage back ends that work in a folder.
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

/// Kills writer processes for one design in one WAL mode, one store after the other.
fn kill_often(
    job: &Job,
    arguments: &KillArguments,
    folder: &Path,
    back_ends: &[&str],
) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let mut seed = arguments.subjects.seed;
    while tally.kills < arguments.kills && !interrupt::is_requested() {
        let kind = back_ends[(seed % back_ends.len() as u64) as usize];
        let mut store = Victim::new(job, seed, kind, folder)?;
        tally.stores += 1;
        for _ in 0..KILLS_PER_STORE.min(arguments.kills - tally.kills) {
            let death = store.live_and_die()?;
            tally.kills += 1;
            tally.early += u64::from(death.ledger.acknowledged() == 0);
            tally.acknowledged += death.ledger.acknowledged() as u64;
            if let Err(violation) = store.judge(&death) {
                let kept = store.scratch.keep();
                let moment = format!("storage = {kind}; the store stays in {}", kept.display());
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
    /// The commits that the store contained when the process started.
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
    fn live_and_die(&mut self) -> Result<Death, String> {
        let orders = Orders {
            design: self.design.to_toml().to_string(),
            directory: self.directory(),
            seed: self.seed,
            from: self.from,
        };
        let moment = self.moments.next().expect("there is always another moment");
        let process = Process::start(&orders).map_err(|error| format!("cannot start a process: {error}"))?;
        let (told, mut failure) = process.die(moment).map_err(|error| error.to_string())?;
        let mut ledger = Ledger::new(self.from);
        for line in told.lines() {
            match line.strip_prefix(FAILURE) {
                Some(message) => failure = Some(message.to_owned()),
                None => line.parse().and_then(|event| ledger.note(event))?,
            }
        }
        Ok(Death { ledger, failure })
    }

    /// Checks the store against the acknowledged commits, and records its contents.
    fn judge(&mut self, death: &Death) -> Result<(), Violation> {
        if let Some(failure) = &death.failure {
            return Err(Violation::new(Check::GoesOn, failure));
        }
        let _open = OPEN_HERE.read();
        self.from = self.life.check(&self.subject, &self.storage, &self.directory(), &death.ledger)?;
        Ok(())
    }
}

/// The outcome of a killed process.
struct Death {
    ledger: Ledger,
    /// The failure of the process before the kill. `None` if the process did not fail.
    failure: Option<String>,
}

/// A process that writes to a store. The process ends when this value is dropped.
struct Process {
    child: Child,
    /// The output lines of the process, as they arrive.
    told: Receiver<Vec<u8>>,
    /// The standard input of the process. The process ends when this pipe is closed.
    _lifeline: ChildStdin,
}

impl Process {
    fn start(orders: &Orders) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(WRITER_COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        // Ctrl-C at a terminal is for the parent.
        command.process_group(0);
        let forking = OPEN_HERE.write();
        let mut child = command.spawn()?;
        drop(forking);
        let mut lifeline = child.stdin.take().expect("standard input is piped");
        let mut out = child.stdout.take().expect("standard output is piped");
        let (sender, told) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read @ 1..) = out.read(&mut buffer)
                && sender.send(buffer[..read].to_vec()).is_ok()
            {}
        });
        let sent = writeln!(lifeline, "{}", serde_json::to_string(orders).expect("orders are plain data"));
        let process = Self { child, told, _lifeline: lifeline };
        sent.map(|()| process)
    }

    /// Waits for the chosen time, and kills the process. Returns the output lines of the process. If the process
    /// ended before the kill, also returns its exit status.
    fn die(mut self, moment: Moment) -> io::Result<(String, Option<String>)> {
        let (mut told, mut events, mut deadline) = (Vec::new(), 0, Instant::now() + FIRST_PATIENCE);
        while events < moment.events {
            let Ok(part) = self.told.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
                break;
            };
            if events == 0 {
                deadline = Instant::now() + PATIENCE;
            }
            events += part.split(|byte| *byte == b'\n').count() - 1;
            told.extend(part);
        }
        std::thread::sleep(moment.wait);
        let ended = self.child.try_wait()?;
        self.child.kill()?;
        self.child.wait()?;
        self.told.iter().for_each(|part| told.extend(part));
        // Lines are written whole, so text after the last line break is ignored.
        told.truncate(told.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        let failure = ended.map(|status| format!("the process ended before the kill ({status})"));
        Ok((String::from_utf8_lossy(&told).into_owned(), failure))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended before the kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The main function of a writer process. The writer process opens the store and writes until it is killed, or prints
/// its failure.
pub(crate) fn write_until_killed() {
    if let Err(message) = take_orders().and_then(|orders: Orders| write(&orders)) {
        tell(&format!("{FAILURE}{message}"));
        return;
    }
    // All writes are done.
    loop {
        std::thread::park();
    }
}

fn write(orders: &Orders) -> Result<(), String> {
    let table: Table = orders.design.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let design = Design::default().with(&table).map_err(|error| error.message)?;
    let tree = OpenOptions::new(design).open(&orders.directory).map_err(|error| error.to_string())?;
    Life::new(orders.seed).play(&tree, orders.from, &|event: Event| tell(&event.to_string()))
}

/// Writes one complete line to standard output.
fn tell(text: &str) {
    let mut out = std::io::stdout().lock();
    // An error means that the parent is gone.
    let _ = out.write_all(format!("{text}\n").as_bytes()).and_then(|()| out.flush());
}
