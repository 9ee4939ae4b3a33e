//! The costs of a configuration, which the table shows next to the deciding metric. For a tree, the cost is its memory.
//! For a component, the costs are the columns that the component defines as its cost and its quality. The costs of a
//! component that defines a quality also determine which configurations are comparable.

use results::{Metric, Row, Unit, columns as c};

use crate::facts::{ComponentFacts, ExperimentFacts};
use crate::words::shown;

/// Costs that differ by less than this fraction count as about equal.
pub(super) const ALIKE: f64 = 0.1;

/// The costs of a configuration, as columns of `runs.csv`. If the list of columns is empty, the cost is the memory of a
/// tree.
pub(super) struct Prices {
    columns: Vec<&'static Metric>,
    /// Whether configurations are comparable only if at least one of their costs is about equal. If false, all
    /// configurations are comparable.
    divide: bool,
}

impl Prices {
    /// Selects the costs that are shown next to the column `judged` of a verdict:
    ///
    /// * For a tree, the cost is the memory of its parts.
    /// * For a component, the costs are its cost and quality columns, without the column `judged` itself.
    /// * With other engines, the cost is the memory of the process, because they do not report the memory of their
    ///   parts.
    pub(super) fn of(experiment: &ExperimentFacts<'_>, judged: &str) -> Self {
        match experiment.reports_memory {
            true => Self::of_component(experiment.component, judged),
            false => Self { columns: vec![&c::RSS_PEAK_BYTES], divide: false },
        }
    }

    fn of_component(component: Option<ComponentFacts>, judged: &str) -> Self {
        let Some(component) = component else { return Self { columns: Vec::new(), divide: false } };
        let columns = [Some(component.price), component.quality].into_iter().flatten();
        let columns = columns.filter(|metric| metric.name != judged).collect();
        Self { columns, divide: component.quality.is_some() }
    }

    /// Returns the names of the columns that contain the costs.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self.columns.is_empty() {
            true => vec!["memory"],
            false => self.columns.iter().map(|metric| metric.name).collect(),
        }
    }

    /// Returns whether the cost is the memory of a tree, which is the sum over its parts.
    pub(super) fn are_memory(&self) -> bool {
        self.columns.is_empty()
    }

    /// Returns the cost number `at` (from 0, in the order of [`names`](Self::names)) in a row. Returns `None` if the
    /// row has no value of this cost.
    pub(super) fn value(&self, at: usize, row: &Row) -> Option<f64> {
        self.columns.get(at).map_or_else(|| memory_bytes(row), |metric| row.get(metric).number())
    }

    /// Formats a value of cost number `at` with its unit. Returns an empty text without a value.
    pub(super) fn shown(&self, at: usize, value: Option<f64>) -> String {
        let unit = self.columns.get(at).map_or(Unit::Bytes, |metric| metric.unit);
        value.map_or_else(String::new, |value| shown(value, unit))
    }

    /// Returns whether two configurations with these costs are comparable: at least one cost must be about equal in
    /// both.
    pub(super) fn are_comparable(&self, own: &[Option<f64>], others: &[Option<f64>]) -> bool {
        !self.divide || own.iter().zip(others).any(|(own, other)| is_alike(*own, *other) == Some(true))
    }

    /// Lists the costs that differ between two configurations of a component, such as `; fpr 1.26% against 0.9%`.
    /// Returns an empty text if all costs are about equal, or if all configurations are comparable.
    pub(super) fn differences(&self, own: &[Option<f64>], others: &[Option<f64>]) -> String {
        if !self.divide {
            return String::new();
        }
        let differ = |at: &usize| is_alike(own[*at], others[*at]) == Some(false);
        let parts = (0..own.len()).filter(differ).map(|at| {
            let [own, other] = [own[at], others[at]].map(|value| self.shown(at, value));
            format!("; {} {own} against {other}", self.names()[at])
        });
        parts.collect()
    }
}

/// Returns whether two values of a cost are about equal. Returns `None` if one of them is unknown.
fn is_alike(own: Option<f64>, other: Option<f64>) -> Option<bool> {
    let (own, other) = own.zip(other)?;
    Some((own - other).abs() <= ALIKE * own.abs().max(other.abs()))
}

fn memory_bytes(row: &Row) -> Option<f64> {
    let parts = [&c::MEMTABLE_BYTES, &c::FILTER_BYTES, &c::FENCE_BYTES, &c::CACHE_BYTES];
    parts.into_iter().map(|part| row.get(part).number()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(price: &'static Metric, quality: Option<&'static Metric>, judged: &str) -> Prices {
        let component = ComponentFacts { phase: "probe", metric: &c::P50_SLICE_NS, price, quality };
        Prices::of_component(Some(component), judged)
    }

    #[test]
    fn filters_are_comparable_at_about_equal_memory_or_equal_false_positives() {
        let filters = prices(&c::BITS_PER_KEY, Some(&c::FPR), "p50_slice_ns");
        assert_eq!(filters.names(), ["bits_per_key", "fpr"]);
        let like = |own: [f64; 2], other: [f64; 2]| filters.are_comparable(&own.map(Some), &other.map(Some));
        assert!(like([10.0, 0.02], [10.5, 0.008]));
        assert!(like([8.7, 0.0083], [10.5, 0.0081]));
        assert!(!like([9.8, 0.004], [8.0, 0.02]));
        assert!(!filters.are_comparable(&[Some(8.0), None], &[Some(10.0), None]));
        let shown = filters.differences(&[Some(10.0), Some(0.02)], &[Some(10.0), Some(0.01)]);
        assert_eq!(shown, "; fpr 2.00% against 1.00%");
        // The metric that decides is no cost, so only the memory must be alike.
        let by_rate = prices(&c::BITS_PER_KEY, Some(&c::FPR), "fpr");
        assert_eq!(by_rate.names(), ["bits_per_key"]);
        assert!(!by_rate.are_comparable(&[Some(8.0)], &[Some(10.0)]));
    }

    #[test]
    fn with_one_price_all_are_comparable() {
        let fences = prices(&c::BYTES_PER_ENTRY, None, "p50_slice_ns");
        assert_eq!(fences.names(), ["bytes_per_entry"]);
        assert!(fences.are_comparable(&[Some(1.0)], &[Some(100.0)]));
        assert_eq!(fences.differences(&[Some(1.0)], &[Some(100.0)]), "");
    }
}
