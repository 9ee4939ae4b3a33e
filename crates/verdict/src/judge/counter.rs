//! Finds the count from which a judged column is computed.

use results::{Column, Metric, Unit, columns as c};

/// Returns the count from which the metric of a verdict is computed: the number of false positives for a false-positive
/// rate, or the column itself if it is a counter. Returns `None` for any other column.
pub(super) fn counter(column: &Column) -> Option<&'static Metric> {
    match column {
        Column::Fixed(metric) if metric.name == c::FPR.name => Some(&c::FILTER_FALSE_POSITIVES),
        Column::Fixed(metric) if metric.unit == Unit::Count => results::reference::metric(metric.name),
        _ => None,
    }
}
