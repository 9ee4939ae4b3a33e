//! Starts, controls and ends the process of a trial, and receives its messages.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use trial::{Message, TrialSpec, Turn};
use types::{Outcome, Problem};

use super::memory_limit::MemoryLimit;

/// The name of the hidden subcommand that runs a trial process.
pub const TRIAL_COMMAND: &str = "trial-process";

/// The process of a running trial. The process is killed when this value is dropped.
pub(super) struct TrialProcess {
    child: Child,
    /// The lines that the process writes to its standard output.
    lines: Receiver<String>,
    /// The write end of the standard input of the trial process. The trial process exits when this pipe is closed,
    /// which also happens if the parent process dies.
    lifeline: ChildStdin,
    limit: Option<MemoryLimit>,
    /// The engine of the trial with its parameters, as text for messages.
    engine: String,
    /// A function that prints a line of output from a library in the process.
    line: fn(&str),
}

/// The result of waiting for a message of a trial process.
pub(super) enum Event {
    /// The trial process sent no message within the time limit.
    None,
    Message(Message),
    /// The process has closed its standard output, so it sends no more messages.
    Ended,
}

impl TrialProcess {
    /// Starts the process of a trial. `launcher` is the command that starts the trial process, such as a profiler with
    /// its arguments, or empty. `line` prints the output of libraries.
    pub(super) fn start(spec: &TrialSpec, launcher: &[OsString], line: fn(&str)) -> Outcome<Self> {
        let limit = spec.memory_limit.map(MemoryLimit::new).transpose()?;
        let program = std::env::current_exe().map_err(|error| Problem::doing("find this program", error))?;
        let mut words = launcher.iter().cloned().chain([program.into_os_string(), TRIAL_COMMAND.into()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        // Ctrl-C at a terminal is for the parent, which ends its trials in order.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| Problem::doing("start the trial process", error))?;
        let mut lifeline =
            child.stdin.take().expect("the standard input of the trial process must be a pipe");
        let out = child.stdout.take().expect("the standard output of the trial process must be a pipe");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            // A closed receiver needs no more lines.
            lines.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        // The process has allocated no memory yet, because it waits for its specification.
        if let Some(limit) = &limit {
            limit.hold(child.id()).inspect_err(|_| drop(child.kill()))?;
        }
        let text = serde_json::to_string(spec)
            .expect("every type in the settings of a trial must serialize to JSON");
        let sent = writeln!(lifeline, "{text}").and_then(|()| lifeline.flush());
        let process = Self { child, lines, lifeline, limit, engine: spec.configuration.engine.label(), line };
        sent.map_err(|error| Problem::doing("write to the trial process", error))?;
        Ok(process)
    }

    /// Waits for a message of the trial process, for at most the time `most`.
    pub(super) fn wait(&self, most: Duration) -> Event {
        let said = match self.lines.recv_timeout(most) {
            Ok(said) => said,
            Err(RecvTimeoutError::Timeout) => return Event::None,
            Err(RecvTimeoutError::Disconnected) => return Event::Ended,
        };
        match serde_json::from_str(&said) {
            Ok(message) => Event::Message(message),
            Err(_) if !is_message(&said) => {
                (self.line)(&format!("  {} prints: {said}", self.engine));
                Event::None
            }
            Err(error) => Event::Message(Message::Failed(format!(
                "cannot parse the report of the trial process: {error}"
            ))),
        }
    }

    /// Sends the trial process the order to execute one turn.
    pub(super) fn give(&mut self, turn: Turn) {
        let text = serde_json::to_string(&turn)
            .expect("every type in the order to a trial process must serialize to JSON");
        // If the process has ended, the next event reports its exit status.
        let _ = writeln!(self.lifeline, "{text}").and_then(|()| self.lifeline.flush());
    }

    /// Pauses the trial process with all its threads, and waits until it is paused or has ended. Kernel calls that
    /// cannot be interrupted, such as a sync, complete first.
    pub(super) fn stop(&self) -> Outcome<()> {
        self.signal(Signal::STOP)?;
        let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let stopped = waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
        stopped.map(drop).map_err(|error| Problem::doing("wait for the trial process to stop", error))
    }

    /// Continues a paused trial process.
    pub(super) fn go_on(&self) -> Outcome<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Outcome<()> {
        kill_process(Pid::from_child(&self.child), signal)
            .map_err(|error| Problem::doing("send a signal to the trial process", error))
    }

    /// Waits for the end of a trial process that has closed its output, and returns its exit status.
    pub(super) fn end(&mut self) -> Outcome<std::process::ExitStatus> {
        self.child.wait().map_err(|error| Problem::doing("wait for the trial process", error))
    }

    /// Returns the error for a trial process that has ended without sending a result.
    pub(super) fn without_result(&mut self) -> Outcome<Problem> {
        let status = self.end()?;
        let hint = self.limit.as_ref().map_or("", |_| {
            "; trials.memory_limit may be too low for memtables, filters, and the expected contents with which answers \
             are checked"
        });
        Ok(Problem::new(format!("the trial process ended without reporting a result ({status}){hint}")))
    }
}

/// Returns whether a line of output is a message of the trial process, which is a JSON object. Any other line comes
/// from a library in the process.
fn is_message(line: &str) -> bool {
    line.starts_with('{')
}

impl Drop for TrialProcess {
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
