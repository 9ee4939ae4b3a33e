//! Determines how many trials of each part of an experiment have finished.

use std::path::Path;

use experiment::Experiment;
use results::{Folder, Manifest, Table};
use types::Outcome;

use super::cut::Cut;
use super::part::Part;

/// The progress of one part of an experiment: the number of its finished trials, and its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartState {
    /// The number of the part, starting at 1.
    pub number: u64,
    /// The number of finished trials of the part.
    pub finished: u64,
    /// The number of trials of the part. Does not include the second trials of baselines, which measure noise.
    pub trials: u64,
    /// The machine that runs or last ran the part. `None` if no machine has started the part.
    pub node: Option<String>,
    /// Whether all trials of the part have finished.
    pub is_done: bool,
}

/// Returns the numbers of the incomplete parts of an experiment. `parts` is the folder that contains the parts, and
/// `count` is the number of all parts.
pub fn missing(parts: &Path, experiment: &str, count: u64) -> Vec<u64> {
    let is_done =
        |number: u64| manifest(parts, experiment, (number, count)).is_some_and(|of| of.ended.is_some());
    (1..=count).filter(|number| !is_done(*number)).collect()
}

/// Checks that an experiment can be divided into `count` parts.
///
/// # Errors
/// Returns an error if the trials run side by side or share a time budget, or if the number of parts is not possible.
/// For example, if a timed experiment has more parts than rounds, the number of parts must be a multiple of the number
/// of rounds.
pub fn check_count(experiment: &Experiment, count: u64) -> Outcome<()> {
    let cut = Cut::of(experiment, &experiment.facts());
    Part::new(1, count).map_or(Ok(()), |part| cut.check(part))
}

/// Returns the states of all parts of an experiment. `parts` is the folder that contains the parts, and `count` is the
/// number of all parts.
///
/// # Errors
/// Returns an error if the rows of a part cannot be read.
pub fn part_states(parts: &Path, experiment: &Experiment, count: u64) -> Outcome<Vec<PartState>> {
    let cut = Cut::of(experiment, &experiment.facts());
    let phases = experiment.task.phases();
    let last_phase = phases.last().map_or("", String::as_str);
    let state = |part: Part| {
        let own = |place: usize| {
            let trials = 0..experiment.trials.count;
            trials.filter(|trial| cut.holds(part, place, *trial)).count() as u64
        };
        let number = part.number();
        let manifest = manifest(parts, &experiment.name, (number, count));
        let runs = folder(parts, &experiment.name, number).runs();
        let finished = match manifest.is_some() && runs.exists() {
            true => Table::read(&runs)?.finished(last_phase).len() as u64,
            false => 0,
        };
        let node = manifest.as_ref().and_then(|of| Some(of.part.as_ref()?.nodes.last()?.name.clone()));
        Ok(PartState {
            number,
            finished,
            trials: (0..experiment.cells.len()).map(own).sum(),
            node,
            is_done: manifest.is_some_and(|of| of.ended.is_some()),
        })
    };
    (1..=count).filter_map(|number| Part::new(number, count)).map(state).collect()
}

fn folder(parts: &Path, experiment: &str, number: u64) -> Folder {
    Folder::new(parts.join(number.to_string()).join(experiment))
}

/// Reads the manifest of a part. Returns `None` if no machine has started the part.
fn manifest(parts: &Path, experiment: &str, (number, count): (u64, u64)) -> Option<Manifest> {
    let manifest = Manifest::read(&folder(parts, experiment, number).manifest()).ok()?;
    let part = manifest.part.as_ref()?;
    ((part.number, part.count) == (number, count)).then_some(manifest)
}
