//! `lsmbench calibrate` measures the false-positive rate and the power of verdicts on this machine.

use run::{Programs, scratch};
use types::{Outcome, Problem};
use verdict::{Calibration, calibrate as run};

use crate::cli::CalibrateArguments;
use crate::output::{line, print};

/// The largest slowdown, in percent.
const MOST_PERCENT: f64 = 300.0;

/// Compares equal trees, and trees with a known slowdown. For each verdict, prints the fraction of the comparisons
/// with this verdict.
pub(crate) fn calibrate(arguments: &CalibrateArguments) -> Outcome<()> {
    if let Some(wrong) = arguments.slowdowns.iter().find(|percent| !(0.1..=MOST_PERCENT).contains(*percent)) {
        return Err(Problem::new(format!(
            "--slowdowns: {wrong} is outside of 0.1 to {MOST_PERCENT} percent"
        )));
    }
    let given = &arguments.slowdowns;
    if let Some(twice) = given.iter().enumerate().find(|(at, percent)| given[..*at].contains(percent)) {
        return Err(Problem::new(format!("--slowdowns: {} is given twice", twice.1)));
    }
    let work = scratch(arguments.work.as_deref())?;
    let mut options: Vec<String> =
        arguments.trials.map(|trials| format!("--trials={trials}")).into_iter().collect();
    options.extend(arguments.plan.as_ref().map(|plan| format!("--set=trials.plan={plan}")));
    options.push(format!("--set=verdict.metric={}", arguments.metric));
    options.extend(arguments.quick.then(|| "--quick".to_owned()));
    options.extend(arguments.allow_debug.then(|| "--allow-debug".to_owned()));
    let slowdowns: Vec<f64> = arguments.slowdowns.iter().map(|percent| percent / 100.0).collect();
    print(&run(&Calibration {
        comparisons: arguments.comparisons,
        slowdowns: &slowdowns,
        options,
        work: work.path(),
        runner: &Programs { line },
    })?)
}
