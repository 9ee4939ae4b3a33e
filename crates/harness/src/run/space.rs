//! What theory expects of the space that a settled tree takes: at least that of every key once, at most what its
//! compaction policy lets pile up of old values.

use results::{Cells, columns as c};
use tree::{Design, Stats};

/// Floor and ceiling of `space_amp_settled` for a tree that holds `live` bytes of live data; nothing where tombstones
/// take space of their own.
pub(super) fn set_bounds(row: &mut Cells, design: &Design, settled: &Stats, live: u64) {
    let stored: u64 = settled.levels.iter().map(|level| level.user_bytes).sum();
    if live == 0 || stored == 0 || settled.levels.iter().any(|level| level.tombstones > 0) {
        return;
    }
    // What a byte of a key or a value takes, with filters, fences and whatever encoding makes of it.
    let encoded = settled.table_bytes() as f64 / stored as f64;
    let in_tables = 1.0 - (settled.memtable_bytes as f64 / live as f64).min(1.0);
    row.set(&c::LEAST_SPACE_AMP, encoded * in_tables);
    let policy = design.choice("compaction");
    if let Some(most) = model::most_space_amp(policy) {
        // Runs of a level 0 that has a number of them to wait for stand above all levels, and may repeat their keys.
        let waits = policy.params().contains_key("level0_runs");
        let waiting = settled.levels.first().filter(|_| waits).map_or(0, |level| level.user_bytes);
        row.set(&c::MOST_SPACE_AMP, encoded * (most + waiting as f64 / live as f64));
    }
}
