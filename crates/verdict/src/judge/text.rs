//! Formats a verdict as a paragraph, warnings and values.

use results::{Column, RunMode, Unit};

use super::judged::{Entry, Judged};
use super::sentence::Statement;
use crate::words::{on_one_line, quoted, shown};

impl Judged<'_> {
    /// Returns all statements on the metric in one paragraph, which names the metric and the phase.
    pub(super) fn paragraph(&self) -> String {
        on_one_line(&self.summary(&self.what(), &self.statements()))
    }

    /// Joins statements to one paragraph that begins with `what`, the name of the metric. Quoted names keep their
    /// non-breaking spaces.
    pub(super) fn summary(&self, what: &str, statements: &[Statement]) -> String {
        let within = if self.within.is_empty() { String::new() } else { format!("{}: ", self.within) };
        let statements: Vec<String> = statements.iter().map(Statement::paragraph).collect();
        format!("{within}{what}: {}", statements.join(" "))
    }

    /// Formats the statements that are not verdicts, such as warnings, as lines.
    pub(super) fn warnings(&self) -> String {
        self.statements().iter().filter(|of| !of.is_verdict()).map(Statement::lines).collect()
    }

    /// Formats the medians of all configurations, such as `Data blocks read per get in phase absent by
    /// bloom.bits_per_key: 1: 2.41; 2: 1.60.` Returns `None` unless the experiment sweeps exactly one path.
    pub(super) fn values(&self) -> Option<String> {
        let swept = &self.experiment.swept;
        let [path] = &swept[..] else { return None };
        let title = Column::Swept(path.clone()).title().to_owned();
        let value = |entry: &Entry<'_>| {
            let own = entry.cell.swept.first()?;
            Some(format!("{}: {}", quoted(own), self.value(entry.sample.median()?)))
        };
        let in_order = self.experiment.cells.iter();
        let entries =
            in_order.filter_map(|cell| self.entries.iter().find(|of| of.cell.number == cell.number));
        let values: Vec<String> = entries.filter_map(value).collect();
        let what = self.what();
        let (first, rest) = what.split_at(what.chars().next()?.len_utf8());
        Some(on_one_line(&format!("{}{rest} by {title}: {}.", first.to_uppercase(), values.join("; "))))
    }

    /// Describes the costs in which a component differs from the baseline, such as `; fpr 1.26% against 0.9%`.
    pub(super) fn other_prices(&self, label: &str) -> String {
        self.both(label).map_or_else(String::new, |(baseline, entry)| {
            self.prices.differences(&entry.prices, &baseline.prices)
        })
    }

    /// Formats a value of the metric of the verdict. In `counted` mode, whole counts are printed to the last digit.
    pub(super) fn value(&self, value: f64) -> String {
        let is_count = self.column.unit() == Unit::Count && value.fract() == 0.0;
        if is_count && self.experiment.mode == RunMode::Counted {
            return format!("{value:.0}");
        }
        shown(value, self.column.unit())
    }
}
