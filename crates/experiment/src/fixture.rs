//! The checks of the setting `trials.fixture`. A fixture is a store on which the first phases of a workload have run.
//! Every trial starts from a copy of the fixture.

use catalog::Limit;
use subject::Task;
use workload::{Before, Phase, Rate, StoreStep, Work};

use super::cell::Cell;
use super::engine::{engine, engine_label};
use super::resolved::Experiment;
use super::wording;

impl Experiment {
    /// Returns how many phases at the start of the workload run only once, to create the store (the fixture) that every
    /// trial copies.
    pub fn fixture_phases(&self, task: &Task) -> usize {
        self.trials.fixture.as_ref().map_or(0, |last| {
            task.phases().iter().position(|phase| phase == last).map_or(0, |place| place + 1)
        })
    }
}

/// Checks that every trial can start from a copy of the store after the phase `last`. The error is a sentence about the
/// first phase or engine for which this is not possible.
pub(super) fn check(last: &str, task: &Task, cells: &[Cell]) -> Result<(), String> {
    let Some(workload) = task.workload() else {
        return Err(
            "a component experiment has no store, so it cannot have a fixture; remove trials.fixture"
                .to_owned(),
        );
    };
    let phases = task.phases();
    let Some(place) = phases.iter().position(|phase| phase == last) else {
        return Err(wording::unknown("phase", last, phases.iter().map(String::as_str)));
    };
    if place + 1 == phases.len() {
        return Err(format!(
            "\"{last}\" is the last phase, so lsmbench would measure no phase; name an earlier phase"
        ));
    }
    let replay = workload.phases[..=place].iter().find(|phase| matches!(phase.work, Work::Replay(_)));
    if let Some(phase) = replay {
        let name = &phase.name;
        return Err(format!(
            "phase \"{name}\" replays recorded operations, so its final state is not known in advance; name \
             an earlier phase"
        ));
    }
    let is_lost = |phase: &&Phase| phase.step().is_some_and(|step| !step.is_kept_in_files());
    if let Some(phase) = workload.phases[..=place].iter().find(is_lost) {
        let (name, step) = (&phase.name, phase.step().map_or("", StoreStep::name));
        return Err(format!(
            "phase \"{name}\" is part of the fixture, but step = \"{step}\" changes no file of the store; \
             move this phase after the fixture"
        ));
    }
    let searching = workload.phases[..=place].iter().find(|phase| matches!(phase.rate, Rate::Sustained(_)));
    if let Some(phase) = searching {
        let name = &phase.name;
        return Err(format!(
            "phase \"{name}\" searches for a rate, so its operations differ between trials; name an earlier \
             phase"
        ));
    }
    if let Some(phase) = workload.phases[..=place].iter().find(|phase| phase.before != Before::default()) {
        let name = &phase.name;
        return Err(format!(
            "phase \"{name}\" is part of the fixture and therefore not measured; remove its keys `cache` and `warm_up`"
        ));
    }
    if let Some(cell) = cells.iter().find(|cell| !engine(&cell.engine).stores_can_be_cloned()) {
        let name = engine_label(&cell.engine);
        return Err(format!(
            "engine \"{name}\" cannot start from a fixture, because it may change files in place; remove \
             trials.fixture"
        ));
    }
    if cells.iter().any(|cell| cell.design.has_family_trees()) {
        let message = "a store with families has several folders, so it cannot be a fixture; remove trials.fixture, or \
                       set design.families.layout = \"prefixed\"";
        return Err(message.to_owned());
    }
    let not_durable = cells.iter().find_map(|cell| {
        let limits = cell.design.limits();
        limits.into_iter().find(|(_, _, limit)| *limit == Limit::NotDurable)
    });
    not_durable.map_or(Ok(()), |(axis, choice, limit)| {
        Err(format!("{axis} = \"{choice}\" {limit}, so a fixture would have no files; remove trials.fixture"))
    })
}

/// Checks that lsmbench measures the phase of the verdict. lsmbench does not measure the phases that run only once, to
/// create the store that every trial copies. The error is a sentence.
pub(super) fn check_measured(phase: &str, fixture: Option<&str>, task: &Task) -> Result<(), String> {
    let phases = task.phases();
    let place = |name: &str| phases.iter().position(|phase| phase == name);
    match fixture.and_then(place).zip(place(phase)) {
        Some((last, place)) if place <= last => Err(format!(
            "phase \"{phase}\" is part of the fixture and therefore not measured. {valid}",
            valid = wording::valid(phases[last + 1..].iter().map(String::as_str))
        )),
        _ => Ok(()),
    }
}
