//! Computes how much space a tree may take after all compactions have finished. The tree contains at least one version
//! of every key, and at most as many old versions as its compaction policy allows.

use engines::EngineStats;
use results::{Measurements, columns as c, counters as n};
use tree::Design;

/// Computes the bounds of the column `space_amp_settled`: the lower bound, and the upper bound if it is known. `live`
/// is the size of the live data in bytes. Returns `None` if the store contains tombstones or blob files, or if the
/// engine does not report the content of its levels.
pub(super) fn bounds(design: &Design, settled: &EngineStats, live: u64) -> Option<Measurements> {
    if !design.keeps_values_inline() {
        return None;
    }
    let stored = settled.sum_of_levels(&n::ENTRY_BYTES)?;
    let range_tombstones = settled.whole.reading(&c::RANGE_TOMBSTONES).unwrap_or(0);
    if live == 0 || stored == 0 || range_tombstones > 0 || settled.sum_of_levels(&n::TOMBSTONES)? > 0 {
        return None;
    }
    // The bytes on storage per byte of a key or value, including filters, fences and encoding.
    let encoded = settled.whole.reading(&c::TABLE_BYTES)? as f64 / stored as f64;
    let memtable_bytes = settled.whole.reading(&c::MEMTABLE_BYTES)?;
    let in_tables = 1.0 - (memtable_bytes as f64 / live as f64).min(1.0);
    let mut bounds = Measurements::default();
    bounds.set(&c::LEAST_SPACE_AMP, encoded * in_tables);
    let policy = design.choice("compaction");
    if let Some(most) = theory::most_space_amp(policy) {
        // Level 0 may keep a number of runs that repeat the keys of all other levels.
        let waits = policy.params().contains_key("level0_runs");
        let level0 = settled.levels.first().and_then(|level| level.reading(&n::ENTRY_BYTES)).unwrap_or(0);
        let waiting = if waits { level0 } else { 0 };
        bounds.set(&c::MOST_SPACE_AMP, encoded * (most + waiting as f64 / live as f64));
    }
    Some(bounds)
}
