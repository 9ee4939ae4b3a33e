//! The rows of the table that a page shows without its script: every configuration compared with its baseline.

use measure::{Comparison, Criteria, Noise, Sample, adjust, compare, compare_exact};
use results::{Better, Unit};
use verdict::RatioChange;

use crate::data::{MetricData, RunData, VerdictData};
use crate::selection::Selection;

/// A configuration and its comparison within its group.
pub(crate) struct TableRow<'a> {
    /// Index of the configuration.
    pub(crate) cell: usize,
    /// Index of the baseline of its group.
    pub(crate) baseline_cell: usize,
    pub(crate) heading: &'a str,
    pub(crate) label: &'a str,
    pub(crate) median: Option<f64>,
    /// The median of the baseline.
    pub(crate) baseline: Option<f64>,
    /// The comparison with the baseline. `None` for the baseline itself.
    pub(crate) comparison: Option<Comparison>,
    /// The verdict of the run, if the run judged this row.
    pub(crate) verdict: Option<&'a VerdictData>,
    /// The number of rounds in which the configuration has a value.
    pub(crate) trials: usize,
}

/// The rows of a selection, group by group.
pub(crate) fn rows(run: &RunData, of: Selection) -> Vec<TableRow<'_>> {
    let Some(matrix) = run.matrix(of) else { return Vec::new() };
    let better = better(&run.metrics[of.metric]);
    let sample = |cell: usize| matrix.cells[cell].sample("", &run.rounds);
    let mut rows = Vec::new();
    for (number, group) in run.groups.iter().enumerate() {
        let baseline = sample(group.baseline);
        let again = run.noise_of(of).map(|noise| noise.cells[group.baseline].sample("", &run.rounds));
        let noise = again.and_then(|again| Noise::of(&baseline, &again, &Criteria::default(), 1));
        let floor = noise.map_or(0.0, |noise| noise.floor);
        let criteria = Criteria { delta: Criteria::default().delta.max(floor), ..Criteria::default() };
        for cell in &group.cells {
            let (own, is_baseline) = (sample(*cell), *cell == group.baseline);
            let verdict = run
                .verdicts
                .iter()
                .find(|verdict| (verdict.group, verdict.of, verdict.candidate) == (number, of, *cell));
            rows.push(TableRow {
                cell: *cell,
                baseline_cell: group.baseline,
                heading: &group.heading,
                label: &run.cells[*cell].label,
                median: own.median(),
                baseline: baseline.median(),
                comparison: (!is_baseline).then(|| compared(run, &baseline, &own, better, &criteria)),
                verdict,
                trials: own.blocks.len(),
            });
        }
    }
    adjust(rows.iter_mut().filter_map(|row| row.comparison.as_mut()));
    rows
}

fn compared(
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

/// Returns the unit of the column with this name.
pub(crate) fn unit(metric: &MetricData) -> Unit {
    results::reference::metric(metric.name).map_or(Unit::Plain, |metric| metric.unit)
}

impl TableRow<'_> {
    /// Returns the change against the baseline and its confidence interval, such as `2.28x` and `2.18 .. 2.65`.
    pub(crate) fn change(&self, metric: &MetricData) -> (String, String) {
        let is_share = unit(metric) == Unit::Share && better(metric) == Better::Higher;
        let change =
            self.comparison.as_ref().and_then(|of| RatioChange::of(of, self.baseline.filter(|_| is_share)));
        change.map_or_else(Default::default, |change| (change.short(), change.range().unwrap_or_default()))
    }

    /// The verdict of the run, or else the verdict that the page computes: `improved`, `regressed`, `equivalent` or
    /// `inconclusive`.
    pub(crate) fn verdict_word(&self) -> String {
        let own = self.comparison.as_ref().map(|comparison| comparison.verdict.to_string());
        self.verdict.map(|verdict| verdict.verdict.clone()).or(own).unwrap_or_default()
    }

    /// Returns the reason why a verdict is in doubt. Empty if there is no doubt.
    pub(crate) fn doubt(&self) -> String {
        let own = || self.comparison.as_ref().and_then(|of| of.doubt).map(|doubt| doubt.to_string());
        self.verdict.map_or_else(|| own().unwrap_or_default(), |verdict| verdict.doubt.clone())
    }
}
