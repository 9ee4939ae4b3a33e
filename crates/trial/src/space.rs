//! The space that theory expects of a tree after compaction: at least that of every key once, at most the old values
//! that its compaction policy allows.

use engines::EngineStats;
use results::{Measurements, columns as c, counters as n};
use tree::Design;

/// Floor and ceiling of `space_amp_settled` for a store with `live` bytes of live data. `None` where tombstones take
/// space of their own, and of an engine that does not report the content of its levels.
pub(super) fn bounds(design: &Design, settled: &EngineStats, live: u64) -> Option<Measurements> {
    let stored = settled.sum_of_levels(&n::ENTRY_BYTES)?;
    if live == 0 || stored == 0 || settled.sum_of_levels(&n::TOMBSTONES)? > 0 {
        return None;
    }
    // The bytes on storage per byte of a key or value, with filters, fences and encoding.
    let encoded = settled.whole.reading(&c::TABLE_BYTES)? as f64 / stored as f64;
    let memtable_bytes = settled.whole.reading(&c::MEMTABLE_BYTES)?;
    let in_tables = 1.0 - (memtable_bytes as f64 / live as f64).min(1.0);
    let mut bounds = Measurements::default();
    bounds.set(&c::LEAST_SPACE_AMP, encoded * in_tables);
    let policy = design.choice("compaction");
    if let Some(most) = theory::most_space_amp(policy) {
        // Runs of a level 0 that has a number of them to wait for stand above all levels, and may repeat their keys.
        let waits = policy.params().contains_key("level0_runs");
        let level0 = settled.levels.first().and_then(|level| level.reading(&n::ENTRY_BYTES)).unwrap_or(0);
        let waiting = if waits { level0 } else { 0 };
        bounds.set(&c::MOST_SPACE_AMP, encoded * (most + waiting as f64 / live as f64));
    }
    Some(bounds)
}
