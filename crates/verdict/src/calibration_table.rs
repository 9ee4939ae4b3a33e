//! The results of a calibration: how often each method detects a known slowdown, and how often the method reports a
//! difference between equal trees. The table can be formatted as text, CSV or Markdown.

use std::fmt::Write as _;

use measure::{Proportion, Verdict, median};

/// The smallest number of comparisons of equal trees for which the table judges the measured error rate. The expected
/// error rate is 5 %, which is one error in 20 comparisons.
const FEWEST_COMPARISONS: u64 = 20;

/// A method to compare two trees: the plan of the trials, the metric, and the number of rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// How the trials share the machine: the value of `trials.plan`.
    pub plan: String,
    /// The metric that the verdicts are about.
    pub metric: String,
    /// The number of rounds of each comparison.
    pub rounds: u64,
}

/// The comparisons of one method with one slowdown.
#[derive(Clone, Debug)]
pub struct CalibrationSeries {
    /// The method of these comparisons: plan, metric and number of rounds.
    pub method: Method,
    /// The requested slowdown of the second tree as a fraction; 0 for equal trees.
    pub slowdown: f64,
    /// The comparisons in the order of execution.
    pub runs: Vec<JudgedRun>,
}

/// One comparison of two trees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedRun {
    /// The verdict on the second tree.
    pub verdict: Verdict,
    /// The actual slowdown of the second tree as a fraction. This slowdown differs from the requested slowdown by a
    /// rounding error, because latencies are whole nanoseconds.
    pub planted: f64,
    /// The measured slowdown as a fraction. `None` if the verdict has no ratio.
    pub measured: Option<f64>,
    /// The noise floor of the comparison as a fraction: the largest difference that noise alone causes. `None` with the
    /// plan `duet`, because no core is left for a second trial of the baseline.
    pub noise_floor: Option<f64>,
    /// The smallest change that is detected with 80 % power, as a fraction. `None` if there is no noise floor.
    pub detectable: Option<f64>,
    /// The duration of the comparison in seconds.
    pub seconds: f64,
}

/// The results of a calibration: one series for each method and slowdown.
#[derive(Clone, Debug, Default)]
pub struct CalibrationTable {
    /// The smallest relative difference that counts as a change in all verdicts: 0.02 means 2 %.
    pub threshold: f64,
    /// One series of comparisons for each method and slowdown, in the order of the methods. The first series of each
    /// method compares equal trees.
    pub series: Vec<CalibrationSeries>,
}

impl CalibrationSeries {
    /// Creates an empty series for comparisons of one method with one slowdown.
    pub(crate) fn new(method: Method, slowdown: f64) -> Self {
        Self { method, slowdown, runs: Vec::new() }
    }

    /// Returns the share of the comparisons in this series whose verdict is one of `verdicts`. Returns `None` for an
    /// empty series.
    fn share(&self, verdicts: &[Verdict]) -> Option<Proportion> {
        let count = self.runs.iter().filter(|run| verdicts.contains(&run.verdict)).count();
        (!self.runs.is_empty()).then_some(Proportion { count: count as u64, tries: self.runs.len() as u64 })
    }

    /// Returns the share of the comparisons in this series that found a difference. For equal trees, both "slower" and
    /// "faster" count. For a slower second tree, only "slower" counts. Returns `None` for an empty series.
    fn found(&self) -> Option<Proportion> {
        match self.slowdown <= 0.0 {
            true => self.share(&[Verdict::Improved, Verdict::Regressed]),
            false => self.share(&[Verdict::Regressed]),
        }
    }

    /// Returns the median of a value over the comparisons of this series. Ignores comparisons for which `value` returns
    /// `None`.
    fn median(&self, value: impl Fn(&JudgedRun) -> Option<f64>) -> Option<f64> {
        median(self.runs.iter().filter_map(value))
    }

    /// Returns the name of the series for reports, such as `equal trees` or `5.0% slower`.
    fn name(&self) -> String {
        let planted = self.median(|run| Some(run.planted)).unwrap_or(self.slowdown);
        if self.slowdown <= 0.0 {
            "equal trees".to_owned()
        } else {
            format!("{:.1}% slower", planted * 100.0)
        }
    }
}

impl CalibrationTable {
    /// Returns all series with this plan and this slowdown: one for each metric and each number of rounds.
    pub(crate) fn series_of(
        &mut self,
        plan: &str,
        slowdown: f64,
    ) -> impl Iterator<Item = &mut CalibrationSeries> {
        let is_own = move |series: &&mut CalibrationSeries| {
            series.method.plan == plan && series.slowdown.total_cmp(&slowdown).is_eq()
        };
        self.series.iter_mut().filter(is_own)
    }

    /// Returns a progress line for a plan and a slowdown, such as `slices, 5.0% slower: 3 of 20`. `total` is the
    /// requested number of comparisons.
    pub(crate) fn progress(&self, plan: &str, slowdown: f64, total: u64) -> String {
        let mut own = self.series.iter();
        let own =
            own.find(|series| series.method.plan == plan && series.slowdown.total_cmp(&slowdown).is_eq());
        own.map_or_else(String::new, |series| {
            format!("{plan}, {}: {} of {total}", series.name(), series.runs.len())
        })
    }

