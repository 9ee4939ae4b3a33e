//! Defines the messages between the parent process and the trial process. Each message is one line of JSON.

use std::path::PathBuf;

use results::{Measurements, RunMode, StreamRecord};
use serde::{Deserialize, Serialize};
use trace::TraceFormat;

use super::configuration::Configuration;

/// The settings of one trial, which the parent process sends to the trial process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialSpec {
    /// The configuration that the trial measures: the engine, the design and the task.
    pub configuration: Configuration,
    /// The folder to which relative paths in the task refer.
    pub base: PathBuf,
    /// The seed from which all random operations of the trial follow.
    pub seed: u64,
    /// Whether the trial measures time or only counters.
    pub mode: RunMode,
    /// The sampling interval of latencies: one operation in `sampling` is timed.
    pub sampling: u64,
    /// The sampling interval of answers: one answer in `check` is kept for the check after the phase.
    pub check: u64,
    /// The length of an interval of the timeline, in nanoseconds.
    pub interval_ns: u64,
    /// The folder for the files of the store or of the component.
    pub directory: PathBuf,
    /// The results folder, in which the trial writes latency logs. With `None`, the trial writes no latency logs.
    pub results: Option<PathBuf>,
    /// The number of the configuration in the experiment, for the latency logs.
    pub cell: u64,
    /// The number of the trial of this configuration, for the latency logs.
    pub trial: u64,
    /// The memory limit of the process in bytes. `None` without a limit.
    #[serde(default)]
    pub memory_limit: Option<u64>,
    /// The number of bytes of free memory that the trial writes and releases before every phase. `None` if the trial
    /// writes no free memory.
    #[serde(default)]
    pub warm_memory: Option<u64>,
    /// Whether the trial builds a fixture (a saved store with its first phases already executed) or starts from a
    /// fixture. `None` for an experiment without a fixture.
    #[serde(default)]
    pub fixture: Option<FixtureStep>,
    /// Settings for a process that runs in turns. `None` if the process runs from its start to its end without
    /// pauses.
    #[serde(default)]
    pub turns: Option<TurnSpec>,
    /// The phase whose operations the trial records as a trace. The trial ends after this phase. `None` if it records
    /// no phase.
    #[serde(default)]
    pub recording: Option<RecordingSpec>,
    /// The phase that a tool outside of the process observes. The trial ends after this phase. `None` if no tool
    /// observes a phase.
    #[serde(default)]
    pub observed: Option<ObservedPhase>,
}

/// One phase of a trial that an external tool observes. The tool has started the trial process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedPhase {
    /// The name of the observed phase.
    pub phase: String,
    /// The tool that observes the phase. The trial process switches the tool on at the start of the phase.
    pub tool: ObservingTool,
}

/// An external tool that starts the trial process and observes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservingTool {
    /// The sampling profiler `perf record`.
    Profiler {
        /// The path of the named pipe on which the profiler receives commands.
        control: PathBuf,
        /// The path of the named pipe on which the profiler acknowledges commands.
        acknowledgments: PathBuf,
    },
    /// The tool callgrind of valgrind, which counts instructions.
    InstructionCounter,
}

/// The settings for the recording of one phase as a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingSpec {
    /// The name of the recorded phase.
    pub phase: String,
    /// The format of the written trace.
    pub format: TraceFormat,
    /// The path of the trace file. The file must not exist before the recording.
    pub file: PathBuf,
}

/// The outcome of the recording of a phase as a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The number of operations in the recorded trace.
    pub records: u64,
    /// The properties of operations that the format of the trace cannot express, one sentence each.
    pub losses: Vec<String>,
}

/// Settings for a trial process that runs in turns with the processes of other configurations. Disturbances of the
/// machine then affect all configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSpec {
    /// The core to which all threads of the process are bound. `None` if the threads may run on any core.
    pub core: Option<usize>,
}

/// An order of the parent process to execute a number of operations. After these operations, the process waits for its
/// next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The number of operations of the turn, over all threads. After these operations, the process waits for the next
    /// order.
    pub operations: u64,
    /// The total time for which the parent process has paused this process during calls such as a flush, in
    /// nanoseconds. The parent pauses a process during the turns of other processes.
    pub stopped_ns: u64,
}

