//! Runs one trial in its own process, while no other trial of the run is active.

use std::ffi::OsString;
use std::time::Duration;

use trial::{Message, Step, TrialReport, TrialSpec};
use types::{Outcome, Problem};

use super::trial_process::{Event, TrialProcess};
use crate::interrupt;

/// The interval at which a running trial checks whether the user has interrupted the run.
const LOOK_UP_PERIOD: Duration = Duration::from_millis(50);

/// Runs a trial in a new process of this program, and returns the report of the trial. `line` prints the output of
/// libraries in this process. Returns `None` if the user interrupted the run.
pub(super) fn run_trial(
    spec: &TrialSpec,
    line: fn(&str),
    progress: impl FnMut(Step),
) -> Outcome<Option<TrialReport>> {
    run_trial_under(&[], spec, line, progress)
}

/// Runs a trial in a process that the command `launcher` starts, such as a profiler with its arguments. Otherwise works
/// like [`run_trial`].
pub(super) fn run_trial_under(
    launcher: &[OsString],
    spec: &TrialSpec,
    line: fn(&str),
    mut progress: impl FnMut(Step),
) -> Outcome<Option<TrialReport>> {
    let mut process = TrialProcess::start(spec, launcher, line)?;
    let mut outcome = None;
    loop {
        let event = process.wait(LOOK_UP_PERIOD);
        if interrupt::is_requested() {
            return Ok(None);
        }
        match event {
            Event::Message(Message::Progress(step)) => progress(step),
            Event::Message(Message::Done(report)) => outcome = Some(Ok(report)),
            Event::Message(Message::Failed(message)) => outcome = Some(Err(message)),
            // Only processes that run side by side send `Yields`. This process runs alone.
            Event::Message(Message::Yields(_)) | Event::None => {}
            Event::Ended => break,
        }
    }
    match outcome {
        Some(outcome) => {
            process.end()?;
            outcome.map(Some).map_err(Problem::new)
        }
        None => Err(process.without_result()?),
    }
}
