//! The facts about an experiment on which verdicts depend, as plain data.

use std::collections::BTreeMap;

use engines::CATALOG;
use plot::LabelOrder;
use results::ConfigPath;
use results::columns::ENGINE;
use tree::{AXES, axis};
use verdict::{CellFacts, ComponentFacts, Contrast, ExperimentFacts};
use workload::Rate;

use super::cell::Cell;
use super::difference::differences;
use super::engine::engine;
use super::fits::mismatches;
use super::resolved::Experiment;

impl Experiment {
    /// Returns the facts about this experiment on which verdicts depend, such as its sweep and its baselines, as plain
    /// data.
    pub fn facts(&self) -> ExperimentFacts<'_> {
        let by_number: BTreeMap<u64, &Cell> = self.cells.iter().map(|cell| (cell.number, cell)).collect();
        let verdict = self.verdict.clone();
        ExperimentFacts {
            name: self.name.clone(),
            mode: self.trials.mode,
            measures_noise: self.trials.measures_noise(),
            interleaving: self.trials.interleaving(),
            swept: self.swept(),
            within: self.compared_within(),
            cells: self.cells.iter().map(|cell| self.facts_of(cell)).collect(),
            contrast: Box::new(move |baseline, cell| contrast(by_number[&baseline], by_number[&cell])),
            phase: verdict.phase,
            operation: verdict.operation,
            metric: verdict.metric,
            also: verdict.also,
            threshold: verdict.threshold,
            baseline: verdict.baseline,
            charts: self.charts.clone(),
            last_phase: self.task.phases().pop().unwrap_or_default(),
            component: self.task.component().map(|component| {
                let subject = component.subject();
                let (phase, metric) = subject.verdict();
                ComponentFacts { phase, metric, price: subject.price(), quality: subject.quality() }
            }),
            reports_memory: self.cells.iter().all(|cell| engine(&cell.engine).reports_memory()),
            has_equal_memory: self.has_equal_memory(),
        }
    }

    fn facts_of(&self, cell: &Cell) -> CellFacts {
        let phases = cell.task.workload().map_or(&[][..], |workload| &workload.phases);
        let mut searches = BTreeMap::new();
        for phase in phases {
            if let Rate::Sustained(search) = phase.rate {
                searches.insert(phase.name.clone(), search.within);
            }
        }
        CellFacts {
            number: cell.number,
            label: cell.label.clone(),
            name: self.name_within(cell),
            names: self.names_of(cell).into_iter().chain([self.short_label(cell)]).collect(),
            swept: cell.swept.clone(),
            searches,
        }
    }
}

fn contrast(baseline: &Cell, cell: &Cell) -> Contrast {
    let unequal_terms = mismatches(baseline, cell);
    Contrast { settings: differences(baseline, cell), unequal_terms, is_oracle: is_oracle(baseline, cell) }
}

/// Returns whether a configuration uses an ideal variant in place of a variant of the baseline. An ideal variant shows
/// the best possible result of its axis.
fn is_oracle(baseline: &Cell, cell: &Cell) -> bool {
    let choices = cell.design.choices().zip(baseline.design.choices());
    choices.filter(|(own, of_baseline)| own != of_baseline).any(|((name, choice), _)| {
        let variants = axis(name).map(catalog::Axis::variants).unwrap_or_default();
        variants.iter().any(|variant| variant.oracle && variant.kind == choice.kind())
    })
}

/// Returns the order of labels in charts and tables. Engines, and the variants of each axis, have the order of their
/// catalogs. Other labels have the default order.
pub fn catalog_order() -> LabelOrder {
    let engines = CATALOG.kinds().map(|kind| (kind, false));
    let order = LabelOrder::default().with(ENGINE, engines);
    AXES.iter().fold(order, |order, axis| {
        let variants = axis.variants();
        order.with(
            ConfigPath::of_axis(axis.name()),
            variants.iter().map(|variant| (variant.kind, variant.oracle)),
        )
    })
}
