//! Prints the progress of the parts of an experiment while other processes run them.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use experiment::Experiment;
use run::{PartState, part_states};
use types::Outcome;
use verdict::counted;

use crate::output::line;

/// The interval at which lsmbench reads the progress of the parts from their folder.
const PERIOD: Duration = Duration::from_millis(500);

/// Prints a table of the parts of an experiment after each change, and returns when all parts are done.
pub(super) fn watch(experiment: &Experiment, out: &Path, count: u64) -> Outcome<()> {
    let start = Instant::now();
    let mut first = None;
    let mut shown = String::new();
    loop {
        let states = part_states(out, experiment, count)?;
        let finished: u64 = states.iter().map(|state| state.finished).sum();
        let of: u64 = states.iter().map(|state| state.trials).sum();
        let table = table(&states, out);
        if table != shown {
            let before = *first.get_or_insert(finished);
            line(&format!(
                "{table}{finished} of {trials}{left}",
                trials = counted(of as usize, "trial"),
                left = left(start.elapsed(), finished - before, of - finished)
            ));
            shown = table;
        }
        if states.iter().all(|state| state.is_done) {
            return Ok(());
        }
        std::thread::sleep(PERIOD);
    }
}

/// Returns a table with one line per part of an experiment: its finished trials, its machine, and the last line of its
/// log if the part is not done.
fn table(states: &[PartState], out: &Path) -> String {
    let mut text = String::new();
    for PartState { number, finished, trials, node, is_done } in states {
        let log = std::fs::read_to_string(out.join(format!("part-{number}.log"))).unwrap_or_default();
        let last = log.lines().rev().find(|line| !line.trim().is_empty()).filter(|_| !is_done);
        let state = match (is_done, node) {
            (true, _) => "done",
            (false, Some(_)) => "begun",
            (false, None) => "missing",
        };
        let node = node.as_deref().unwrap_or("-");
        let _ = writeln!(
            text,
            "{number:>5}  {state:<7}  {finished:>5} of {trials:<5}  {node:<16}  {}",
            last.unwrap_or_default().trim()
        );
    }
    text
}

/// Estimates the remaining time of a run from the speed of the trials so far, such as `, about 2m left`. Returns an
/// empty text if no trial has finished or none remains.
fn left(elapsed: Duration, finished: u64, rest: u64) -> String {
    if finished == 0 || rest == 0 {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64() * rest as f64 / finished as f64;
    format!(", about {} left", humantime::format_duration(Duration::from_secs(seconds as u64)))
}
