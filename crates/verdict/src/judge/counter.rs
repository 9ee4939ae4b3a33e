//! The counts from which judged columns are computed.

use results::{Column, Metric, Unit, columns as c};

/// Returns the counter of a column: the column itself, or the false positives of a false-positive rate.
pub(super) fn counter(column: &Column) -> Option<&'static Metric> {
    match column {
        Column::Fixed(metric) if metric.name == c::FPR.name => Some(&c::FILTER_FALSE_POSITIVES),
        Column::Fixed(metric) if metric.unit == Unit::Count => results::reference::metric(metric.name),
        _ => None,
    }
}
