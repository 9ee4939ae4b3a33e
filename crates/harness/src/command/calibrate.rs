//! `lsmbench calibrate` measures the false-positive rate and the power of verdicts on this machine.

use std::fmt::Display;
use std::path::Path;

use experiment::{Experiment, Overrides, THRESHOLDS};
use results::targets::check_file;
use results::{Folder, Row};
use run::{Programs, scratch};
use types::{Outcome, Problem};
use verdict::{Calibration, CalibrationTable, calibrate as run, rows_of_rounds};

use crate::cli::CalibrateArguments;
use crate::output::{line, print};

/// The largest slowdown that `--slowdowns` accepts, in percent of the time of a get.
const MOST_PERCENT: f64 = 300.0;

/// Returns a percentage as a fraction, rounded to nine digits after the point. Without this rounding, 0.7 % would be
/// 0.006999999999999999.
fn fraction(percent: f64) -> f64 {
    (percent * 1e7).round() / 1e9
}

/// Compares trees with equal speed, and trees of which one has a known slowdown. Prints a table with the fraction of
/// comparisons that had each verdict.
pub(crate) fn calibrate(arguments: &CalibrateArguments) -> Outcome<()> {
    if let Some(wrong) = arguments.slowdowns.iter().find(|percent| !(0.1..=MOST_PERCENT).contains(*percent)) {
        return Err(Problem::new(format!(
            "--slowdowns contains {wrong}; each slowdown must be from 0.1 to {MOST_PERCENT} percent"
        )));
    }
    let threshold = fraction(arguments.threshold);
    if !THRESHOLDS.contains(&threshold) {
        let (least, most) = (THRESHOLDS.start() * 100.0, THRESHOLDS.end() * 100.0);
        return Err(Problem::new(format!(
            "--threshold is {percent}; the threshold must be from {least} to {most} percent",
            percent = arguments.threshold
        )));
    }
    check_unique("--slowdowns", &arguments.slowdowns)?;
    check_unique("--plan", &arguments.plan)?;
    check_unique("--metric", &arguments.metric)?;
    check_unique("--trials", &arguments.trials)?;
    [&arguments.csv, &arguments.markdown].into_iter().flatten().try_for_each(|file| check_file(file))?;
    let work = scratch(arguments.work.as_deref())?;
    let mut options = vec!["--no-page".to_owned()];
    options.extend(arguments.allow_debug.then(|| "--allow-debug".to_owned()));
    let slowdowns: Vec<f64> = arguments.slowdowns.iter().copied().map(fraction).collect();
    let judge = |config: &Path, sets: &[String], folder: &Folder, (metric, rounds): (&str, u64)| {
        let own = [format!("verdict.threshold={threshold}"), format!("verdict.metric={metric}")];
        let sets = sets.iter().cloned().chain(own).collect();
        judged(config, sets, folder, (rounds, arguments.quick))
    };
    let table = run(&Calibration {
        equal: arguments.equal.unwrap_or(arguments.comparisons),
        comparisons: arguments.comparisons,
        slowdowns: &slowdowns,
        plans: &arguments.plan,
        metrics: &arguments.metric,
        rounds: &arguments.trials,
        threshold,
        is_quick: arguments.quick,
        options,
        work: work.path(),
        runner: &Programs { line },
        judge: &judge,
        keep: &|table| keep(table, arguments),
    })?;
    print(&table.text())
}

/// Returns an error if the values of an option contain a duplicate.
fn check_unique<T: PartialEq + Display>(option: &str, given: &[T]) -> Outcome<()> {
    match given.iter().enumerate().find(|(at, value)| given[..*at].contains(value)) {
        Some((_, twice)) => {
            Err(Problem::new(format!("{option} contains {twice} twice; name each value once")))
        }
        None => Ok(()),
    }
}

/// Judges the first `rounds` rounds of a run, and returns the verdicts. The overrides `set` select the metric. Each
/// metric is judged separately, so the number of metrics does not change the verdicts.
fn judged(
    config: &Path,
    set: Vec<String>,
    folder: &Folder,
    (rounds, quick): (u64, bool),
) -> Outcome<Vec<Row>> {
    let overrides = Overrides { set, trials: Some(rounds), quick, ..Overrides::default() };
    let experiment = Experiment::load(config, &overrides)?;
    rows_of_rounds(&experiment.facts(), folder, rounds)
}

/// Writes the table of verdicts to the files that the options `--csv` and `--markdown` name.
fn keep(table: &CalibrationTable, arguments: &CalibrateArguments) -> Outcome<()> {
    let files = [(&arguments.csv, table.csv()), (&arguments.markdown, table.markdown())];
    for (file, text) in files.into_iter().filter_map(|(file, text)| Some((file.as_ref()?, text))) {
        std::fs::write(file, text)
            .map_err(|error| Problem::doing(format!("write {}", file.display()), error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_becomes_a_short_fraction() {
        for (percent, expected) in
            [(0.1, "0.001"), (0.7, "0.007"), (2.5, "0.025"), (7.0, "0.07"), (300.0, "3")]
        {
            assert_eq!(fraction(percent).to_string(), expected);
        }
    }
}
