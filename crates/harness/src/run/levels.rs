//! The rows of `levels.csv`: what a phase did to each level of the tree.

use results::columns::ALL;
use results::{Cells, columns as c, levels as l};
use tree::{LevelCounts, LevelStats, Stats};

use super::report::{TreePhase, identity};

/// The rows of a phase, one per level that holds anything or of which anything was counted.
pub(super) fn rows(phase: &str, is_open: bool, tree: TreePhase<'_>) -> Vec<Cells> {
    let TreePhase { before, burst, settled } = tree;
    let levels = [burst, settled].map(|stats| stats.levels.len().max(stats.level_counts.len()));
    let user_bytes = burst.counts.since(&before.counts).user_bytes_written;
    let rows = (0..levels[0].max(levels[1])).map(|level| {
        let row = LevelRow {
            user_bytes,
            state: [burst, settled].map(|stats| state_of(stats, level)),
            counts: [burst, settled].map(|stats| counts_of(stats, level).since(&counts_of(before, level))),
        };
        let mut cells = identity(phase, ALL, is_open);
        cells.set(&l::LEVEL, level as u64);
        row.write(&mut cells);
        cells
    });
    rows.collect()
}

fn state_of(stats: &Stats, level: usize) -> LevelStats {
    stats.levels.get(level).copied().unwrap_or_default()
}

fn counts_of(stats: &Stats, level: usize) -> LevelCounts {
    stats.level_counts.get(level).copied().unwrap_or_default()
}

/// One level, when the last operation had ended and when the tree had settled.
struct LevelRow {
    user_bytes: u64,
    state: [LevelStats; 2],
    counts: [LevelCounts; 2],
}

impl LevelRow {
    fn write(&self, row: &mut Cells) {
        let [burst, settled] = &self.state;
        row.set(&c::RUNS, burst.runs).set(&l::TABLES, burst.tables).set(&c::TABLE_BYTES, burst.file_bytes);
        row.set(&c::RUNS_SETTLED, settled.runs).set(&l::TABLES_SETTLED, settled.tables);
        row.set(&c::TABLE_BYTES_SETTLED, settled.file_bytes);
        let [burst, settled] = &self.counts;
        row.set(&l::BYTES_READ, burst.bytes_read).set(&l::BYTES_WRITTEN, burst.bytes_written);
        row.set(&l::BYTES_READ_SETTLED, settled.bytes_read);
        row.set(&l::BYTES_WRITTEN_SETTLED, settled.bytes_written);
        if self.user_bytes > 0 {
            let amplification = |bytes: u64| bytes as f64 / self.user_bytes as f64;
            row.set(&c::WRITE_AMP, amplification(burst.bytes_written));
            row.set(&c::WRITE_AMP_SETTLED, amplification(settled.bytes_written));
        }
        let negatives = burst.filter_probes - burst.filter_passes;
        row.set(&c::FILTER_PROBES, burst.filter_probes).set(&c::FILTER_NEGATIVES, negatives);
        row.set(&c::FILTER_FALSE_POSITIVES, burst.filter_false_positives);
        let absent = burst.filter_false_positives + negatives;
        if absent > 0 {
            row.set(&c::FPR, burst.filter_false_positives as f64 / absent as f64);
        }
        row.set(&l::GET_BLOCKS_SEARCHED, burst.blocks_searched).set(&l::GET_BLOCKS_READ, burst.blocks_read);
    }
}