/// A message from a trial process that takes turns. After each of these messages except [`Calls`](Self::Calls), the
/// process waits for its next turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Yielded {
    /// The process is ready for a phase, which begins in its next turn.
    Ready {
        /// The name of the phase that starts.
        phase: String,
        /// The number of operations of the phase. `None` if unknown.
        operations: Option<u64>,
    },
    /// The process has executed a slice of operations.
    Ran(Slice),
    /// A call of the store without operations, such as a flush, begins. The process continues to run, and the parent
    /// may stop it at any time.
    Calls,
    /// A call of the store without operations, such as a flush, has ended.
    Returned {
        /// The end of the call in nanoseconds, on the monotonic clock of the machine, which the parent also reads.
        at_ns: u64,
    },
}

/// The measurements of a slice: the operations of a phase that a process executes in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The number of operations in the slice, summed over all threads.
    pub operations: u64,
    /// The duration of the slice, in nanoseconds.
    pub ns: u64,
    /// The CPU time of all threads of the process in the slice, in nanoseconds.
    pub cpu_ns: u64,
    /// The time for which the threads that issue operations were ready to run but had no CPU, in nanoseconds.
    pub waited_ns: u64,
    /// Whether this slice is the last slice of the phase.
    pub is_last: bool,
}

/// How a trial uses a fixture, which is a saved store with its first phases already executed. The trial either builds
/// the fixture, or starts from a copy of the fixture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixtureStep {
    /// The trial runs only the first phases of the workload. The files of its store then become the fixture.
    Build {
        /// The number of phases of the workload that belong to the fixture.
        phases: usize,
    },
    /// The trial starts from a copy of the fixture, and skips the phases of the fixture.
    Stands {
        /// The number of operations that each thread executed in each phase when the fixture was built.
        done: Vec<Vec<u64>>,
    },
}

/// A message of the trial process to its parent. Each message is one line of the standard output of the trial
/// process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The progress of the trial.
    Progress(Step),
    /// The process takes turns with other processes, and its current turn has ended.
    Yields(Yielded),
    /// The trial has ended. The message contains the measurements of the trial.
    Done(TrialReport),
    /// The trial cannot continue. The text is the reason.
    Failed(String),
}

/// Parses a line as a message to the trial process, and as a message from it, for tests with hostile input. Returns
/// both results as JSON. A result is `None` if the line is no such message.
pub fn read_messages(line: &str) -> (Option<String>, Option<String>) {
    let json = |read: Option<serde_json::Result<String>>| read.and_then(Result::ok);
    let spec = serde_json::from_str::<TrialSpec>(line).ok();
    let message = serde_json::from_str::<Message>(line).ok();
    (
        json(spec.map(|spec| serde_json::to_string(&spec))),
        json(message.map(|read| serde_json::to_string(&read))),
    )
}

/// The progress of a running trial, for the progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The index of the running phase, from 0.
    pub phase: usize,
    /// The finished fraction of the phase, from 0 to 1.
    pub share: f64,
    /// Whether all operations have ended and the trial now checks the answers.
    pub checking: bool,
}

/// The measurements of a trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TrialReport {
    /// The rows of `runs.csv`, without the columns that identify the configuration and the trial.
    pub rows: Vec<Measurements>,
    /// The rows of `timeline.csv`, without the columns that identify the configuration and the trial.
    pub timeline: Vec<Measurements>,
    /// The rows of `levels.csv`, without the columns that identify the configuration and the trial.
    #[serde(default)]
    pub levels: Vec<Measurements>,
    /// For each phase, statistics of the intended and of the executed operations.
    pub streams: Vec<StreamRecord>,
    /// A description of each wrong answer. Empty if all checked answers were correct.
    pub wrong: Vec<String>,
    /// The number of operations that each thread executed in each phase, if the trial built a fixture. Empty otherwise.
    #[serde(default)]
    pub done: Vec<Vec<u64>>,
    /// The version that the engine reports; `None` if the engine reports no version.
    #[serde(default)]
    pub engine_version: Option<String>,
    /// The outcome of the recording. `None` if the trial recorded no phase.
    #[serde(default)]
    pub recorded: Option<Recorded>,
}
