//! The messages between the parent process and the trial process, as JSON lines.

use std::path::PathBuf;

use results::{Measurements, RunMode, StreamRecord};
use serde::{Deserialize, Serialize};
use trace::TraceFormat;

use super::configuration::Configuration;

/// The specification of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialSpec {
    /// The engine, the design and the task of the trial.
    pub configuration: Configuration,
    /// The folder to which relative paths in the task refer.
    pub base: PathBuf,
    /// The seed of the operations.
    pub seed: u64,
    /// Whether the trial measures time.
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
    /// The number of bytes of free memory that are touched before every phase.
    #[serde(default)]
    pub warm_memory: Option<u64>,
    /// Whether the trial builds a fixture or starts from a fixture. `None` for an experiment without a fixture.
    #[serde(default)]
    pub fixture: Option<FixtureStep>,
    /// How the process takes turns. `None` if the process runs without stops from its start to its end.
    #[serde(default)]
    pub turns: Option<TurnSpec>,
    /// The phase that the trial records as a trace, and ends with. `None` for a trial that records no phase.
    #[serde(default)]
    pub recording: Option<RecordingSpec>,
}

/// The recording of one phase as a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingSpec {
    /// The name of the phase.
    pub phase: String,
    /// The format of the trace.
    pub format: TraceFormat,
    /// The trace file, which must not exist.
    pub file: PathBuf,
}

/// The outcome of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The number of recorded operations.
    pub records: u64,
    /// The properties that the format could not express, one sentence each.
    pub losses: Vec<String>,
}

/// How a process takes turns with the processes of other configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSpec {
    /// The core on which all threads of the process run; `None` for any core.
    pub core: Option<usize>,
}

/// The order to run the next turn, which the parent sends to a process that takes turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The number of operations of the turn, over all threads. After these operations, the process waits again.
    pub operations: u64,
    /// The time for which the parent had stopped the process in the middle of calls so far, in nanoseconds.
    pub stopped_ns: u64,
}

/// The message with which a process ends its turn. The process then waits for its next turn, except during a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Yielded {
    /// The process is ready for a phase. Its next turn runs the first slice of this phase.
    Ready {
        /// The name of the phase.
        phase: String,
        /// The number of operations of the phase, if known.
        operations: Option<u64>,
    },
    /// The process has finished a slice of operations.
    Ran(Slice),
    /// A call without operations begins. The process continues to run, and the parent may stop it at any time.
    Calls,
    /// The call has ended.
    Returned {
        /// The end of the call on the monotonic clock of the machine, in nanoseconds.
        at_ns: u64,
    },
}

/// The times of a slice. A slice is a number of operations of a phase that a process runs in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The number of operations, over all threads.
    pub operations: u64,
    /// The duration of the slice, in nanoseconds.
    pub ns: u64,
    /// The CPU time of all threads of the process in the slice, in nanoseconds.
    pub cpu_ns: u64,
    /// The time in which the threads of the operations were ready to run and had no CPU, in nanoseconds.
    pub waited_ns: u64,
    /// Whether this slice is the last slice of the phase.
    pub is_last: bool,
}

/// The use of a fixture by a trial process: the process builds the fixture, or starts from the fixture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixtureStep {
    /// The process runs only the phases of the fixture, to build the fixture.
    Build {
        /// The number of phases in the fixture.
        phases: usize,
    },
    /// The process starts from a clone of the fixture.
    Stands {
        /// The number of operations that each thread of each phase of the fixture executed.
        done: Vec<Vec<u64>>,
    },
}

/// A message of the trial process, as one line of its standard output.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The progress of the trial.
    Progress(Step),
    /// A process that takes turns has ended its turn.
    Yields(Yielded),
    /// The trial has ended. The message contains its measurements.
    Done(TrialReport),
    /// The trial cannot continue. The text is the reason.
    Failed(String),
}

/// Parses a line as a message to the trial process and as a message to the parent. Returns each parsed message as
/// JSON, or `None` if the line is no such message.
pub fn read_messages(line: &str) -> (Option<String>, Option<String>) {
    let json = |read: Option<serde_json::Result<String>>| read.and_then(Result::ok);
    let spec = serde_json::from_str::<TrialSpec>(line).ok();
    let message = serde_json::from_str::<Message>(line).ok();
    (
        json(spec.map(|spec| serde_json::to_string(&spec))),
        json(message.map(|read| serde_json::to_string(&read))),
    )
}

/// The progress of a running trial.
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
    /// The version that the engine reports; `None` if the engine reports no version.
    #[serde(default)]
    pub engine_version: Option<String>,
    /// The outcome of the recording, if the trial recorded a phase.
    #[serde(default)]
    pub recorded: Option<Recorded>,
}
