//! The messages between the parent process and the trial process, as JSON lines.

use std::path::PathBuf;

use results::{Measurements, RunMode, StreamRecord};
use serde::{Deserialize, Serialize};

use super::configuration::Configuration;

/// The specification of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialSpec {
    /// The engine, the design and the task.
    pub configuration: Configuration,
    /// The folder of relative paths in the task.
    pub base: PathBuf,
    /// The seed of the operations.
    pub seed: u64,
    /// Whether time is measured.
    pub mode: RunMode,
    /// The sampling interval of latencies: one in `sampling` operations is timed.
    pub sampling: u64,
    /// The sampling interval of answers: one in `check` answers is kept for checking.
    pub check: u64,
    /// The length of an interval of the timeline, in nanoseconds.
    pub interval_ns: u64,
    /// The folder of the tree, or of a component's files.
    pub directory: PathBuf,
    /// The results folder for latency logs; `None` for no logs.
    pub results: Option<PathBuf>,
    /// The number of the configuration.
    pub cell: u64,
    /// The number of the trial.
    pub trial: u64,
    /// The memory limit of the process in bytes; `None` without a limit.
    #[serde(default)]
    pub memory_limit: Option<u64>,
    /// The bytes of free memory that are touched before every phase.
    #[serde(default)]
    pub warm_memory: Option<u64>,
    /// The step of the fixture. `None` for an experiment without one.
    #[serde(default)]
    pub fixture: Option<FixtureStep>,
    /// The turns of the process. `None` if the process runs without turns from its start to its end.
    #[serde(default)]
    pub turns: Option<TurnSpec>,
}

/// How a process takes turns with the processes of other configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSpec {
    /// The core that the process runs on, with all its threads; `None` for any.
    pub core: Option<usize>,
}

/// A line from the parent to a process that takes turns: its next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The number of operations until the process waits again, over all threads.
    pub operations: u64,
    /// The time for which the parent had stopped the process in the middle of calls so far, in nanoseconds.
    pub stopped_ns: u64,
}

/// The end of a turn. The process waits for the next one, except in a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Yielded {
    /// The next turn is the first slice of a phase.
    Ready {
        /// The name of the phase.
        phase: String,
        /// The number of operations of the phase, if known.
        operations: Option<u64>,
    },
    /// A slice of operations is over.
    Ran(Slice),
    /// A call without operations begins. The process runs on, and may be stopped at any time.
    Calls,
    /// The call is over.
    Returned {
        /// The end of the call on the monotonic clock of the machine, in nanoseconds.
        at_ns: u64,
    },
}

/// A slice of the operations of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The number of operations, over all threads.
    pub operations: u64,
    /// The time of the slice, in nanoseconds.
    pub ns: u64,
    /// The CPU time of all threads of the process in the slice, in nanoseconds.
    pub cpu_ns: u64,
    /// The time in which the threads of the operations were ready to run and had no CPU, in nanoseconds.
    pub waited_ns: u64,
    /// Whether it is the last slice of the phase.
    pub is_last: bool,
}

/// The step of a trial process with respect to a fixture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixtureStep {
    /// The process runs only the phases of the fixture, to build it.
    Build {
        /// The number of phases in the fixture.
        phases: usize,
    },
    /// The process starts from a clone of the fixture.
    Stands {
        /// The number of operations per phase and thread.
        done: Vec<Vec<u64>>,
    },
}

/// A line of output of the trial process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The progress of the trial.
    Progress(Step),
    /// A process that takes turns has ended its turn.
    Yields(Yielded),
    /// The trial is over.
    Done(TrialReport),
    /// The trial cannot continue, with the reason.
    Failed(String),
}

/// Parses a line as either side would, and writes it as JSON again. `None` if the line cannot be parsed.
pub fn read_messages(line: &str) -> (Option<String>, Option<String>) {
    let json = |read: Option<serde_json::Result<String>>| read.and_then(Result::ok);
    let spec = serde_json::from_str::<TrialSpec>(line).ok();
    let message = serde_json::from_str::<Message>(line).ok();
    (
        json(spec.map(|spec| serde_json::to_string(&spec))),
        json(message.map(|read| serde_json::to_string(&read))),
    )
}

/// The progress of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The number of the phase.
    pub phase: usize,
    /// The finished share of the phase.
    pub share: f64,
    /// Whether the operations have ended and the answers are being checked.
    pub checking: bool,
}

/// The measurements of a trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TrialReport {
    /// The rows of `runs.csv`, without the columns of configuration and trial.
    pub rows: Vec<Measurements>,
    /// The rows of `timeline.csv`, without the columns of configuration and trial.
    pub timeline: Vec<Measurements>,
    /// The rows of `levels.csv`, without the columns of configuration and trial.
    #[serde(default)]
    pub levels: Vec<Measurements>,
    /// The intended and the realised operations of each phase.
    pub streams: Vec<StreamRecord>,
    /// Descriptions of wrong answers.
    pub wrong: Vec<String>,
    /// The number of operations per phase and thread, if the trial built a fixture.
    #[serde(default)]
    pub done: Vec<Vec<u64>>,
    /// The version that the engine reports; `None` if it reports none.
    #[serde(default)]
    pub engine_version: Option<String>,
}
