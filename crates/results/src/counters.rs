//! Counters of a store or of the harness that are not columns of a result file. They are inputs of [`formulas`] and of
//! theoretical models.
//!
//! No column of a result file has the name of one of these counters.
//!
//! [`formulas`]: crate::formulas

use crate::metric::{Better, Metric, Repeats, Unit, ValueType, columns};

columns! {
    /// The list of all counters.
    COUNTERS
    /// Number of keys that single gets and multi-gets looked up.
    GETS = "gets", "gets", Count, Integer, Neither, Exact;
    /// Number of lookups that found a value.
    GETS_FOUND = "gets_found", "gets that found a value", Count, Integer, Neither, Exact;
    /// Number of gets that a memtable answered.
    GETS_FROM_MEMTABLE = "gets_from_memtable", "gets that a memtable answered", Count, Integer, Neither, Exact;
    /// Number of gets in the phase, if the phase contains only gets. Empty for every other phase.
    GETS_ALONE = "gets_alone", "gets executed in a get-only phase", Count, Integer, Neither, Exact;
    /// Number of gets and scans in the phase, if the phase contains only reads. A multi-get counts once for each of
    /// its keys. Empty for every other phase.
    READS_ALONE = "reads_alone", "reads executed in a read-only phase", Count, Integer, Neither, Exact;
    /// Number of puts, both single puts and puts in batches.
    PUTS = "puts", "puts", Count, Integer, Neither, Exact;
    /// Number of scans.
    RANGES = "ranges", "scans", Count, Integer, Neither, Exact;
    /// Number of memtables and sorted runs with keys in the range of a scan, summed over all scans.
    RANGE_SOURCES = "range_sources", "memtables and sorted runs read by scans", Count, Integer, Neither, Exact;
    /// Number of entries that scans returned.
    RANGE_ENTRIES = "range_entries", "entries of scans", Count, Integer, Neither, Exact;
    /// Number of comparisons of two keys in the merges of scans, and in the searches of scans in sorted views.
    RANGE_COMPARISONS = "range_comparisons", "key comparisons of scans", Count, Integer, Lower, Exact;
    /// Number of data blocks, from storage or from the block cache, that were searched by gets.
    BLOCKS_SEARCHED = "blocks_searched", "data blocks that gets searched", Count, Integer, Lower, Exact;
    /// Bytes that gets and scans fetched from storage: data blocks, index pages and values of blob files.
    FETCHED_BYTES = "fetched_bytes", "bytes fetched from storage", Bytes, Integer, Lower, Exact;
    /// Number of searched data blocks that contain a hash index (`block.index`).
    BLOCK_INDEX_PROBES = "block_index_probes", "block index probes", Count, Integer, Neither, Exact;
    /// Number of searched data blocks whose hash index answered the lookup.
    BLOCK_INDEX_HITS = "block_index_hits", "block index answers", Count, Integer, Higher, Exact;
    /// Number of index pages that were found in the block cache.
    INDEX_PAGES_FROM_CACHE = "index_pages_from_cache", "index pages found in the cache", Count, Integer, Neither, Exact;
    /// Number of filter lookups for a range with the answer "maybe", although the sorted run contained no key in the
    /// range.
    RANGE_FILTER_FALSE_POSITIVES = "range_filter_false_positives", "false positives of range filters", Count, Integer, Lower, Exact;
    /// `wal_bytes`, including bytes written until pending flushes and compactions finished.
    WAL_BYTES_SETTLED = "wal_bytes_settled", "settled bytes written to the WAL", Bytes, Integer, Lower, Exact;
    /// Time in which stall rules stopped or delayed writers, summed over all threads.
    STALL_NS = "stall_ns", "stall time of writers", Nanoseconds, Integer, Lower, Varies;
    /// Time in which the store slowed writers before they reached a stall limit, summed over all threads.
    DELAY_NS = "delay_ns", "time writers were delayed", Nanoseconds, Integer, Lower, Varies;
    /// Time in which writers replaced full memtables, over all threads.
    ROTATION_NS = "rotation_ns", "time to replace memtables", Nanoseconds, Integer, Lower, Varies;
    /// Total duration of all compactions.
    COMPACTION_NS = "compaction_ns", "time of compactions", Nanoseconds, Integer, Lower, Varies;
    /// Time for which compactions waited because clients used the bandwidth.
    BANDWIDTH_WAIT_NS = "bandwidth_wait_ns", "wait of compactions for bandwidth", Nanoseconds, Integer, Neither, Varies;
    /// Time that a simulated device took for reads.
    DEVICE_READ_NS = "device_read_ns", "time the device read", Nanoseconds, Integer, Lower, Exact;
    /// Time that a simulated device took for writes and syncs.
    DEVICE_WRITE_NS = "device_write_ns", "time the device wrote", Nanoseconds, Integer, Lower, Exact;
    /// Number of memory allocations by the threads that issue operations.
    ALLOCATIONS = "allocations", "allocations", Count, Integer, Lower, Varies;
    /// Number of entries in the SSTables of a level, including tombstones.
    ENTRIES = "entries", "entries", Count, Integer, Neither, Exact;
    /// Number of tombstones in the SSTables of a level.
    TOMBSTONES = "tombstones", "tombstones", Count, Integer, Neither, Exact;
    /// Number of data blocks in the SSTables of a level.
    BLOCKS = "blocks", "data blocks", Count, Integer, Neither, Exact;
    /// Bytes of the data blocks of a level as stored, after compression.
    BLOCK_BYTES = "block_bytes", "bytes of data blocks", Bytes, Integer, Neither, Exact;
    /// Key and value bytes in the SSTables of a level, before encoding and compression.
    ENTRY_BYTES = "entry_bytes", "bytes of entries", Bytes, Integer, Neither, Exact;
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
