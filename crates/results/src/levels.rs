//! Columns of `levels.csv`, which contains the size and the I/O of each level of the tree in each phase.

use crate::columns::{
    FILTER_FALSE_POSITIVES, FILTER_NEGATIVES, FILTER_PROBES, FPR, RUNS, RUNS_SETTLED, TABLE_BYTES,
    TABLE_BYTES_SETTLED, WRITE_AMP, WRITE_AMP_SETTLED,
};
use crate::metric::{Better, Metric, Repeats, Unit, ValueType, columns};

columns! {
    /// Columns that only `levels.csv` has, in order.
    LEVEL_OWN
    /// Number of the level. Flushes write to level 0.
    LEVEL = "level", "level", Plain, Integer, Neither, Exact;
    /// Number of SSTables in the level at the end of the phase's last operation.
    TABLES = "tables", "tables", Count, Integer, Neither, Exact;
    /// SSTable bytes that were read by compactions into this level. The sum over all levels is `compaction_bytes_read`.
    BYTES_READ = "bytes_read", "bytes read by compactions into the level", Bytes, Integer, Lower, Exact;
    /// SSTable bytes that flushes and compactions wrote to the level. A trivial move writes nothing. The sum over all
    /// levels is `flush_bytes` + `compaction_bytes_written`.
    BYTES_WRITTEN = "bytes_written", "bytes written to the level", Bytes, Integer, Lower, Exact;
    /// `tables` after pending flushes and compactions finished.
    TABLES_SETTLED = "tables_settled", "settled tables", Count, Integer, Neither, Exact;
    /// `bytes_read`, including bytes read until pending flushes and compactions finished.
    BYTES_READ_SETTLED = "bytes_read_settled", "settled bytes read by compactions into the level", Bytes, Integer, Lower, Exact;
    /// `bytes_written`, including bytes written until pending flushes and compactions finished.
    BYTES_WRITTEN_SETTLED = "bytes_written_settled", "settled bytes written to the level", Bytes, Integer, Lower, Exact;
    /// Number of data blocks of the level, from storage or from the block cache, that were searched by gets. If no
    /// values are in blob files, the sum over all levels is `blocks_per_get` × the number of looked-up keys.
    GET_BLOCKS_SEARCHED = "get_blocks_searched", "data blocks searched by gets", Count, Integer, Lower, ForSeed;
    /// Number of blocks of the level, both data blocks and index pages, that were read from storage by gets. In a phase
    /// of gets, the sum over all levels is `blocks_read`.
    GET_BLOCKS_READ = "get_blocks_read", "blocks read from storage by gets", Count, Integer, Lower, ForSeed;
}

/// The measured columns of `levels.csv`, in order.
pub static LEVEL_METRICS: &[Metric] = &[
    LEVEL,
    RUNS,
    TABLES,
    TABLE_BYTES,
    BYTES_READ,
    BYTES_WRITTEN,
    WRITE_AMP,
    RUNS_SETTLED,
    TABLES_SETTLED,
    TABLE_BYTES_SETTLED,
    BYTES_READ_SETTLED,
    BYTES_WRITTEN_SETTLED,
    WRITE_AMP_SETTLED,
    FILTER_PROBES,
    FILTER_NEGATIVES,
    FILTER_FALSE_POSITIVES,
    FPR,
    GET_BLOCKS_SEARCHED,
    GET_BLOCKS_READ,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_stands_once_and_the_level_comes_first() {
        assert_eq!(LEVEL_METRICS[0], LEVEL);
        for metric in LEVEL_METRICS.iter().chain(LEVEL_OWN) {
            let stands = LEVEL_METRICS.iter().filter(|other| other.name == metric.name).count();
            assert_eq!(stands, 1, "{}", metric.name);
        }
    }
}