    /// Returns the series of each method as one group. A group contains a series for each slowdown.
    fn methods(&self) -> impl Iterator<Item = &[CalibrationSeries]> {
        self.series.chunk_by(|a, b| a.method == b.method)
    }

    /// Formats the results of the calibration for a terminal. The first line names the threshold. Each method has a
    /// paragraph and a table.
    pub fn text(&self) -> String {
        let mut text = format!(
            "Threshold {threshold}%: verdicts ignore smaller differences.\n",
            threshold = in_percent(self.threshold)
        );
        let is_single = self.methods().count() == 1;
        for series in self.methods() {
            if !is_single {
                let Method { plan, metric, rounds } = &series[0].method;
                let _ = writeln!(text, "Plan {plan}, metric {metric}, {rounds} rounds:");
            }
            text += &paragraph(&series[0]);
            let _ = writeln!(
                text,
                "\n{:<16} {:>30} {:>12} {:>14} {:>10} {:>8}",
                "", "called slower", "equivalent", "inconclusive", "measured", "each"
            );
            series.iter().for_each(|series| text += &line(series));
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }

    /// Formats the results of the calibration as CSV: one row for each method and slowdown. Shares and the ends of
    /// their 95 % confidence intervals are fractions. The field of an unknown value is empty.
    pub fn csv(&self) -> String {
        let mut text =
            "plan,metric,rounds,threshold,slowdown,planted,comparisons,slower,faster,equivalent,inconclusive,found,\
                        found_low,found_high,measured,noise_floor,detectable,seconds\n"
                .to_owned();
        for series in &self.series {
            let Method { plan, metric, rounds } = &series.method;
            let count = |verdict| series.runs.iter().filter(|run| run.verdict == verdict).count();
            let found = series.found();
            let interval = found.map(Proportion::interval);
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.5}"));
            let numbers = [
                found.map(Proportion::share),
                interval.map(|interval| interval.low),
                interval.map(|interval| interval.high),
                series.median(|run| run.measured),
                series.median(|run| run.noise_floor),
                series.median(|run| run.detectable),
                series.median(|run| Some(run.seconds)),
            ];
            let planted = series.median(|run| Some(run.planted));
            let _ = writeln!(
                text,
                "{plan},{metric},{rounds},{},{},{},{},{},{},{},{},{}",
                self.threshold,
                series.slowdown,
                number(planted),
                series.runs.len(),
                count(Verdict::Regressed),
                count(Verdict::Improved),
                count(Verdict::Equivalent),
                count(Verdict::Inconclusive),
                numbers.map(number).join(",")
            );
        }
        text
    }

    /// Formats the results of the calibration as Markdown: one row for each method, and one column for each slowdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let slowdowns: Vec<f64> =
            self.methods().next().unwrap_or_default().iter().map(|series| series.slowdown).collect();
        let heads = slowdowns.iter().map(|slowdown| match *slowdown <= 0.0 {
            true => "equal trees reported as different".to_owned(),
            false => format!("{} % slower found", in_percent(*slowdown)),
        });
        let heads: Vec<String> = heads.collect();
        let _ =
            writeln!(text, "| plan | metric | rounds | threshold | {} | minutes each |", heads.join(" | "));
        let _ = writeln!(text, "|---|---|--:|--:|{}--:|", "--:|".repeat(heads.len()));
        let threshold = in_percent(self.threshold);
        for series in self.methods() {
            let Method { plan, metric, rounds } = &series[0].method;
            let cells: Vec<String> = series.iter().map(markdown_cell).collect();
            let minutes =
                median(series.iter().flat_map(|series| series.runs.iter().map(|run| run.seconds / 60.0)));
            let minutes = minutes.map_or_else(String::new, |minutes| format!("{minutes:.2}"));
            let _ = writeln!(
                text,
                "| `{plan}` | `{metric}` | {rounds} | {threshold} % | {} | {minutes} |",
                cells.join(" | ")
            );
        }
        text
    }
}

/// Converts a fraction to percent. Rounding removes the error of the binary fraction, so 0.05 is `5` and 0.025 is
/// `2.5`.
fn in_percent(fraction: f64) -> f64 {
    (fraction * 1e4).round() / 100.0
}

/// Formats how many comparisons of a series found a difference, with the 95 % confidence interval of this share:
/// `7 of 11 (31 to 89 %)`. Returns an empty text if there are no comparisons.
fn markdown_cell(series: &CalibrationSeries) -> String {
    series.found().map_or_else(String::new, |found| {
        let interval = found.interval();
        format!(
            "{} of {} ({:.0} to {:.0} %)",
            found.count,
            found.tries,
            interval.low * 100.0,
            interval.high * 100.0
        )
    })
}

