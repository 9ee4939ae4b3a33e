//! Measures the false-positive rate and the power of verdicts on this machine. lsmbench repeatedly compares equal trees
//! (A/A runs), and pairs of trees of which one is slower by a known percentage.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use measure::{Proportion, Verdict};
use results::{Folder, Row, verdicts};

use crate::runner::Runner;
use types::{Outcome, Problem};

/// The experiment with two equal trees.
const EXPERIMENT: &str = include_str!("calibration.toml");

/// The latency of a read in the experiment, in nanoseconds.
const READ_NS: f64 = 200.0;

/// Minimum number of comparisons for an expected error rate of 5 %, which is one in twenty.
const FEWEST_COMPARISONS: u64 = 20;

/// The settings of a calibration: the comparisons and their number.
pub struct Calibration<'a> {
    /// The number of comparisons of equal trees, and the number for each slowdown.
    pub comparisons: u64,
    /// The slowdowns to test, as fractions: 0.02 means 2 %.
    pub slowdowns: &'a [f64],
    /// Further options of each run.
    pub options: Vec<String>,
    /// Folder for the results of the calibration runs.
    pub work: &'a Path,
    /// Runs the comparisons.
    pub runner: &'a dyn Runner,
}

/// The results of comparisons between two trees.
struct Series {
    /// The injected slowdown as a fraction; 0 for equal trees.
    planted: f64,
    /// The verdict of each comparison, in order.
    verdicts: Vec<Verdict>,
    /// The measured difference, as the median over comparisons.
    measured: f64,
    /// The noise floor, as the median over comparisons.
    floor: f64,
    /// The smallest change that is detected with 80 % power, as the median over comparisons.
    detectable: f64,
    /// The time of a get of the baseline, in nanoseconds.
    get_ns: f64,
    /// The mean duration of a comparison.
    each: Duration,
}

/// Runs the comparisons and reports the share of each verdict.
///
/// # Errors
/// A run that fails or is interrupted.
pub fn calibrate(calibration: &Calibration<'_>) -> Outcome<String> {
    let config = calibration.work.join("calibration.toml");
    std::fs::write(&config, EXPERIMENT)
        .map_err(|error| Problem::doing(format!("write {}", config.display()), error))?;
    let equal = calibration.series("equal", &config, 0.0, &[])?;
    let mut series = Vec::new();
    for (place, slowdown) in calibration.slowdowns.iter().enumerate() {
        // A get makes one read, so a slower read makes the get slower by as much time.
        let slow_ns = (READ_NS + slowdown * equal.get_ns).round();
        let planted = (slow_ns - READ_NS) / equal.get_ns;
        let reads = format!("sweep.design.storage.read_latency=[\"{READ_NS}ns\", \"{slow_ns}ns\"]");
        let never_paused = "sweep.design.storage.pause_every=[\"1s\"]".to_owned();
        series.push(calibration.series(
            &format!("slower-{place}"),
            &config,
            planted,
            &[reads, never_paused],
        )?);
    }
    Ok(report(&equal, &series))
}

impl Calibration<'_> {
    /// Compares two trees repeatedly, each time with other keys, in folders with the name `folder` and a number.
    fn series(&self, folder: &str, config: &Path, planted: f64, sets: &[String]) -> Outcome<Series> {
        let (mut rows, started) = (Vec::new(), Instant::now());
        for number in 1..=self.comparisons {
            let out = self.work.join(format!("{folder}-{number}"));
            let mut arguments = vec![config.display().to_string(), format!("--seed={number}")];
            arguments.extend(sets.iter().map(|set| format!("--set={set}")));
            arguments.extend(self.options.iter().cloned());
            let folder = self.runner.run(None, &arguments, &out)?;
            rows.push(only_verdict(&folder)?);
            self.runner.tell(&format!("{}: {number} of {}", name(planted), self.comparisons));
        }
        let each = started.elapsed() / u32::try_from(self.comparisons).unwrap_or(u32::MAX);
        Series::of(planted, &rows, each)
    }
}

/// Returns the only comparison of a run.
fn only_verdict(folder: &Folder) -> Outcome<Row> {
    let path = folder.verdicts();
    verdicts::read(&path)?.pop().ok_or_else(|| {
        Problem::new(format!("{} has no verdict, because a tree returned wrong answers", path.display()))
    })
}

