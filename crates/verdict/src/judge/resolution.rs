//! How finely rates that a phase searches for are told apart: a search stops within a part of the rate, so no verdict on
//! what it found may be finer.

use results::{Column, columns as c};

use crate::facts::CellFacts;

/// Whether a column holds what a search for a rate found.
pub(crate) fn holds_found_rate(column: &str) -> bool {
    [c::SUSTAINED_OPS_PER_SECOND, c::OPS_PER_SECOND].iter().any(|found| found.name == column)
}

/// The relative difference below which the search tells no two cells apart, where the column holds what the search
/// of the phase found; 0 where it holds something else.
pub(super) fn resolution(column: &Column, phase: &str, cells: &[&CellFacts]) -> f64 {
    let searching = cells.iter().filter(|_| holds_found_rate(column.name()));
    searching.filter_map(|cell| cell.searches.get(phase).copied()).fold(0.0, f64::max)
}
