//! Sentences about the best configuration in each phase, for results without verdicts.

use measure::{Comparison, adjust};
use results::{Better, Row, verdicts as v};
use verdict::best_sentence;

use crate::data::RunData;
use crate::rows::{better, compared, criteria};
use crate::selection::Selection;

/// The best configuration of a group in one phase and metric, compared with the second-best configuration.
struct Lead {
    of: Selection,
    group: usize,
    best: usize,
    next: usize,
    /// The median of the second-best configuration, which is the baseline of the comparison.
    baseline: f64,
    comparison: Comparison,
    threshold: &'static str,
}

/// Returns sentences that compare the two best configurations of each group of configurations in each phase. Returns no
/// sentences if neither higher nor lower values of the metric are better.
pub(crate) fn best_sentences(run: &RunData) -> Vec<String> {
    let first = run.first.phase;
    let others = (0..run.phases.len()).filter(|phase| *phase != first);
    let selections = [first].into_iter().chain(others).map(|phase| Selection { phase, ..run.first });
    let mut leads: Vec<Lead> = selections
        .flat_map(|of| (0..run.groups.len()).filter_map(move |group| lead(run, of, group)))
        .collect();
    adjust(leads.iter_mut().map(|lead| &mut lead.comparison));
    leads.iter().filter_map(|lead| best_sentence(&lead.row(run))).collect()
}

/// Compares the two best configurations of a group. Ignores configurations whose values a note excludes from verdicts.
/// Returns `None` if fewer than two configurations remain, or if neither higher nor lower values of the metric are
/// better.
fn lead(run: &RunData, of: Selection, number: usize) -> Option<Lead> {
    let (matrix, group) = (run.matrix(of)?, &run.groups[number]);
    let better = better(run.metrics.get(of.metric)?);
    let sample = |cell: usize| matrix.cells[cell].sample("", &run.rounds);
    let is_doubtful = |cell: &&usize| {
        run.marks.iter().any(|mark| (mark.cell, mark.phase, mark.is_doubt) == (**cell, of.phase, true))
    };
    let cells = group.cells.iter().filter(|cell| !is_doubtful(cell));
    let mut medians: Vec<(usize, f64)> =
        cells.filter_map(|cell| Some((*cell, sample(*cell).median()?))).collect();
    match better {
        Better::Higher => medians.sort_by(|a, b| b.1.total_cmp(&a.1)),
        Better::Lower => medians.sort_by(|a, b| a.1.total_cmp(&b.1)),
        Better::Neither => return None,
    }
    let [(best, _), (next, baseline), ..] = medians[..] else { return None };
    let (criteria, threshold) = criteria(run, of, group.baseline);
    let comparison = compared(run, &sample(next), &sample(best), better, &criteria);
    Some(Lead { of, group: number, best, next, baseline, comparison, threshold })
}

impl Lead {
    /// Converts the comparison to a row of `verdicts.csv`.
    fn row(&self, run: &RunData) -> Row {
        let group = &run.groups[self.group];
        let name = |cell: usize| {
            let place = group.cells.iter().position(|of| *of == cell);
            place.and_then(|place| group.names.get(place)).unwrap_or(&run.cells[cell].label).as_str()
        };
        let mut row = v::row();
        row.set(&v::WITHIN, group.heading.as_str())
            .set(&v::PHASE, run.phases[self.of.phase].as_str())
            .set(&v::OPERATION, run.operations[self.of.operation].as_str())
            .set(&v::METRIC, run.metrics[self.of.metric].name)
            .set(&v::BASELINE, name(self.next))
            .set(&v::CANDIDATE, name(self.best))
            .set(&v::VERDICT, self.comparison.verdict.name())
            .set(&v::DELTA, self.comparison.delta)
            .set(&v::BASELINE_MEDIAN, self.baseline);
        if let Some(reason) = self.comparison.reason(self.threshold) {
            row.set(&v::DOUBT, reason.as_str());
        }
        let interval = self.comparison.interval;
        let numbers = [
            (&v::RATIO, self.comparison.ratio),
            (&v::RATIO_LOW, interval.map(|interval| interval.low)),
            (&v::RATIO_HIGH, interval.map(|interval| interval.high)),
        ];
        for (column, number) in numbers {
            if let Some(number) = number.filter(|number| number.is_finite()) {
                row.set(column, number);
            }
        }
        row
    }
}
