//! Checks which configurations can run with `trials.instructions`, and creates the task of the trial in which valgrind
//! counts the instructions.

use results::RunMode;
use subject::Task;
use workload::Work;

use super::cell::Cell;
use super::expand::refusal;
use super::resolved::Experiment;

/// Checks that valgrind can count the instructions of each configuration. Threads and timing would change the count, so
/// each configuration must be able to run in counted mode.
pub(super) fn check(cells: &[Cell]) -> Result<(), String> {
    let reason = |cell: &Cell| match cell.task.workload() {
        None => Some("a component experiment has no store, so its instructions cannot be counted".to_owned()),
        Some(_) => refusal(RunMode::Counted, cell).map(|reason| format!("{}: {reason}", cell.label)),
    };
    match cells.iter().find_map(reason) {
        Some(reason) => Err(format!("{reason}; change this setting, or remove trials.instructions")),
        None => Ok(()),
    }
}

impl Experiment {
    /// Returns the workload of the trial in which valgrind counts the instructions of the phase `phase`. If this phase
    /// has an operation mix, it executes at most `trials.instructions` operations.
    pub fn counted_task(&self, cell: &Cell, phase: &str) -> Task {
        let mut task = cell.task.clone();
        if let (Task::Workload(workload), Some(most)) = (&mut task, self.trials.instructions) {
            let own = workload.phases.iter_mut().filter(|own| own.name == phase);
            for own in own {
                if let Work::Mixed(mixed) = &mut own.work {
                    mixed.operations = mixed.operations.map(|operations| operations.min(most));
                }
            }
        }
        task
    }
}
