//! Counters of a store or of the harness that are not columns. These counters are terms of [`formulas`], or of the
//! closed forms with which rows are compared.
//!
//! No file has a column of these names.
//!
//! [`formulas`]: crate::formulas

use crate::metric::{Better, Metric, Unit, ValueType, columns};

columns! {
    /// All counters.
    COUNTERS
    /// Keys looked up, by single gets and multi-gets.
    GETS = "gets", "gets", Count, Integer, Neither, true;
    /// Lookups that found a value.
    GETS_FOUND = "gets_found", "gets that found a value", Count, Integer, Neither, true;
    /// Lookups that a memtable answered.
    GETS_FROM_MEMTABLE = "gets_from_memtable", "gets that a memtable answered", Count, Integer, Neither, true;
    /// Gets of a phase that does nothing else. Empty in every other phase.
    GETS_ALONE = "gets_alone", "gets of a phase with only gets", Count, Integer, Neither, true;
    /// Gets and scans of a phase that does nothing else; a multi-get counts each of its keys. Empty in every other phase.
    READS_ALONE = "reads_alone", "reads of a phase with only reads", Count, Integer, Neither, true;
    /// Puts, in batches or single.
    PUTS = "puts", "puts", Count, Integer, Neither, true;
    /// Scans opened.
    RANGES = "ranges", "scans", Count, Integer, Neither, true;
    /// Memtables and sorted runs that had keys of a scan.
    RANGE_SOURCES = "range_sources", "sorted sources of scans", Count, Integer, Neither, true;
    /// Data blocks that gets searched, cached or not.
    BLOCKS_SEARCHED = "blocks_searched", "data blocks that gets searched", Count, Integer, Lower, true;
    /// Searched blocks that have an index inside.
    BLOCK_INDEX_PROBES = "block_index_probes", "probes of the index of a block", Count, Integer, Neither, true;
    /// Probes that the index of the block answered.
    BLOCK_INDEX_HITS = "block_index_hits", "answers of the index of a block", Count, Integer, Higher, true;
    /// Index pages found in the block cache.
    INDEX_PAGES_FROM_CACHE = "index_pages_from_cache", "index pages found in the cache", Count, Integer, Neither, true;
    /// Range probes of filters that answered "maybe" although the run had no key in the range.
    RANGE_FILTER_FALSE_POSITIVES = "range_filter_false_positives", "false positives of range filters", Count, Integer, Lower, true;
    /// `wal_bytes`, including bytes written until pending flushes and compactions finished.
    WAL_BYTES_SETTLED = "wal_bytes_settled", "settled bytes written to the WAL", Bytes, Integer, Lower, true;
    /// Time that writers waited, over all threads.
    STALL_NS = "stall_ns", "time writers stalled", Nanoseconds, Integer, Lower, false;
    /// Time that writers were delayed before a stall limit, over all threads.
    DELAY_NS = "delay_ns", "time writers were delayed", Nanoseconds, Integer, Lower, false;
    /// Time in which writers replaced full memtables, over all threads.
    ROTATION_NS = "rotation_ns", "time to replace memtables", Nanoseconds, Integer, Lower, false;
    /// Time that compactions took.
    COMPACTION_NS = "compaction_ns", "time of compactions", Nanoseconds, Integer, Lower, false;
    /// Time that a simulated device took for reads.
    DEVICE_READ_NS = "device_read_ns", "time the device read", Nanoseconds, Integer, Lower, true;
    /// Time that a simulated device took for writes and syncs.
    DEVICE_WRITE_NS = "device_write_ns", "time the device wrote", Nanoseconds, Integer, Lower, true;
    /// Allocations by the threads that issue operations.
    ALLOCATIONS = "allocations", "allocations", Count, Integer, Lower, false;
    /// Entries in the tables of a level, tombstones included.
    ENTRIES = "entries", "entries", Count, Integer, Neither, true;
    /// Tombstones in the tables of a level.
    TOMBSTONES = "tombstones", "tombstones", Count, Integer, Neither, true;
    /// Data blocks in the tables of a level.
    BLOCKS = "blocks", "data blocks", Count, Integer, Neither, true;
    /// Bytes of the data blocks of a level as they are stored.
    BLOCK_BYTES = "block_bytes", "bytes of data blocks", Bytes, Integer, Neither, true;
    /// Key and value bytes in the tables of a level, before any encoding.
    ENTRY_BYTES = "entry_bytes", "bytes of entries", Bytes, Integer, Neither, true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{IDENTITY, METRICS, TIMELINE_METRICS};
    use crate::levels::LEVEL_METRICS;

    #[test]
    fn no_file_has_a_column_of_the_name_of_a_counter() {
        for (at, counter) in COUNTERS.iter().enumerate() {
            let columns = IDENTITY.iter().chain(METRICS).chain(TIMELINE_METRICS).chain(LEVEL_METRICS);
            assert!(
                columns.chain(&COUNTERS[..at]).all(|other| other.name != counter.name),
                "{}",
                counter.name
            );
        }
    }
}
