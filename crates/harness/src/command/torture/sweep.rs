//! `lsmbench torture sweep` kills runs of an experiment with `kill -9` and resumes them. A resumed run must end with
//! the results of a run that was never killed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use results::{Folder, Manifest, Row, RunMode, Table, columns as c};
use run::interrupt;
use run::{Scratch, scratch};
use torture::kill::shares;
use types::{Outcome, Problem};

use super::jobs::row;
use crate::cli::SweepArguments;
use crate::output::{line, print};

/// The experiment whose runs are killed and resumed. It has six configurations with two trials each, so a run lasts
/// long enough for several kills.
const EXPERIMENT: &str = r#"
question = "Does a killed and resumed run end like an uninterrupted one?"
[design]
memtable = { capacity = "16KiB" }
wal      = "none"
[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 32 }
[[phase]]
name       = "look"
operations = 4_000
mix        = { get = 0.9, put = 0.1 }
[sweep]
"design.bloom"       = ["none", "standard", "blocked"]
"design.compression" = ["none", "lz4"]
[trials]
count = 2
[[chart]]
kind = "bar"
x    = "design.bloom"
y    = "fpr"
"#;

/// The name of the file of the experiment whose runs are killed.
const CONFIG: &str = "sweep.toml";
/// The name of the experiment whose runs are killed.
const NAME: &str = "sweep";

/// The name of the results folder of the run that is never killed.
const UNBROKEN: &str = "unbroken";
/// The name of the results folder of the runs that are killed and resumed.
const BROKEN: &str = "broken";

/// The titles of the columns of the table that the test prints, with one row per mode.
const COLUMNS: [&str; 4] = ["sweeps", "kills", "rows", "violations"];

/// The results of all kills of runs in one mode, `counted` or `timed`.
#[derive(Default)]
struct Tally {
    sweeps: u64,
    kills: u64,
    rows: u64,
    wrong: Vec<String>,
}

/// Kills and resumes runs in `counted` mode and in `timed` mode. Returns whether all resumed runs ended with the
/// expected results.
pub(super) fn sweep(arguments: &SweepArguments) -> Outcome<bool> {
    interrupt::install();
    let folder = arguments.dir.clone().unwrap_or_else(std::env::temp_dir);
    let (mut head, mut is_clean) = (format!("{:<8}{}\n", "mode", row(&COLUMNS)), true);
    for mode in [RunMode::Counted, RunMode::Timed] {
        let tally = Sweep::new(mode, &folder)?.run(arguments)?;
        let counts = [tally.sweeps, tally.kills, tally.rows, tally.wrong.len() as u64];
        print(&(std::mem::take(&mut head) + &format!("{:<8}{}\n", mode.name(), row(&counts))))?;
        for wrong in &tally.wrong {
            print(&format!("violation: {wrong}\n"))?;
        }
        is_clean &= tally.wrong.is_empty();
    }
    Ok(is_clean)
}

/// The test of runs in one mode, with the results that every resumed run must have.
struct Sweep {
    mode: RunMode,
    scratch: Scratch,
    /// The reproducible values in the rows of the run that is never killed.
    expected: Rows,
    unbroken: Duration,
}

/// The reproducible values of the rows of a run. The key of a row consists of the number of its configuration, its
/// trial, its phase and its operation.
type Rows = BTreeMap<[String; 4], Vec<Vec<String>>>;

impl Sweep {
    /// Runs the experiment once without a kill, and records its results and its duration.
    fn new(mode: RunMode, folder: &Path) -> Outcome<Self> {
        let scratch = scratch(Some(folder))?;
        let config = scratch.path().join(CONFIG);
        let text = EXPERIMENT.replace("count = 2", &format!("count = 2\nmode  = \"{}\"", mode.name()));
        fs::write(&config, text)
            .map_err(|error| Problem::doing(format!("write {}", config.display()), error))?;
        let mut sweep = Self { mode, scratch, expected: Rows::new(), unbroken: Duration::ZERO };
        let start = Instant::now();
        let ended = sweep.start(UNBROKEN, false)?.wait_with_output();
        sweep.unbroken = start.elapsed();
        finished(ended, "the uninterrupted run")?;
        sweep.expected = sweep.rows(UNBROKEN)?;
        Ok(sweep)
    }

