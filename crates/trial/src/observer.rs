//! Switches the tool that observes a phase on and off: the sampling profiler `perf record`, or callgrind.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::OnceLock;

use measure::callgrind;
use parking_lot::Mutex;

use super::failure::TrialResult;
use super::message::{ObservedPhase, ObservingTool};

/// The external tool that observes the current phase: a profiler, callgrind, or none.
pub(super) struct Observer {
    tool: Tool,
    /// The reason why the tool could not be switched on. Empty if it was switched on.
    failure: OnceLock<String>,
}

enum Tool {
    /// No tool observes the phase.
    None,
    Profiler(Mutex<Profiler>),
    InstructionCounter,
}

/// The connection to a running `perf record`, over which the trial switches the sampling on and off.
struct Profiler {
    control: File,
    acknowledgments: File,
}

impl Observer {
    /// Connects to the tool that observes the phase with the name `phase`. If no tool observes this phase, the returned
    /// observer does nothing.
    ///
    /// # Errors
    /// Returns an error if the tool did not start this process, or if the tool cannot be reached.
    pub(super) fn of(observed: Option<&ObservedPhase>, phase: &str) -> TrialResult<Self> {
        let tool = match observed.filter(|observed| observed.phase == phase).map(|observed| &observed.tool) {
            None => Tool::None,
            Some(ObservingTool::Profiler { control, acknowledgments }) => {
                Tool::Profiler(Mutex::new(Profiler::connect(control, acknowledgments)?))
            }
            Some(ObservingTool::InstructionCounter) if callgrind::is_running() => Tool::InstructionCounter,
            Some(ObservingTool::InstructionCounter) => {
                return Err(
                    "cannot count instructions, because the trial process does not run under valgrind".into(),
                );
            }
        };
        Ok(Self { tool, failure: OnceLock::new() })
    }

    /// Returns whether callgrind counts the instructions of the operations of the phase.
    pub(super) fn counts_instructions(&self) -> bool {
        matches!(self.tool, Tool::InstructionCounter)
    }

    /// Switches the tool on at the start of the observed operations. If this fails, [`end`](Self::end) returns the
    /// error.
    pub(super) fn begin(&self) {
        match &self.tool {
            Tool::None => {}
            Tool::Profiler(profiler) => {
                if let Err(error) = profiler.lock().command("enable") {
                    self.failure.get_or_init(|| error);
                }
            }
            Tool::InstructionCounter => callgrind::start_instrumentation(),
        }
    }

    /// Switches the tool off at the end of the observed operations.
    ///
    /// # Errors
    /// Returns an error if the tool could not be switched on, or does not answer.
    pub(super) fn end(&self) -> TrialResult<()> {
        if let Some(failure) = self.failure.get() {
            return Err(failure.as_str().into());
        }
        match &self.tool {
            Tool::None => {}
            Tool::Profiler(profiler) => profiler.lock().command("disable")?,
            Tool::InstructionCounter => callgrind::stop_instrumentation(),
        }
        Ok(())
    }

    /// Executes a call of the store such as a flush, and observes the whole call.
    ///
    /// # Errors
    /// Returns the error of the call, or an error of the tool.
    pub(super) fn observe_call<T>(&self, call: impl FnOnce() -> TrialResult<T>) -> TrialResult<T> {
        let toggle = || self.counts_instructions().then(callgrind::toggle_collection);
        self.begin();
        toggle();
        let returned = call();
        toggle();
        self.end()?;
        returned
    }
}

impl Profiler {
    fn connect(control: &Path, acknowledgments: &Path) -> Result<Self, String> {
        let failed = |error| format!("cannot connect to the profiler: {error}");
        Ok(Self {
            control: OpenOptions::new().write(true).open(control).map_err(failed)?,
            acknowledgments: File::open(acknowledgments).map_err(failed)?,
        })
    }

    /// Sends a command to the profiler, and waits until the profiler has executed the command.
    fn command(&mut self, command: &str) -> Result<(), String> {
        let failed = |error| format!("the profiler does not acknowledge the command \"{command}\": {error}");
        writeln!(self.control, "{command}").map_err(failed)?;
        let mut byte = [0];
        while byte != *b"\n" {
            self.acknowledgments.read_exact(&mut byte).map_err(failed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_lines_and_wait_for_their_acknowledgments() {
        let folder = tempfile::tempdir().unwrap();
        let [control, acknowledgments] = ["control", "ack"].map(|name| folder.path().join(name));
        std::fs::write(&control, "").unwrap();
        // The acknowledgments of perf end with a NUL byte after the line.
        std::fs::write(&acknowledgments, "ack\n\0ack\n\0").unwrap();
        let tool = ObservingTool::Profiler { control: control.clone(), acknowledgments };
        let observed = ObservedPhase { phase: "get".to_owned(), tool };
        let other = Observer::of(Some(&observed), "load").unwrap();
        other.begin();
        other.end().unwrap();
        let own = Observer::of(Some(&observed), "get").unwrap();
        own.begin();
        assert_eq!(std::fs::read_to_string(&control).unwrap(), "enable\n");
        own.end().unwrap();
        assert_eq!(std::fs::read_to_string(&control).unwrap(), "enable\ndisable\n");
        // No third acknowledgment comes.
        own.begin();
        assert!(own.end().unwrap_err().to_string().contains("does not acknowledge"));
    }

    #[test]
    fn instructions_are_counted_only_under_valgrind() {
        let observed = ObservedPhase { phase: "get".to_owned(), tool: ObservingTool::InstructionCounter };
        let error = Observer::of(Some(&observed), "get").err().map(|error| error.to_string());
        assert_eq!(
            error.as_deref(),
            Some("cannot count instructions, because the trial process does not run under valgrind")
        );
    }
}
