//! The process of a trial, seen from its parent.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use trial::{Message, Step, TrialReport, TrialSpec};
use types::{Outcome, Problem};

use super::memory_limit::MemoryLimit;
use crate::interrupt;

/// The hidden subcommand of a trial process.
pub const TRIAL_COMMAND: &str = "trial-process";

/// The period of checks for an interruption during a trial.
const LOOK_UP_PERIOD: Duration = Duration::from_millis(50);

/// Runs a trial in a new process of this program. `None` if the user interrupted the run. `line` prints the output
/// of libraries.
pub(super) fn run_trial(
    spec: &TrialSpec,
    line: fn(&str),
    mut progress: impl FnMut(Step),
) -> Outcome<Option<TrialReport>> {
    let limit = spec.memory_limit.map(MemoryLimit::new).transpose()?;
    let mut process = Process::start(spec, limit.as_ref())?;
    let mut outcome = None;
    loop {
        let said = process.lines.recv_timeout(LOOK_UP_PERIOD);
        if interrupt::is_requested() {
            return Ok(None);
        }
        match said.as_deref().map(serde_json::from_str) {
            Ok(Ok(Message::Progress(step))) => progress(step),
            Ok(Ok(Message::Done(report))) => outcome = Some(Ok(report)),
            Ok(Ok(Message::Failed(message))) => outcome = Some(Err(message)),
            Ok(Err(_)) if said.as_deref().is_ok_and(|said| !is_message(said)) => {
                let engine = spec.configuration.engine.label();
                line(&format!("  {engine} prints: {}", said.as_deref().unwrap_or_default()));
            }
            Ok(Err(error)) => {
                outcome = Some(Err(format!("cannot parse the report of the trial process: {error}")));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = process.wait()?;
    match outcome {
        Some(Ok(report)) => Ok(Some(report)),
        Some(Err(message)) => Err(Problem::new(message)),
        None => {
            let hint = limit.map_or("", |_| {
                "; trials.memory_limit may be too low for memtables, filters and the model that checks answers"
            });
            Err(Problem::new(format!("the trial process ended without a result ({status}){hint}")))
        }
    }
}

/// Whether a line is a message for this process. A message is a JSON object. Any other line comes from the library of
/// an engine.
fn is_message(line: &str) -> bool {
    line.starts_with('{')
}

/// A running process, which is killed when this value is dropped.
struct Process {
    child: Child,
    /// The lines of its standard output.
    lines: Receiver<String>,
    /// The write end of the process's standard input. The process exits when it is closed, including by the death of
    /// this process.
    _lifeline: ChildStdin,
}

impl Process {
    fn start(spec: &TrialSpec, limit: Option<&MemoryLimit>) -> Outcome<Self> {
        let program = std::env::current_exe().map_err(|error| Problem::doing("find this program", error))?;
        let mut command = Command::new(program);
        command.arg(TRIAL_COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        // Ctrl-C at a terminal is for the parent, which ends its trials in order.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| Problem::doing("start the trial process", error))?;
        let mut lifeline = child.stdin.take().expect("standard input is piped");
        let out = child.stdout.take().expect("standard output is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            // A closed receiver needs no more lines.
            lines.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        // The process has not allocated memory yet, because it waits for its specification.
        if let Some(limit) = limit {
            limit.hold(child.id()).inspect_err(|_| drop(child.kill()))?;
        }
        let text = serde_json::to_string(spec).expect("specifications are plain data");
        let sent = writeln!(lifeline, "{text}").and_then(|()| lifeline.flush());
        let process = Self { child, lines, _lifeline: lifeline };
        sent.map_err(|error| Problem::doing("write to the trial process", error))?;
        Ok(process)
    }

    fn wait(&mut self) -> Outcome<ExitStatus> {
        self.child.wait().map_err(|error| Problem::doing("wait for the trial process", error))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_library_prints_is_no_message() {
        let message = serde_json::to_string(&Message::Failed("{".to_owned())).unwrap();
        assert!(is_message(&message), "{message}");
        // SpeedB 2.7 prints this line when statistics are requested.
        assert!(!is_message("StatisticsData.size=56640"));
    }
}
