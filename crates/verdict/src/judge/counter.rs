//! The counts behind the columns that are judged.

use results::{Column, Metric, Unit, columns as c};

/// The counter that a column is, or the one that is small where a share is.
pub(super) fn counter(column: &Column) -> Option<&'static Metric> {
    match column {
        Column::Fixed(metric) if metric.name == c::FPR.name => Some(&c::FILTER_FALSE_POSITIVES),
        Column::Fixed(metric) if metric.unit == Unit::Count => results::reference::metric(metric.name),
        _ => None,
    }
}
