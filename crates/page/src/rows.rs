//! The rows of the table that the page shows without its script. Each row compares a configuration with its baseline.

use measure::{Comparison, Criteria, Noise, Sample, Verdict, adjust, compare, compare_exact};
use results::{Better, Unit};
use verdict::RatioChange;

use crate::data::{MetricData, RunData, VerdictData};
use crate::numbers::Matrix;
use crate::selection::Selection;

/// A row of the table: a configuration, and its comparison with the baseline of its group.
pub(crate) struct TableRow<'a> {
    /// The index of the configuration in the manifest.
    pub(crate) cell: usize,
    /// The index of the baseline's configuration in the manifest.
    pub(crate) baseline_cell: usize,
    pub(crate) heading: &'a str,
    /// The name that distinguishes the configuration from the other configurations of its group.
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    pub(crate) median: Option<f64>,
    /// The median of the metric in the baseline.
    pub(crate) baseline: Option<f64>,
    /// The comparison with the baseline. `None` if the configuration is the baseline.
    pub(crate) comparison: Option<Comparison>,
    /// The name of the threshold below which the comparison ignores a difference: `noise floor` or `threshold`.
    threshold: &'static str,
    /// The verdict in `verdicts.csv` on the configuration, if there is one.
    pub(crate) verdict: Option<&'a VerdictData>,
    /// The number of rounds in which the configuration has a value.
    pub(crate) trials: usize,
}

/// Returns the rows of the table for a phase, a kind of operation and a metric, group by group.
pub(crate) fn rows(run: &RunData, of: Selection) -> Vec<TableRow<'_>> {
    let Some(matrix) = run.matrix(of) else { return Vec::new() };
    let better = better(&run.metrics[of.metric]);
    let sample = |cell: usize| matrix.cells[cell].sample("", &run.rounds);
    let mut rows = Vec::new();
    for (number, group) in run.groups.iter().enumerate() {
        let baseline = sample(group.baseline);
        let (criteria, threshold) = criteria(run, of, group.baseline);
        for (place, cell) in group.cells.iter().enumerate() {
            let (own, is_baseline) = (sample(*cell), *cell == group.baseline);
            let verdict = run
                .verdicts
                .iter()
                .find(|verdict| (verdict.group, verdict.of, verdict.candidate) == (number, of, *cell));
            rows.push(TableRow {
                cell: *cell,
                baseline_cell: group.baseline,
                heading: &group.heading,
                name: group.names.get(place).unwrap_or(&run.cells[*cell].label),
                label: &run.cells[*cell].label,
                median: own.median(),
                baseline: baseline.median(),
                comparison: (!is_baseline).then(|| compared(run, &baseline, &own, better, &criteria)),
                threshold,
                verdict,
                trials: own.blocks.len(),
            });
        }
    }
    adjust(rows.iter_mut().filter_map(|row| row.comparison.as_mut()));
    rows
}

/// Returns the criteria for the comparisons with a baseline, and the name of the limit below which they ignore a
/// difference. The limit is the threshold, or the noise floor from A/A runs if this floor is higher.
pub(crate) fn criteria(run: &RunData, of: Selection, baseline: usize) -> (Criteria, &'static str) {
    let sample = |matrix: &Matrix| matrix.cells[baseline].sample("", &run.rounds);
    let samples = run.matrix(of).map(sample).zip(run.noise_of(of).map(sample));
    let criteria = Criteria { delta: run.threshold, ..Criteria::default() };
    let noise = samples.and_then(|(once, again)| Noise::of(&once, &again, &criteria, 1));
    match noise {
        Some(noise) if noise.floor >= criteria.delta => {
            (Criteria { delta: noise.floor, ..criteria }, "noise floor")
        }
        _ => (criteria, "threshold"),
    }
}

/// Compares a configuration with its baseline. In counted mode, compares the medians as exact values. Otherwise,
/// compares the values round by round.
pub(crate) fn compared(
    run: &RunData,
    baseline: &Sample,
    own: &Sample,
    better: Better,
    criteria: &Criteria,
) -> Comparison {
    match (run.is_counted, baseline.median(), own.median()) {
        (true, Some(base), Some(value)) => compare_exact(base, value, better, criteria.delta),
        _ => compare(baseline, own, better, criteria),
    }
}

pub(crate) fn better(metric: &MetricData) -> Better {
    match metric.better.as_str() {
        "higher" => Better::Higher,
        "lower" => Better::Lower,
        _ => Better::Neither,
    }
}

/// Returns the unit of a metric, or the plain unit if the metric is unknown.
pub(crate) fn unit(metric: &MetricData) -> Unit {
    results::reference::metric(metric.name).map_or(Unit::Plain, |metric| metric.unit)
}

impl TableRow<'_> {
    /// Returns the change from the baseline and its confidence interval as texts, such as `2.28x` and `2.18 .. 2.65`.
    pub(crate) fn change(&self, metric: &MetricData) -> (String, String) {
        let is_share = unit(metric) == Unit::Share && better(metric) == Better::Higher;
        let change =
            self.comparison.as_ref().and_then(|of| RatioChange::of(of, self.baseline.filter(|_| is_share)));
        change.map_or_else(Default::default, |change| (change.short(), change.range().unwrap_or_default()))
    }

    /// Returns the verdict of the run, or the verdict that the page computes if the run has none: `improved`,
    /// `regressed`, `equivalent` or `inconclusive`.
    pub(crate) fn verdict_word(&self) -> String {
        let own = self.comparison.as_ref().map(|comparison| comparison.verdict.to_string());
        self.verdict.map(|verdict| verdict.verdict.clone()).or(own).unwrap_or_default()
    }

    /// Returns the verdict as the table shows it: one word, or `within the threshold of 2.0%` for an equivalent
    /// configuration.
    pub(crate) fn verdict_text(&self) -> String {
        let word = self.verdict_word();
        let Some(comparison) = self.comparison.filter(|_| word == Verdict::Equivalent.name()) else {
            return word;
        };
        let delta = self.verdict.and_then(|verdict| verdict.delta).unwrap_or(comparison.delta);
        let limit = Comparison { delta, ..comparison }.equivalence_limit();
        format!("within the threshold of {:.1}%", limit * 100.0)
    }

    /// Returns the reason why the verdict is inconclusive. Empty for any other verdict.
    pub(crate) fn doubt(&self) -> String {
        let own = || self.comparison.and_then(|comparison| comparison.reason(self.threshold));
        self.verdict.map_or_else(|| own().unwrap_or_default(), |verdict| verdict.doubt.clone())
    }
}
