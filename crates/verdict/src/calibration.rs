//! Measures the false-positive rate and the power of verdicts on this machine. lsmbench repeatedly compares equal trees
//! (A/A runs), and pairs of trees of which one is slower by a known percentage.
//!
//! Each value of `trials.plan` is combined with each slowdown. The comparisons of these combinations take turns, so
//! that a change of the machine affects all of them. lsmbench judges each run several times: by every requested metric,
//! and after every requested number of rounds. These verdicts share the measurements of one run.

use std::path::Path;
use std::time::Instant;

use measure::{Verdict, median};
use results::{Folder, Row, columns as c, verdicts};
use types::{Outcome, Problem};

use crate::calibration_table::{CalibrationSeries, CalibrationTable, JudgedRun, Method};
use crate::runner::Runner;

/// The experiment that a calibration runs, as TOML. It compares two equal trees on a simulated device.
const EXPERIMENT: &str = include_str!("calibration.toml");

/// The latency of a read on the simulated device of a calibration, in nanoseconds. The latency must be longer than the
/// CPU time of a read, because the device waits only for the difference.
const READ_NS: f64 = 1000.0;

/// The settings of a calibration: the comparisons and their number.
pub struct Calibration<'a> {
    /// The number of comparisons of equal trees for each value of `trials.plan`.
    pub equal: u64,
    /// The number of comparisons of unequal trees for each slowdown and each value of `trials.plan`.
    pub comparisons: u64,
    /// The slowdowns to test, as fractions: 0.02 means 2 %.
    pub slowdowns: &'a [f64],
    /// The values of `trials.plan` to test, at least one.
    pub plans: &'a [String],
    /// The metrics on which each calibration run gets a verdict, at least one.
    pub metrics: &'a [String],
    /// The numbers of rounds after which each calibration run gets a verdict, at least one. A run has as many rounds as
    /// the largest of these numbers.
    pub rounds: &'a [u64],
    /// The smallest relative difference that counts as a change in the verdicts: 0.02 means 2 %.
    pub threshold: f64,
    /// Whether the calibration runs have reduced sizes (`--quick`).
    pub is_quick: bool,
    /// Further command-line options of each calibration run.
    pub options: Vec<String>,
    /// Folder for the results of the calibration runs.
    pub work: &'a Path,
    /// The object that runs the experiments of the calibration.
    pub runner: &'a dyn Runner,
    /// The function that computes the verdict of a calibration run.
    pub judge: &'a JudgeRun<'a>,
    /// A function that receives the table of results after each pass over all plans and slowdowns, for example to save
    /// it.
    pub keep: &'a dyn Fn(&CalibrationTable) -> Outcome<()>,
}

/// A function that computes the verdicts of a run on one metric from only the first rounds of the run. The arguments
/// are the experiment file, the overrides of its settings (`--set`), the results folder, and the metric with the number
/// of rounds.
pub type JudgeRun<'a> = dyn Fn(&Path, &[String], &Folder, (&str, u64)) -> Outcome<Vec<Row>> + 'a;

/// Two trees to compare in a calibration, and the plan of their trials.
#[derive(Clone, Copy)]
struct Pair<'a> {
    plan: &'a str,
    /// The requested slowdown of the second tree as a fraction. 0 for equal trees.
    slowdown: f64,
}

/// Runs all comparisons of a calibration, and returns the table with the verdict of each comparison.
///
/// # Errors
/// Returns an error if a run fails or is interrupted.
pub fn calibrate(calibration: &Calibration<'_>) -> Outcome<CalibrationTable> {
    let config = calibration.work.join("calibration.toml");
    std::fs::write(&config, EXPERIMENT)
        .map_err(|error| Problem::doing(format!("write {}", config.display()), error))?;
    let mut table = calibration.table();
    // For each plan, the times of a get in the comparisons of equal trees so far, without waits for a CPU.
    let mut gets: Vec<Vec<f64>> = vec![Vec::new(); calibration.plans.len()];
    for number in 1..=calibration.equal.max(calibration.comparisons) {
        for (plan, gets) in calibration.plans.iter().zip(&mut gets) {
            if number <= calibration.equal {
                let pair = Pair { plan, slowdown: 0.0 };
                let busy_ns = calibration.compare(&config, number, pair, gets, &mut table)?;
                gets.push(busy_ns);
            }
            for slowdown in calibration.slowdowns.iter().filter(|_| number <= calibration.comparisons) {
                let pair = Pair { plan, slowdown: *slowdown };
                calibration.compare(&config, number, pair, gets, &mut table)?;
            }
        }
        (calibration.keep)(&table)?;
    }
    Ok(table)
}

