//! Checks whether the trials of an experiment can run side by side in slices. In a slice, each trial executes the same
//! number of operations. The comparison is valid only if a slice contains the same operations in all configurations.

use results::{Interleaving, RunMode};
use subject::Task;
use workload::{Phase, Rate, WarmUp, Work};

use super::trials::Trials;

/// Checks that the experiment can run with its `trials.plan`. `cells` is the number of configurations. The error is a
/// sentence.
pub(super) fn check(trials: &Trials, task: &Task, cells: usize) -> Result<(), String> {
    let Some(plan) = trials.plan.filter(|plan| *plan != Interleaving::Rounds) else { return Ok(()) };
    let name = plan.name();
    let reason = match task.workload() {
        _ if trials.mode == RunMode::Counted => Some("counted mode measures no time".to_owned()),
        None => Some("a component experiment has no store that could run in slices".to_owned()),
        Some(workload) => workload.phases.iter().find_map(obstacle),
    };
    if let Some(reason) = reason {
        return Err(format!("\"{name}\" is not possible: {reason}; use trials.plan = \"rounds\""));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if plan == Interleaving::Duet && cells > cores {
        return Err(format!(
            "\"duet\" needs one core per configuration, but there are {cells} configurations and {cores} \
             cores; use \"slices\""
        ));
    }
    Ok(())
}

/// Returns the reason why a phase cannot be divided into slices with the same operations in all configurations. Returns
/// `None` if the phase can be divided.
fn obstacle(phase: &Phase) -> Option<String> {
    let name = &phase.name;
    let is_timed_warm_up = phase.before.warm_up.is_some_and(WarmUp::is_timed);
    match &phase.work {
        _ if phase.rate != Rate::Closed => {
            Some(format!("phase {name} sets a rate, but trials in slices support only phases without a rate"))
        }
        _ if is_timed_warm_up => Some(format!(
            "the warm-up of phase {name} ends after a time, so its number of operations may differ between \
             configurations"
        )),
        Work::Mixed(mixed) if mixed.time_limit_ns.is_some() => Some(format!(
            "phase {name} ends after a time, so its number of operations may differ between configurations"
        )),
        Work::Roles(_) => Some(format!(
            "phase {name} has roles, whose numbers of operations may differ between configurations"
        )),
        Work::Replay(_) => {
            Some(format!("phase {name} replays a trace, which trials in slices do not support"))
        }
        Work::Load(_) | Work::Mixed(_) | Work::Step(_) => None,
    }
}
