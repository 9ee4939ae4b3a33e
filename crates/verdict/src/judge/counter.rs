//! Finds the count from which a judged column is computed.

use results::{Column, Metric, Unit, columns as c};

/// Returns the counter from which a column is computed. For a false-positive rate, this is the number of false
/// positives. For a counter, this is the column itself. Returns `None` for all other columns.
pub(super) fn counter(column: &Column) -> Option<&'static Metric> {
    match column {
        Column::Fixed(metric) if metric.name == c::FPR.name => Some(&c::FILTER_FALSE_POSITIVES),
        Column::Fixed(metric) if metric.unit == Unit::Count => results::reference::metric(metric.name),
        _ => None,
    }
}