impl Series {
    fn of(planted: f64, rows: &[Row], each: Duration) -> Outcome<Self> {
        let verdict = |row: &Row| {
            let name = row.get(&verdicts::VERDICT).text().unwrap_or_default();
            Verdict::ALL.into_iter().find(|verdict| verdict.name() == name)
        };
        let verdicts: Option<Vec<Verdict>> = rows.iter().map(verdict).collect();
        let verdicts =
            verdicts.ok_or_else(|| Problem::new("a run has no verdict; use at least six trials"))?;
        let median = |column| {
            let values = rows.iter().filter_map(|row: &Row| row.get(column).number());
            measure::median(values).unwrap_or(f64::NAN)
        };
        Ok(Self {
            planted,
            verdicts,
            measured: median(&verdicts::RATIO) - 1.0,
            floor: median(&verdicts::NOISE_FLOOR),
            detectable: median(&verdicts::DETECTABLE),
            get_ns: median(&verdicts::BASELINE_MEDIAN),
            each,
        })
    }

    fn share(&self, verdicts: &[Verdict]) -> Proportion {
        let count = self.verdicts.iter().filter(|verdict| verdicts.contains(verdict)).count();
        Proportion { count: count as u64, tries: self.verdicts.len() as u64 }
    }
}

/// Returns the name of a series of comparisons.
fn name(planted: f64) -> String {
    if planted == 0.0 { "equal trees".to_owned() } else { format!("{:.1}% slower", planted * 100.0) }
}

fn report(equal: &Series, slower: &[Series]) -> String {
    let mut text = String::new();
    let different = equal.share(&[Verdict::Improved, Verdict::Regressed]);
    let comparisons = if different.tries == 1 { "comparison" } else { "comparisons" };
    let _ = writeln!(
        text,
        "{} {comparisons} of equal trees, {} called different: {}; {}.",
        different.tries,
        different.count,
        percent(different),
        match different.tries < FEWEST_COMPARISONS {
            true => format!("too few comparisons for the expected 5%, which takes {FEWEST_COMPARISONS}"),
            false => "a 95% CI allows 5%".to_owned(),
        }
    );
    // A duet measures no noise, because it has no core for a second trial of the baseline.
    if equal.floor.is_finite() {
        let _ = writeln!(
            text,
            "Noise floor {:.1}%. A change of {:.1}% is detected with 80% power (medians over comparisons).",
            equal.floor * 100.0,
            equal.detectable * 100.0
        );
    }
    let _ = writeln!(
        text,
        "\n{:<16} {:>30} {:>12} {:>14} {:>10} {:>8}",
        "", "called slower", "equivalent", "inconclusive", "measured", "each"
    );
    for series in [equal].into_iter().chain(slower) {
        let share = |verdict| format!("{:.0}%", series.share(&[verdict]).share() * 100.0);
        let _ = writeln!(
            text,
            "{:<16} {:>30} {:>12} {:>14} {:>9.1}% {:>7.1}s",
            name(series.planted),
            percent(series.share(&[Verdict::Regressed])),
            share(Verdict::Equivalent),
            share(Verdict::Inconclusive),
            series.measured * 100.0,
            series.each.as_secs_f64()
        );
    }
    text
}

/// Formats a proportion and its confidence interval in percent.
fn percent(proportion: Proportion) -> String {
    let interval = proportion.interval();
    format!(
        "{:.1}% (95% CI {:.1}% to {:.1}%)",
        proportion.share() * 100.0,
        interval.low * 100.0,
        interval.high * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(verdict: &str, ratio: f64) -> Row {
        let mut row = verdicts::row();
        row.set(&verdicts::VERDICT, verdict).set(&verdicts::RATIO, ratio);
        row.set(&verdicts::BASELINE_MEDIAN, 1000.0).set(&verdicts::NOISE_FLOOR, 0.01);
        row.set(&verdicts::DETECTABLE, 0.03);
        row
    }

    #[test]
    fn shares_and_medians_are_reported() {
        let each = Duration::from_millis(1500);
        let rows =
            [row("equivalent", 1.0), row("regressed", 1.1), row("equivalent", 0.99), row("improved", 0.9)];
        let equal = Series::of(0.0, &rows, each).unwrap();
        let rows = [row("regressed", 1.06), row("inconclusive", 1.02), row("regressed", 1.05)];
        let slower = Series::of(0.05, &rows, each).unwrap();
        let text = report(&equal, &[slower]);
        assert!(text.starts_with(
            "4 comparisons of equal trees, 2 called different: 50.0% (95% CI 6.8% to 93.2%); too few comparisons"
        ));
        let line = text.lines().find(|line| line.starts_with("5.0% slower")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[2..4], ["66.7%", "(95%"], "{line}");
        assert_eq!(words[words.len() - 2..], ["5.0%", "1.5s"], "{line}");
        assert!(Series::of(0.0, &[row("", 1.0)], each).is_err());
    }

    #[test]
    fn the_experiment_reads_at_the_latency_that_slowdowns_are_added_to() {
        assert!(EXPERIMENT.contains(&format!("read_latency = \"{READ_NS}ns\"")));
    }
}
