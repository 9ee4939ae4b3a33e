//! The precision of rates that a rate search found. A rate search stops when it knows the rate to a given relative
//! precision. A verdict on such a rate must therefore ignore differences below this precision.

use results::{Column, columns as c};

use crate::facts::CellFacts;

/// Returns whether a column contains a rate that a rate search found.
pub(crate) fn holds_found_rate(column: &str) -> bool {
    [c::SUSTAINED_OPS_PER_SECOND, c::OPS_PER_SECOND].iter().any(|found| found.name == column)
}

/// Returns the relative precision of the rate search of a phase. Rates that differ by less cannot be distinguished. The
/// value is the largest precision over the configurations `cells`, or 0 for a column without the result of a rate
/// search.
pub(super) fn resolution(column: &Column, phase: &str, cells: &[&CellFacts]) -> f64 {
    let searching = cells.iter().filter(|_| holds_found_rate(column.name()));
    searching.filter_map(|cell| cell.searches.get(phase).copied()).fold(0.0, f64::max)
}
