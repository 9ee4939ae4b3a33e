//! Separates two parts of the noise in a run whose trials take turns in slices (`trials.plan`). One part is the noise
//! between the slices of one process. The other part is the noise between restarts of the processes.

use std::collections::BTreeMap;

use measure::RestartSpread;
use results::{Row, Table, columns as c, slices as s};

use crate::facts::ExperimentFacts;
use crate::judge::{judged_phase, noisy_baselines};
use crate::words::percent;

/// Returns a note that compares two parts of the noise in the phase of the verdict: the noise between slices, and the
/// noise between restarts of the processes. Both are computed from two trials of the baseline in each round. Returns
/// `None` if the baseline did not run twice, or if there are too few slices.
pub fn slices_note(experiment: &ExperimentFacts<'_>, slices: &Table) -> Option<String> {
    let phase = judged_phase(experiment);
    let baseline = experiment.cells.get(*noisy_baselines(experiment).first()?)?.number;
    let mut pairs: BTreeMap<(u64, u64), [Option<f64>; 2]> = BTreeMap::new();
    let is_of_baseline = |row: &&Row| {
        row.get(&c::CELL).integer() == Some(baseline) && row.get(&c::PHASE).text() == Some(phase.as_str())
    };
    for row in slices.rows().iter().filter(is_of_baseline) {
        let key = row.get(&c::TRIAL).integer().zip(row.get(&s::SLICE).integer())?;
        let side = usize::from(row.get(&s::SLICE_AGAIN).text() == Some("true"));
        pairs.entry(key).or_default()[side] = row.get(&s::SLICE_NS).number();
    }
    let mut restarts: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for ((trial, _), [first, again]) in pairs {
        restarts.entry(trial).or_default().extend(first.zip(again));
    }
    let spread = RestartSpread::of(&restarts.into_values().collect::<Vec<_>>())?;
    let advice = match spread.within > spread.between {
        true => "longer phases narrow the CIs as much as more trials",
        false => "only more trials narrow the CIs",
    };
    Some(format!(
        "Slices of phase {phase}: {pairs} pairs of slices in {restarts} process restarts. The ratio of two trials of \
         the baseline varies by ±{total} between restarts; the noise within a restart causes ±{within} of this \
         variation. Therefore, {advice}.",
        pairs = spread.pairs,
        restarts = spread.restarts,
        total = percent(spread.total),
        within = percent(spread.within),
    ))
}

#[cfg(test)]
mod tests {
    use results::{Interleaving, RunMode, Schema};

    use super::*;
    use crate::facts::{CellFacts, Contrast};

    #[test]
    fn the_baseline_is_compared_with_itself() {
        let schema = Schema::slices::<&str>(&[]).unwrap();
        let row = |cell: u64, trial: u64, slice: u64, again: bool, ns: u64| {
            let mut row = Row::new(&schema);
            row.set(&c::CELL, cell).set(&c::TRIAL, trial).set(&c::PHASE, "get").set(&s::SLICE, slice);
            row.set(&s::SLICE_AGAIN, if again { "true" } else { "false" }).set(&s::SLICE_NS, ns);
            row
        };
        let mut rows = Vec::new();
        for (trial, factor) in [(0, 1.0), (1, 1.1), (2, 0.9)] {
            for slice in 0..16 {
                rows.push(row(0, trial, slice, false, 1_000_000));
                rows.push(row(0, trial, slice, true, (1e6 * factor) as u64));
                rows.push(row(1, trial, slice, false, 5_000_000));
            }
        }
        let cell = |number| CellFacts { number, ..CellFacts::default() };
        let facts = ExperimentFacts {
            name: "x".to_owned(),
            mode: RunMode::Timed,
            measures_noise: true,
            interleaving: Interleaving::Slices,
            swept: Vec::new(),
            within: Vec::new(),
            cells: vec![cell(0), cell(1)],
            contrast: Box::new(|_, _| Contrast::default()),
            phase: Some("get".to_owned()),
            operation: None,
            metric: None,
            also: Vec::new(),
            threshold: None,
            baseline: None,
            charts: Vec::new(),
            last_phase: "get".to_owned(),
            component: None,
            reports_memory: false,
            has_equal_memory: false,
        };
        let note = slices_note(&facts, &Table::new(schema, rows)).unwrap();
        assert!(note.contains("48 pairs of slices in 3 process restarts"), "{note}");
        assert!(
            note.contains("varies by ±10.0% between restarts; the noise within a restart causes ±0.0%"),
            "{note}"
        );
        assert!(note.ends_with("only more trials narrow the CIs."), "{note}");
    }
}
