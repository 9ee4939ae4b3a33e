//! Computes the rows of `levels.csv`. Each row describes the work in one level of the store during one phase.

use results::columns::ALL;
use results::{Measurements, columns as c, formulas, levels as l};

use super::measured::{Measured, identity};

/// Returns the rows of `levels.csv` for one phase, with one row per level that has data or counters. Returns no rows
/// for an engine that does not report levels.
pub(super) fn rows(phase: &str, is_open: bool, measured: &Measured) -> Vec<Measurements> {
    let Measured { before, burst, settled, .. } = measured;
    let row = |level: usize| {
        let mut row = identity(phase, ALL, is_open);
        row.set(&l::LEVEL, level);
        row.extend(burst.level_since(level, before)?);
        if let Some(settled) = settled {
            formulas::settle(&mut row, &settled.stats.level_since(level, before)?);
        }
        // The write amplification of a level is relative to the bytes that the user wrote to the whole store.
        row.set_some(&c::USER_BYTES_WRITTEN, burst.whole.counted(&c::USER_BYTES_WRITTEN, &before.whole));
        formulas::derive(&mut row);
        row.retain(&[c::IDENTITY, l::LEVEL_METRICS]);
        Some(row)
    };
    let settled_levels = settled.as_ref().map_or(0, |settled| settled.stats.levels.len());
    (0..burst.levels.len().max(settled_levels)).filter_map(row).collect()
}