/// Describes the comparisons of equal trees for a terminal: the share of false differences, the noise floor and the
/// detectable change.
fn paragraph(equal: &CalibrationSeries) -> String {
    let Some(different) = equal.found() else { return "No comparison of equal trees.\n".to_owned() };
    let comparisons = if different.tries == 1 { "comparison" } else { "comparisons" };
    let mut text = format!(
        "{tries} {comparisons} of equal trees, {count} reported as different: {share}; {advice}.\n",
        tries = different.tries,
        count = different.count,
        share = percent(different),
        advice = match different.tries < FEWEST_COMPARISONS {
            true =>
                format!("too few comparisons for the expected 5%; run at least {FEWEST_COMPARISONS} of them"),
            false => "a 95% CI allows 5%".to_owned(),
        }
    );
    // A duet measures no noise, because it has no core for a second trial of the baseline.
    let noise = equal.median(|run| run.noise_floor).zip(equal.median(|run| run.detectable));
    if let Some((floor, detectable)) = noise {
        let _ = writeln!(
            text,
            "Noise floor {floor:.1}%. A change of {change:.1}% is detected with 80% power (medians over \
             comparisons).",
            floor = floor * 100.0,
            change = detectable * 100.0
        );
    }
    text
}

/// Formats a series of comparisons as a table row for a terminal. Returns an empty text if the series is empty.
fn line(series: &CalibrationSeries) -> String {
    let Some(slower) = series.share(&[Verdict::Regressed]) else { return String::new() };
    let share = |verdict| {
        let share = series.share(&[verdict]).map_or(0.0, Proportion::share);
        format!("{:.0}%", share * 100.0)
    };
    format!(
        "{:<16} {:>30} {:>12} {:>14} {:>9.1}% {:>7.1}s\n",
        series.name(),
        percent(slower),
        share(Verdict::Equivalent),
        share(Verdict::Inconclusive),
        series.median(|run| run.measured).unwrap_or(f64::NAN) * 100.0,
        series.median(|run| Some(run.seconds)).unwrap_or_default()
    )
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

    fn table() -> CalibrationTable {
        let run = |verdict, ratio: f64, planted| JudgedRun {
            verdict,
            planted,
            measured: Some(ratio - 1.0),
            noise_floor: Some(0.01),
            detectable: Some(0.03),
            seconds: 1.5,
        };
        let (equivalent, slower) = (Verdict::Equivalent, Verdict::Regressed);
        let method = Method { plan: "rounds".to_owned(), metric: "mean_ns".to_owned(), rounds: 6 };
        let mut equal = CalibrationSeries::new(method.clone(), 0.0);
        equal.runs = [(equivalent, 1.0), (slower, 1.1), (equivalent, 0.99), (Verdict::Improved, 0.9)]
            .map(|(verdict, ratio)| run(verdict, ratio, 0.0))
            .into();
        let mut slow = CalibrationSeries::new(method, 0.05);
        slow.runs = [(slower, 1.06), (Verdict::Inconclusive, 1.02), (slower, 1.05)]
            .map(|(verdict, ratio)| run(verdict, ratio, 0.05))
            .into();
        CalibrationTable { threshold: 0.025, series: vec![equal, slow] }
    }

    #[test]
    fn shares_and_medians_are_reported() {
        let text = table().text();
        assert!(text.starts_with(
            "Threshold 2.5%: verdicts ignore smaller differences.\n4 comparisons of equal trees, 2 reported \
             as different: 50.0% (95% CI 6.8% to 93.2%); too few comparisons"
        ));
        let line = text.lines().find(|line| line.starts_with("5.0% slower")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[2..4], ["66.7%", "(95%"], "{line}");
        assert_eq!(words[words.len() - 2..], ["5.0%", "1.5s"], "{line}");
        assert_eq!(table().progress("rounds", 0.05, 20), "rounds, 5.0% slower: 3 of 20");
    }

    #[test]
    fn each_method_is_a_row_of_markdown_and_each_series_a_row_of_csv() {
        let mut both = table();
        let slices = table().series.into_iter().map(|mut series| {
            series.method.plan = "slices".to_owned();
            series.runs.clear();
            series
        });
        both.series.extend(slices);
        let lines: Vec<String> = both.markdown().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(
            lines[0],
            "| plan | metric | rounds | threshold | equal trees reported as different | 5 % slower found | minutes each |"
        );
        assert_eq!(
            lines[2],
            "| `rounds` | `mean_ns` | 6 | 2.5 % | 2 of 4 (7 to 93 %) | 2 of 3 (9 to 99 %) | 0.03 |"
        );
        // A plan without comparisons has no values.
        assert_eq!(lines[3], "| `slices` | `mean_ns` | 6 | 2.5 % |  |  |  |");
        let csv = both.csv();
        let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
        assert_eq!(
            rows[2][..12],
            ["rounds", "mean_ns", "6", "0.025", "0.05", "0.05000", "3", "2", "0", "0", "1", "0.66667"]
        );
        assert_eq!(rows[4][11..], [""; 7]);
        assert!(
            both.text().contains("Plan slices, metric mean_ns, 6 rounds:\nNo comparison of equal trees.")
        );
    }
}