impl Calibration<'_> {
    /// Returns an empty table of results: one series for each method and slowdown, without comparisons.
    fn table(&self) -> CalibrationTable {
        let mut series = Vec::new();
        for plan in self.plans {
            for metric in self.metrics {
                for rounds in self.rounds {
                    let method = Method { plan: plan.clone(), metric: metric.clone(), rounds: *rounds };
                    let slowdowns = [0.0].into_iter().chain(self.slowdowns.iter().copied());
                    series.extend(slowdowns.map(|slowdown| CalibrationSeries::new(method.clone(), slowdown)));
                }
            }
        }
        CalibrationTable { threshold: self.threshold, series }
    }

    /// Runs one comparison of two trees, and adds its verdicts to the table. `gets` contains the times of a get in
    /// earlier comparisons of equal trees, in nanoseconds; their median determines the read latency of the slower tree.
    /// Returns the time of a get of the first tree in nanoseconds, without waits for a CPU.
    fn compare(
        &self,
        config: &Path,
        number: u64,
        pair: Pair<'_>,
        gets: &[f64],
        table: &mut CalibrationTable,
    ) -> Outcome<f64> {
        let most = self.rounds.iter().copied().max().unwrap_or_default();
        let mut sets = vec![format!("trials.plan={}", pair.plan)];
        let mut planted = 0.0;
        if pair.slowdown > 0.0 {
            // A get makes one read, so the get becomes slower by the same number of nanoseconds as the read.
            let get_ns = median(gets.iter().copied()).unwrap_or(READ_NS);
            let slow_ns = (READ_NS + pair.slowdown * get_ns).round();
            planted = (slow_ns - READ_NS) / get_ns;
            sets.push(format!("sweep.design.storage.read_latency=[\"{READ_NS}ns\", \"{slow_ns}ns\"]"));
            sets.push("sweep.design.storage.pause_every=[\"1s\"]".to_owned());
        }
        let out = self.work.join(format!("{}-{}-{number}", pair.plan, pair.slowdown));
        let mut arguments =
            vec![config.display().to_string(), format!("--seed={number}"), format!("--trials={most}")];
        arguments.extend(sets.iter().map(|set| format!("--set={set}")));
        arguments.extend(self.is_quick.then(|| "--quick".to_owned()));
        arguments.extend(self.options.iter().cloned());
        let started = Instant::now();
        let folder = self.runner.run(None, &arguments, &out)?;
        let seconds = started.elapsed().as_secs_f64();
        for series in table.series_of(pair.plan, pair.slowdown) {
            let Method { metric, rounds, .. } = &series.method;
            let row = self.only_verdict(config, &sets, &folder, (metric, *rounds))?;
            let share = *rounds as f64 / most as f64;
            series.runs.push(JudgedRun::of(&row, planted, seconds * share)?);
        }
        let busy = self.only_verdict(config, &sets, &folder, (c::BUSY_NS.name, most))?;
        let busy_ns = busy.get(&verdicts::BASELINE_MEDIAN).number().unwrap_or(READ_NS);
        let text = table.progress(pair.plan, pair.slowdown, self.total(pair));
        self.runner.tell(&text);
        Ok(busy_ns)
    }

    /// Returns the requested number of comparisons of a pair of trees.
    fn total(&self, pair: Pair<'_>) -> u64 {
        if pair.slowdown <= 0.0 { self.equal } else { self.comparisons }
    }

    /// Returns the only verdict of a run that compares two trees. `judged` contains the metric of the verdict, and the
    /// number of rounds from which the verdict is computed. Returns an error if the run has no verdict.
    fn only_verdict(
        &self,
        config: &Path,
        sets: &[String],
        folder: &Folder,
        judged: (&str, u64),
    ) -> Outcome<Row> {
        (self.judge)(config, sets, folder, judged)?.pop().ok_or_else(|| {
            let path = folder.runs();
            Problem::new(format!(
                "{run} has no verdict, because a tree returned wrong answers",
                run = path.display()
            ))
        })
    }
}

impl JudgedRun {
    /// Reads the verdict of a calibration run from its row in `verdicts.csv`. `planted` is the actual slowdown of the
    /// second tree as a fraction. `seconds` is the duration of the run.
    fn of(row: &Row, planted: f64, seconds: f64) -> Outcome<Self> {
        let name = row.get(&verdicts::VERDICT).text().unwrap_or_default();
        let verdict = Verdict::ALL.into_iter().find(|verdict| verdict.name() == name);
        let number = |column| row.get(column).number();
        Ok(Self {
            verdict: verdict.ok_or_else(|| {
                Problem::new("a calibration run has no verdict; a verdict needs at least six rounds")
            })?,
            planted,
            measured: number(&verdicts::RATIO).map(|ratio| ratio - 1.0),
            noise_floor: number(&verdicts::NOISE_FLOOR),
            detectable: number(&verdicts::DETECTABLE),
            seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_experiment_reads_at_the_latency_that_slowdowns_are_added_to() {
        assert!(EXPERIMENT.contains("read_latency = \"1us\"") && READ_NS.total_cmp(&1000.0).is_eq());
    }

    #[test]
    fn a_row_without_a_verdict_needs_more_trials() {
        let mut row = verdicts::row();
        row.set(&verdicts::RATIO, 1.05);
        let error = JudgedRun::of(&row, 0.05, 1.0).unwrap_err().to_string();
        assert!(error.contains("at least six rounds"), "{error}");
        row.set(&verdicts::VERDICT, "regressed");
        let run = JudgedRun::of(&row, 0.05, 1.0).unwrap();
        assert_eq!((run.verdict, run.noise_floor), (Verdict::Regressed, None));
    }
}