    /// Kills and resumes runs until the requested number of kills. Checks the results of every run that completes,
    /// and finally resumes the last run to its end.
    fn run(&self, arguments: &SweepArguments) -> Outcome<Tally> {
        let mut tally = Tally::default();
        let mut shares = shares(arguments.seed);
        while tally.kills < arguments.kills && !interrupt::is_requested() {
            let is_begun = self.folder(BROKEN).manifest().exists();
            let mut process = self.start(BROKEN, is_begun)?;
            // On average, a kill comes after two of the twelve trials.
            let share = shares.next().expect("the sweep test must have an unlimited number of kill times");
            if !ends_within(&mut process, self.unbroken.mul_f64(share / 3.0))? {
                let killed = process.kill().and_then(|()| process.wait());
                killed.map_err(|error| Problem::doing("kill a run", error))?;
                tally.kills += 1;
                continue;
            }
            finished(process.wait_with_output(), "a resumed run")?;
            self.conclude(&mut tally)?;
        }
        let is_begun = self.folder(BROKEN).manifest().exists();
        // On a busy machine, all kills can come before a run has its first file.
        if is_begun || tally.sweeps == 0 {
            finished(self.start(BROKEN, is_begun)?.wait_with_output(), "a resumed run")?;
            self.conclude(&mut tally)?;
        }
        Ok(tally)
    }

    /// Compares the results of a completed run with the expected results, counts the violations, and removes the
    /// results of the run.
    fn conclude(&self, tally: &mut Tally) -> Outcome<()> {
        let rows = self.rows(BROKEN)?;
        tally.sweeps += 1;
        tally.rows += rows.values().map(|rows| rows.len() as u64).sum::<u64>();
        let folder = self.folder(BROKEN);
        let different = self.expected.keys().chain(rows.keys());
        let mut different = different.filter(|key| self.expected.get(*key) != rows.get(*key));
        if let Some(key) = different.next() {
            let row = key.join(", ");
            tally.wrong.push(match (rows.contains_key(key), self.expected.contains_key(key)) {
                (false, _) => format!("the row {row} is missing in the results of the resumed run"),
                (true, false) => {
                    format!("the row {row} is not in the results of the run that was never killed")
                }
                (true, true) => {
                    format!("the row {row} has other exact values than in the run that was never killed")
                }
            });
        }
        if Manifest::read(&folder.manifest())?.ended.is_none() {
            tally.wrong.push("the manifest of the completed run has no end time (key \"ended\")".to_owned());
        }
        if folder.root().join("data").exists() {
            tally.wrong.push(
                "the folder \"data\" of a killed trial still exists after the run; the run must remove it"
                    .to_owned(),
            );
        }
        fs::remove_dir_all(self.scratch.path().join(BROKEN))
            .map_err(|error| Problem::doing(format!("remove {}", folder.root().display()), error))
    }

    /// Starts this program as a new process that runs or resumes the experiment. `out` is the name of its results
    /// folder.
    fn start(&self, out: &str, resume: bool) -> Outcome<Child> {
        let program = std::env::current_exe().map_err(|error| Problem::doing("find this program", error))?;
        let mut command = Command::new(program);
        command.args(["run", CONFIG, "--out", out, "--allow-debug"]).current_dir(self.scratch.path());
        command.args(resume.then_some("--resume")).stdin(Stdio::null()).stdout(Stdio::null());
        // Nothing reads the pipe until the process ends. The output is so short that it fits into the pipe.
        command.stderr(Stdio::piped());
        // The process gets its own process group, so that Ctrl-C at a terminal interrupts only this process.
        command.process_group(0);
        command.spawn().map_err(|error| Problem::doing("start a run", error))
    }

    fn folder(&self, out: &str) -> Folder {
        Folder::new(self.scratch.path().join(out).join(NAME))
    }

    /// Reads the reproducible values in the rows of a run. In `timed` mode, only the keys of the rows are
    /// reproducible.
    fn rows(&self, out: &str) -> Outcome<Rows> {
        let table = Table::read(&self.folder(out).runs())?;
        let mut rows = Rows::new();
        for row in table.rows() {
            let key = [&c::CELL, &c::TRIAL, &c::PHASE, &c::OPERATION].map(|of| row.get(of).to_string());
            let exact = if self.mode == RunMode::Counted { exact(row) } else { Vec::new() };
            rows.entry(key).or_default().push(exact);
        }
        Ok(rows)
    }
}

/// Returns the exact values of a row, which are equal in every run in `counted` mode.
fn exact(row: &Row) -> Vec<String> {
    let cells = row.schema().columns().iter().zip(row.cells());
    cells.filter(|(column, _)| column.exact()).map(|(_, value)| value.to_string()).collect()
}

/// Waits for `time`. Returns whether the process has ended by then.
fn ends_within(process: &mut Child, time: Duration) -> Outcome<bool> {
    std::thread::sleep(time);
    let ended = process.try_wait().map_err(|error| Problem::doing("check a run", error))?;
    Ok(ended.is_some())
}

/// If the exit code of a run is not 0, prints the output of the run and returns an error. `name` names the run in the
/// error.
fn finished(ended: std::io::Result<Output>, name: &str) -> Outcome<()> {
    let ended = ended.map_err(|error| Problem::doing("wait for a run", error))?;
    if ended.status.success() {
        return Ok(());
    }
    line(String::from_utf8_lossy(&ended.stderr).trim_end());
    Err(Problem::new(format!(
        "{name} ended with {status}; the lines above are its output",
        status = ended.status
    )))
}
