//! The messages between the parent process and the process of a trial, as JSON lines.

use std::path::PathBuf;

use results::{Measurements, RunMode, Stream};
use serde::{Deserialize, Serialize};

use super::configuration::Configuration;

/// The specification of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialSpec {
    /// The engine, the design and the task.
    pub configuration: Configuration,
    /// Where relative paths of the task start.
    pub base: PathBuf,
    /// The seed of the operations.
    pub seed: u64,
    /// Whether time is measured.
    pub mode: RunMode,
    /// Every how many operations one is timed.
    pub sampling: u64,
    /// Every how many operations the answer is kept for checking.
    pub check: u64,
    /// The length of an interval of the timeline.
    pub interval_ns: u64,
    /// Where the tree lives, or the files of a component.
    pub directory: PathBuf,
    /// The results folder, for latency logs; nothing where none are wanted.
    pub results: Option<PathBuf>,
    /// The number of the cell.
    pub cell: u64,
    /// The number of the trial.
    pub trial: u64,
    /// The most memory that the process may use, where there is a limit.
    #[serde(default)]
    pub memory_limit: Option<u64>,
    /// How much free memory is touched before every phase.
    #[serde(default)]
    pub warm_memory: Option<u64>,
    /// The step of the fixture. `None` for an experiment without one.
    #[serde(default)]
    pub fixture: Option<FixtureStep>,
}

/// The work of a trial process on the phases of a fixture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixtureStep {
    /// It does them, and no others: it builds the fixture.
    Build {
        /// How many phases there are.
        phases: usize,
    },
    /// It starts from a clone of it.
    Stands {
        /// For each phase, the operations that each thread did.
        done: Vec<Vec<u64>>,
    },
}

/// A line that the trial's process writes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// How far the trial is.
    Progress(Step),
    /// The trial is over.
    Done(TrialReport),
    /// The trial cannot be done.
    Failed(String),
}

/// A line as either side parses it, written as JSON again. `None` where it cannot be parsed.
pub fn read_messages(line: &str) -> (Option<String>, Option<String>) {
    let json = |read: Option<serde_json::Result<String>>| read.and_then(Result::ok);
    let spec = serde_json::from_str::<TrialSpec>(line).ok();
    let message = serde_json::from_str::<Message>(line).ok();
    (
        json(spec.map(|spec| serde_json::to_string(&spec))),
        json(message.map(|read| serde_json::to_string(&read))),
    )
}

/// How far a trial is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The number of the phase.
    pub phase: usize,
    /// The share of it that is done.
    pub share: f64,
    /// Whether its operations are done and its answers are being checked.
    pub checking: bool,
}

/// The measurements of a trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TrialReport {
    /// The rows of `runs.csv`, without the identity of cell and trial.
    pub rows: Vec<Measurements>,
    /// The rows of `timeline.csv`, likewise.
    pub timeline: Vec<Measurements>,
    /// The rows of `levels.csv`, likewise.
    #[serde(default)]
    pub levels: Vec<Measurements>,
    /// For each phase, the intended and the realised operations.
    pub streams: Vec<Stream>,
    /// Wrong answers, described.
    pub wrong: Vec<String>,
    /// For each phase, the operations that each thread did, where it built a fixture.
    #[serde(default)]
    pub done: Vec<Vec<u64>>,
    /// The version that the engine reports about itself. `None` where it reports none.
    #[serde(default)]
    pub engine_version: Option<String>,
}
