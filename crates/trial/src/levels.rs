//! The rows of `levels.csv`: what a phase did to each level of the store.

use results::columns::ALL;
use results::{Measurements, columns as c, formulas, levels as l};

use super::measured::{Measured, identity};

/// The rows of a phase, one per level that holds anything or of which anything was counted. None of an engine that tells
/// no levels apart.
pub(super) fn rows(phase: &str, is_open: bool, measured: &Measured) -> Vec<Measurements> {
    let Measured { before, burst, settled, .. } = measured;
    let row = |level: usize| {
        let mut row = identity(phase, ALL, is_open);
        row.set(&l::LEVEL, level);
        row.extend(burst.level_since(level, before)?);
        formulas::settle(&mut row, &settled.level_since(level, before)?);
        // What was written to a level is held against what the user wrote to all of them.
        row.set_some(&c::USER_BYTES_WRITTEN, burst.whole.counted(&c::USER_BYTES_WRITTEN, &before.whole));
        formulas::derive(&mut row);
        row.retain(&[c::IDENTITY, l::LEVEL_METRICS]);
        Some(row)
    };
    (0..burst.levels.len().max(settled.levels.len())).filter_map(row).collect()
}
