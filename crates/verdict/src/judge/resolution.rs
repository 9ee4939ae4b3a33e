//! The precision of found rates. A rate search stops within a fraction of the rate, so no verdict on a found rate may
//! be finer.

use results::{Column, columns as c};

use crate::facts::CellFacts;

/// Whether a column contains the result of a rate search.
pub(crate) fn holds_found_rate(column: &str) -> bool {
    [c::SUSTAINED_OPS_PER_SECOND, c::OPS_PER_SECOND].iter().any(|found| found.name == column)
}

/// The relative difference below which the rate search of a phase cannot distinguish two cells; 0 for other columns.
pub(super) fn resolution(column: &Column, phase: &str, cells: &[&CellFacts]) -> f64 {
    let searching = cells.iter().filter(|_| holds_found_rate(column.name()));
    searching.filter_map(|cell| cell.searches.get(phase).copied()).fold(0.0, f64::max)
}
