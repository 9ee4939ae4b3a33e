//! Finds the count from which a judged column is computed.

use results::{Column, Metric, Unit, columns as c};

/// Returns the counter that a judged column is computed from: the number of false positives for a false-positive rate,
/// or the column itself if it is a counter. Returns `None` for any other column.
pub(super) fn counter(column: &Column) -> Option<&'static Metric> {
    match column {
        Column::Fixed(metric) if metric.name == c::FPR.name => Some(&c::FILTER_FALSE_POSITIVES),
        Column::Fixed(metric) if metric.unit == Unit::Count => results::reference::metric(metric.name),
        _ => None,
    }
}
