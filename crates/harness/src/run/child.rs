//! The process of a trial, seen from its parent.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use super::message::{Message, TrialReport, TrialSpec};
use crate::interrupt;
use crate::problem::{Outcome, Problem};

/// The hidden subcommand of a trial's process.
pub(crate) const TRIAL_COMMAND: &str = "trial-process";

/// Runs a trial in a fresh process of this program; `None` where the user has interrupted the run.
pub(super) fn run_trial(
    spec: &TrialSpec,
    mut progress: impl FnMut(&str, u64, Option<u64>),
) -> Outcome<Option<TrialReport>> {
    let program = std::env::current_exe().map_err(|error| Problem::doing("find this program", error))?;
    let mut command = Command::new(program);
    command.arg(TRIAL_COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let child = command.spawn().map_err(|error| Problem::doing("start the process of a trial", error))?;
    let mut child = Guard(child);
    let text = serde_json::to_string(spec).expect("specifications are plain data");
    let mut stdin = child.0.stdin.take().expect("standard input is piped");
    let sent = stdin.write_all(text.as_bytes());
    drop(stdin);
    sent.map_err(|error| Problem::doing("speak to the process of a trial", error))?;
    let stdout = child.0.stdout.take().expect("standard output is piped");
    let mut outcome = None;
    for line in BufReader::new(stdout).lines() {
        let line = line.map_err(|error| Problem::doing("listen to the process of a trial", error))?;
        if interrupt::is_requested() {
            return Ok(None);
        }
        match serde_json::from_str(&line) {
            Ok(Message::Progress { phase, done, total }) => progress(&phase, done, total),
            Ok(Message::Done(report)) => outcome = Some(Ok(report)),
            Ok(Message::Failed(message)) => outcome = Some(Err(message)),
            Err(error) => outcome = Some(Err(format!("its process said what nobody understands: {error}"))),
        }
    }
    let status = child.0.wait().map_err(|error| Problem::doing("wait for the process of a trial", error))?;
    if interrupt::is_requested() {
        return Ok(None);
    }
    let place = format!("cell {}, trial {}", spec.cell, spec.trial);
    match outcome {
        Some(Ok(report)) => Ok(Some(report)),
        Some(Err(message)) => Err(Problem::new(format!("{place}: {message}"))),
        None => Err(Problem::new(format!("{place}: its process ended without a result ({status})"))),
    }
}

/// Ends the process when its parent gives up.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
