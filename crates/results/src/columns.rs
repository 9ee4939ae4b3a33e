//! The list of all columns with name, title, unit, type, better direction and definition. The docstring of each
//! constant is the definition of its column.
//!
//! Counters cover the phase of their row. Counters of the whole store are only in the rows of operation `all`. A value
//! that was not measured is empty, never 0.

use crate::metric::{Better, Metric, Repeats, Unit, ValueType, columns};

/// Value of the column `operation` in a row about all operations of a phase together.
pub const ALL: &str = "all";

/// Name of the column with the engine of each row. In a sweep of engines, this is also the swept path.
pub const ENGINE: &str = "engine";

/// First word of the paths to the parameters of a component experiment, such as `component.level`. The name of a
/// component experiment also begins with this word.
pub const COMPONENT: &str = "component";

columns! {
    /// The columns that identify the measurement of a row. The columns of the swept paths come after these columns.
    IDENTITY
    /// Name of the experiment.
    EXPERIMENT = "experiment", "experiment", Plain, Text, Neither, Exact;
    /// Number of the configuration, from 0 in the order of the sweep. A configuration is one combination of swept
    /// values. Result files call a configuration a cell.
    CELL = "cell", "cell", Plain, Integer, Neither, Exact;
    /// Short name of the configuration. The name contains the values that differ between configurations.
    LABEL = "label", "design", Plain, Text, Neither, Exact;
    /// Number of the trial, from 0. Trials with equal numbers belong to one round, so they ran shortly after each
    /// other and executed the same operations. Verdicts therefore compare trials with equal numbers as pairs.
    TRIAL = "trial", "trial", Plain, Integer, Neither, Exact;
    /// Name of the phase.
    PHASE = "phase", "phase", Plain, Text, Neither, Exact;
    /// The kind of operation, or `all` for all kinds together. In the row of a step on the store, the name of the step,
    /// such as `compact`. In the rows of a role (a group of threads), the name of the role comes first: `readers/get`.
    OPERATION = "operation", "operation", Plain, Text, Neither, Exact;
    /// `timed` mode runs real threads and measures time. `counted` mode runs one thread without a clock, so each
    /// counter has an equal value on every machine.
    MODE = "mode", "mode", Plain, Text, Neither, Exact;
    /// The seed of the operation stream.
    SEED = "seed", "seed", Plain, Integer, Neither, Exact;
    /// With `closed`, a thread issues its next operation when its previous operation ends. With `open`, operations
    /// are due at a fixed rate, even if the store is slower than this rate.
    LOOP = "loop", "loop", Plain, Text, Neither, Exact;
}

columns! {
    /// The measured columns of `runs.csv`, in order.
    METRICS
    /// Number of operations.
    OPS = "ops", "operations", Count, Integer, Neither, Exact;
    /// Wall time of the phase, from the start of its first operation to the end of its last operation. The wait for
    /// pending flushes and compactions is not included. A row of a single kind of operation contains the value of the
    /// row `all`. The row of a step has the duration of the step.
    SECONDS = "seconds", "wall time of the phase", Seconds, Number, Lower, Varies;
    /// `ops` / `seconds`.
    OPS_PER_SECOND = "ops_per_second", "throughput", OperationsPerSecond, Number, Higher, Varies;
    /// Mean service time. The service time of an operation is the time from its call to its return. High percentiles of
    /// the service time are too low if operations wait for a stalled operation (coordinated omission), because the
    /// service time does not include this wait. In an open loop, use `response_mean_ns`. In component experiments, the
    /// value is the time of all slices / `ops`, including the time of the loop (`loop_ns`).
    MEAN_NS = "mean_ns", "mean service time", Nanoseconds, Number, Lower, Varies;
    /// Median service time over all threads, from a histogram with 3 significant digits.
    P50_NS = "p50_ns", "median service time", Nanoseconds, Integer, Lower, Varies;
    /// 90th percentile of service time.
    P90_NS = "p90_ns", "p90 service time", Nanoseconds, Integer, Lower, Varies;
    /// 99th percentile of service time.
    P99_NS = "p99_ns", "p99 service time", Nanoseconds, Integer, Lower, Varies;
    /// 99.9th percentile of service time.
    P999_NS = "p999_ns", "p99.9 service time", Nanoseconds, Integer, Lower, Varies;
    /// Longest service time.
    MAX_NS = "max_ns", "longest service time", Nanoseconds, Integer, Lower, Varies;
    /// Number of gets that found a value.
    FOUND = "found", "gets that found a value", Count, Integer, Neither, ForSeed;
    /// Number of gets that found no value.
    MISSING = "missing", "gets that found no value", Count, Integer, Neither, ForSeed;
    /// Bytes that the user wrote: the keys and values of puts and merges, and the keys of deletes and range deletes.
    USER_BYTES_WRITTEN = "user_bytes_written", "bytes written by the user", Bytes, Integer, Neither, Exact;
    /// Bytes written to the write-ahead log (WAL).
    WAL_BYTES = "wal_bytes", "bytes written to the WAL", Bytes, Integer, Lower, Exact;
    /// Bytes of SSTables and blob files written by flushes.
    FLUSH_BYTES = "flush_bytes", "bytes flushed", Bytes, Integer, Lower, Exact;
    /// Bytes of SSTables and blob files read by compactions.
    COMPACTION_BYTES_READ = "compaction_bytes_read", "bytes read by compaction", Bytes, Integer, Lower, Exact;
    /// Bytes of SSTables and blob files written by compactions.
    COMPACTION_BYTES_WRITTEN = "compaction_bytes_written", "bytes written by compaction", Bytes, Integer, Lower, Exact;
    /// (`flush_bytes` + `compaction_bytes_written`) / `user_bytes_written` at the end of the phase's last operation
    /// (burst value). The bytes of pending compactions are not included.
    WRITE_AMP = "write_amp", "write amplification", Ratio, Number, Lower, Exact;
    /// Number of blocks read from storage, both data blocks and index pages. For RocksDB, the column counts only data
    /// blocks. For redb, the column counts the misses of redb's cache.
    BLOCKS_READ = "blocks_read", "blocks fetched from storage", Count, Integer, Lower, ForSeed;
    /// Number of blocks that were found in the block cache.
    BLOCKS_FROM_CACHE = "blocks_from_cache", "blocks found in the cache", Count, Integer, Neither, ForSeed;
    /// Number of data blocks that a get searches, on average, from storage or from the block cache. In phases of gets,
    /// each value that a get fetched from a blob file counts as one more block. Engines other than lsmbench report this
    /// column only for phases of gets.
    BLOCKS_PER_GET = "blocks_per_get", "data blocks read per get", Ratio, Number, Lower, ForSeed;
    /// `blocks_from_cache` / (`blocks_from_cache` + `blocks_read`).
    CACHE_HIT_RATE = "cache_hit_rate", "cache hit rate", Share, Number, Higher, ForSeed;
    /// Number of filter lookups for a key.
    FILTER_PROBES = "filter_probes", "filter probes", Count, Integer, Neither, ForSeed;
    /// Number of filter lookups for a key with the answer "not here".
    FILTER_NEGATIVES = "filter_negatives", "filter negatives", Count, Integer, Neither, ForSeed;
    /// Number of filter lookups for a key with the answer "maybe", although the sorted run did not contain the key.
    FILTER_FALSE_POSITIVES = "filter_false_positives", "false positives", Count, Integer, Lower, ForSeed;
    /// `filter_false_positives` / (`filter_false_positives` + `filter_negatives`).
    FPR = "fpr", "false-positive rate", Share, Number, Lower, ForSeed;
    /// Number of fence pointer searches for the block of a key.
    FENCE_SEARCHES = "fence_searches", "fence searches", Count, Integer, Lower, ForSeed;
    /// Number of flushed memtables.
    FLUSHES = "flushes", "flushes", Count, Integer, Neither, Exact;
    /// Number of completed compactions.
    COMPACTIONS = "compactions", "compactions", Count, Integer, Neither, Exact;
    /// Number of levels with SSTables at the end of the phase's last operation.
    LEVELS = "levels", "levels", Count, Integer, Neither, Exact;
    /// Number of sorted runs on storage at the end of the phase's last operation.
    RUNS = "runs", "sorted runs", Count, Integer, Neither, Exact;
    /// Bytes of all live SSTables and blob files at the end of the phase's last operation.
    TABLE_BYTES = "table_bytes", "bytes of all tables", Bytes, Integer, Lower, Exact;
    /// Key and value bytes of all keys that exist, each with its newest value only. lsmbench computes the exact
    /// number from the operations.
    LIVE_BYTES = "live_bytes", "bytes of live data", Bytes, Integer, Neither, Exact;
    /// `table_bytes` / `live_bytes` at the end of the phase's last operation (burst value).
    SPACE_AMP = "space_amp", "space amplification", Ratio, Number, Lower, Exact;
    /// Memory of memtables in bytes.
    MEMTABLE_BYTES = "memtable_bytes", "memory of memtables", Bytes, Integer, Lower, Varies;
    /// Memory of filters in bytes.
    FILTER_BYTES = "filter_bytes", "memory of filters", Bytes, Integer, Lower, Exact;
    /// Memory of fence pointers, block directories, restart hints and indexes of blocks (`block.memory_index`), in
    /// bytes.
    FENCE_BYTES = "fence_bytes", "memory of fence pointers", Bytes, Integer, Lower, Exact;
    /// Memory of the block cache in bytes.
    CACHE_BYTES = "cache_bytes", "memory of the block cache", Bytes, Integer, Lower, Varies;
    /// Time in which stall rules of the store stopped or delayed writers, summed over all threads.
    STALL_SECONDS = "stall_seconds", "stall time of writers", Seconds, Number, Lower, Varies;
    /// CPU time of the process in the phase, user and system, summed over all threads.
    CPU_SECONDS = "cpu_seconds", "CPU time", Seconds, Number, Lower, Varies;
    /// Largest resident memory of the process up to the end of the phase.
    RSS_PEAK_BYTES = "rss_peak_bytes", "peak resident memory", Bytes, Integer, Lower, Varies;
    /// Bytes that the operating system wrote to storage for the process.
    OS_WRITE_BYTES = "os_write_bytes", "bytes written by the operating system", Bytes, Integer, Lower, Varies;
    /// Number of range tombstones in live SSTables at the end of the phase's last operation. Empty if there are no
    /// range tombstones.
    RANGE_TOMBSTONES = "range_tombstones", "range tombstones", Count, Integer, Neither, Exact;
    /// Bytes of blob files written by flushes and compactions. `flush_bytes` and `compaction_bytes_written` include
    /// the bytes in blob files. This column and the next four columns are empty if the design keeps values in
    /// SSTables.
    BLOB_BYTES_WRITTEN = "blob_bytes_written", "bytes written to blob files", Bytes, Integer, Lower, Exact;
    /// Bytes of the values in blob files, with their keys and checksums, at the end of the phase's last operation.
    BLOB_BYTES = "blob_bytes", "bytes of values in blob files", Bytes, Integer, Lower, Exact;
    /// Fraction of `blob_bytes` that belongs to live values. A value is live if an SSTable has a pointer to the
    /// value.
    BLOB_LIVE_SHARE = "blob_live_share", "live share of blob files", Share, Number, Higher, Exact;
    /// Number of values that gets and scans fetched from blob files on storage.
    BLOB_VALUES_READ = "blob_values_read", "values fetched from blob files", Count, Integer, Lower, ForSeed;
    /// Number of values of blob files that gets and scans found in the block cache.
    BLOB_VALUES_FROM_CACHE = "blob_values_from_cache", "values of blob files found in the cache", Count, Integer, Neither, ForSeed;
    /// (`wal_bytes` + `flush_bytes` + `compaction_bytes_written`) / `user_bytes_written`.
    WRITE_AMP_WAL = "write_amp_wal", "write amplification with the WAL", Ratio, Number, Lower, Exact;
    /// `write_amp`, including the bytes written until pending flushes and compactions finished (settled value).
    WRITE_AMP_SETTLED = "write_amp_settled", "settled write amplification", Ratio, Number, Lower, Exact;
    /// `table_bytes_settled` / `live_bytes`.
    SPACE_AMP_SETTLED = "space_amp_settled", "settled space amplification", Ratio, Number, Lower, Exact;
    /// `table_bytes` after pending flushes and compactions finished.
    TABLE_BYTES_SETTLED = "table_bytes_settled", "settled bytes of all tables", Bytes, Integer, Lower, Exact;
    /// `runs` after pending flushes and compactions finished.
    RUNS_SETTLED = "runs_settled", "settled sorted runs", Count, Integer, Neither, Exact;
    /// `levels` after pending flushes and compactions finished.
    LEVELS_SETTLED = "levels_settled", "settled levels", Count, Integer, Neither, Exact;
    /// `flush_bytes`, including bytes written until pending flushes and compactions finished.
    FLUSH_BYTES_SETTLED = "flush_bytes_settled", "settled bytes flushed", Bytes, Integer, Lower, Exact;
    /// `compaction_bytes_read`, including bytes read until pending flushes and compactions finished.
    COMPACTION_BYTES_READ_SETTLED = "compaction_bytes_read_settled", "settled bytes read by compaction", Bytes, Integer, Lower, Exact;
    /// `compaction_bytes_written`, including bytes written until pending flushes and compactions finished.
    COMPACTION_BYTES_WRITTEN_SETTLED = "compaction_bytes_written_settled", "settled bytes written by compaction", Bytes, Integer, Lower, Exact;
    /// `write_amp_wal`, including the bytes written until pending flushes and compactions finished.
    WRITE_AMP_WAL_SETTLED = "write_amp_wal_settled", "settled write amplification with the WAL", Ratio, Number, Lower, Exact;
    /// `os_write_bytes` / `user_bytes_written`: bytes written by the operating system per user byte. A page counts with
    /// its full size when a write first changes the page.
    OS_WRITE_AMP = "os_write_amp", "write amplification of the system", Ratio, Number, Lower, Varies;
    /// `os_write_bytes`, including the bytes written until pending flushes and compactions finished.
    OS_WRITE_BYTES_SETTLED = "os_write_bytes_settled", "settled bytes written by the system", Bytes, Integer, Lower, Varies;
    /// `os_write_bytes_settled` / `user_bytes_written`.
    OS_WRITE_AMP_SETTLED = "os_write_amp_settled", "settled write amplification of the system", Ratio, Number, Lower, Varies;
    /// Bytes that the operating system read from storage for the process, without reads from the page cache. For
    /// storage in memory, all columns about reads and writes of the operating system are empty.
    OS_READ_BYTES = "os_read_bytes", "bytes read by the system", Bytes, Integer, Lower, Varies;
    /// Time from the end of the last operation until pending flushes and compactions finished. Some engines do not
    /// report the end of their background work. lsmbench then waits until nothing changes for up to 200 ms, and
    /// subtracts this time.
    SETTLE_SECONDS = "settle_seconds", "time to settle", Seconds, Number, Lower, Varies;
    /// Number of index pages that `blocks_read` includes.
    BLOCKS_READ_INDEX = "blocks_read_index", "index pages fetched from storage", Count, Integer, Lower, ForSeed;
    /// Read amplification: the number of blocks that a get or a scan accesses, on average. The column counts data
    /// blocks and index pages, from storage or the block cache. A value in a blob file counts as a block. Only phases
    /// without writes have a value. In contrast to this column, `blocks_per_get` does not count index pages.
    READ_AMP = "read_amp", "read amplification", Ratio, Number, Lower, ForSeed;
    /// Time that a simulated device (`storage = "simulated"`) takes for the requests of the phase: the sum over all
    /// requests, as if no two requests overlapped. In `timed` mode, the threads that made the requests waited for this
    /// time. Empty for real devices.
    DEVICE_SECONDS = "device_seconds", "time of the device", Seconds, Number, Lower, ForSeed;
    /// Time of reads in `device_seconds`.
    DEVICE_READ_SECONDS = "device_read_seconds", "time the device read", Seconds, Number, Lower, ForSeed;
    /// Time of writes and syncs in `device_seconds`.
    DEVICE_WRITE_SECONDS = "device_write_seconds", "time the device wrote", Seconds, Number, Lower, Exact;
    /// `device_seconds` / `ops`, in nanoseconds. If every operation waits for its own requests, this time is the part
    /// of the latency that the device causes.
    DEVICE_NS_PER_OP = "device_ns_per_op", "time of the device per operation", Nanoseconds, Number, Lower, ForSeed;
    /// Theoretical false-positive rate of the filters, computed from their real sizes. The value is the mean over all
    /// filters, weighted by the lookups of each filter. If the engine does not report lookups per filter, the weights
    /// are the numbers of keys.
    EXPECTED_FPR = "expected_fpr", "expected false-positive rate", Share, Number, Lower, Exact;
    /// Relative difference from theory: `fpr` / `expected_fpr` − 1. Empty if theory predicts fewer than 100 false
    /// positives of distinct keys, because the value would then depend mostly on chance.
    FPR_RESIDUAL = "fpr_residual", "false-positive rate above theory", Ratio, Number, Neither, Varies;
    /// Theoretical write amplification of the compaction policy, for distinct keys and after all compactions have
    /// finished: factor × `flush_bytes` / `user_bytes_written`. A closed formula for the policy, or the simulator,
    /// computes the factor from the number of flushes. Only phases that add new keys to an empty tree have a value, and
    /// only if compactions drop no bytes. With values in blob files, the factor applies only to the bytes of SSTables.
    EXPECTED_WRITE_AMP = "expected_write_amp", "expected write amplification", Ratio, Number, Lower, Varies;
    /// Relative difference from theory: `write_amp_settled` / `expected_write_amp` − 1. Component experiments use
    /// `write_amp` instead of `write_amp_settled`.
    WRITE_AMP_RESIDUAL = "write_amp_residual", "write amplification above theory", Ratio, Number, Neither, Varies;
    /// Theoretical number of bytes that flushes and garbage collection write to blob files. The formula depends on the
    /// value policy (Rosenblum & Ousterhout, 1992; Menon, 1995; Desnoyers, 2014). Two kinds of phases have a value:
    /// phases that add keys to an empty store, and phases of uniformly random puts that overwrite values of equal size,
    /// with the compaction policy `leveled` or `l0-tiered`. The second kind also needs enough earlier overwrites and
    /// compactions for a steady state.
    EXPECTED_BLOB_BYTES_WRITTEN = "expected_blob_bytes_written", "expected bytes written to blob files", Bytes, Integer, Lower, Varies;
    /// Relative difference from theory: `blob_bytes_written` / `expected_blob_bytes_written` − 1.
    BLOB_BYTES_RESIDUAL = "blob_bytes_residual", "bytes written to blob files above theory", Ratio, Number, Neither, Varies;
    /// Theoretical value of `blob_live_share`, as the mean between two compactions into the largest level. Empty for
    /// phases without `expected_blob_bytes_written`.
    EXPECTED_BLOB_LIVE_SHARE = "expected_blob_live_share", "expected live share of blob files", Share, Number, Higher, Varies;
    /// Theoretical number of sorted runs after the measured number of flushes and after all compactions have
    /// finished. The number comes from a closed formula for the policy, or from the simulator. Empty for phases
    /// without `expected_write_amp`.
    EXPECTED_RUNS = "expected_runs", "expected sorted runs", Count, Integer, Neither, Varies;
    /// Theoretical number of levels of a tree with `expected_runs` sorted runs. Empty for phases without
    /// `expected_write_amp`.
    EXPECTED_LEVELS = "expected_levels", "expected levels", Count, Integer, Neither, Varies;
    /// Expected data blocks per get, computed from the current sorted runs and `expected_fpr`. A get reads one block
    /// per false positive in the runs that it searches, and a get of a present key also reads the block of this key.
    /// Only phases of gets have a value, and only if the runs overlap and the fence pointers are in memory.
    EXPECTED_BLOCKS_PER_GET = "expected_blocks_per_get", "expected data blocks per get", Ratio, Number, Lower, Varies;
    /// Relative difference from theory: `blocks_per_get` / `expected_blocks_per_get` − 1.
    BLOCKS_PER_GET_RESIDUAL = "blocks_per_get_residual", "data blocks per get above theory", Ratio, Number, Neither, Varies;
    /// Lower bound of `space_amp_settled`. The bound assumes that the SSTables contain one copy of each live key that
    /// is not in a memtable. The bound uses the measured number of SSTable bytes per byte of keys and values. Empty
    /// for trees with tombstones.
    LEAST_SPACE_AMP = "least_space_amp", "least space amplification", Ratio, Number, Lower, Varies;
    /// Upper bound of `space_amp_settled` from textbooks, for overwritten keys and full levels (Dayan & Idreos,
    /// "Dostoevsky", 2018). With size ratio T, the bound is T/(T − 1) for leveled and lazy leveled compaction, and T
    /// for tiered compaction. With Z runs in the largest level, the bound is Z·T/(T − 1). If level 0 contains several
    /// runs, its size is added. The bound uses the measured number of SSTable bytes per byte of keys and values. A tree
    /// with a new largest level may exceed the bound. Empty for other policies, and for trees with tombstones.
    MOST_SPACE_AMP = "most_space_amp", "most space amplification", Ratio, Number, Lower, Varies;
    /// Relative difference from the upper bound: `space_amp_settled` / `most_space_amp` − 1. A negative value means
    /// that the measurement is below the bound.
    SPACE_AMP_RESIDUAL = "space_amp_residual", "space amplification above theory", Ratio, Number, Neither, Varies;
    /// Theoretical hit rate of the cache for the key distribution of the phase. The theory is Che's approximation for
    /// LRU caches, and Martina's approximation for FIFO caches. The theory uses the measured number of entries per
    /// block and includes the filling of an empty cache. Sequential keys have one miss per block. Only phases of gets
    /// for present keys have a value.
    EXPECTED_HIT_RATE = "expected_hit_rate", "expected hit rate", Share, Number, Higher, Varies;
    /// Relative difference from theory: `cache_hit_rate` / `expected_hit_rate` − 1.
    HIT_RATE_RESIDUAL = "hit_rate_residual", "hit rate above theory", Ratio, Number, Neither, Varies;
    /// Hit rate of a cache that always contains the most popular blocks of the key distribution. In the long run, no
    /// cache without knowledge of the future exceeds this rate. Only phases of gets for present keys have a value.
    BEST_STATIC_HIT_RATE = "best_static_hit_rate", "hit rate of the best static set", Share, Number, Neither, Varies;
    /// Number of filter lookups for a range between two keys.
    RANGE_FILTER_PROBES = "range_filter_probes", "range filter probes", Count, Integer, Neither, ForSeed;
    /// Number of filter lookups for a range with the answer "empty".
    RANGE_FILTER_NEGATIVES = "range_filter_negatives", "range filter negatives", Count, Integer, Neither, ForSeed;
    /// False positives / (false positives + negatives) of filter lookups for ranges. A false positive is the answer
    /// "maybe" although the sorted run had no key in the range.
    RANGE_FPR = "range_fpr", "false-positive rate of ranges", Share, Number, Lower, ForSeed;
    /// Mean response time, from the scheduled start of an operation to its return, including the wait before the real
    /// start. Empty in a closed loop.
    RESPONSE_MEAN_NS = "response_mean_ns", "mean response time", Nanoseconds, Number, Lower, Varies;
    /// Median response time. Empty in a closed loop.
    RESPONSE_P50_NS = "response_p50_ns", "median response time", Nanoseconds, Integer, Lower, Varies;
    /// 99th percentile of response time. Empty in a closed loop.
    RESPONSE_P99_NS = "response_p99_ns", "p99 response time", Nanoseconds, Integer, Lower, Varies;
    /// 99.9th percentile of response time. Empty in a closed loop.
    RESPONSE_P999_NS = "response_p999_ns", "p99.9 response time", Nanoseconds, Integer, Lower, Varies;
    /// Number of answers that lsmbench compared with the expected answers. The measured times do not include these
    /// comparisons.
    CHECKED_ANSWERS = "checked_answers", "answers checked", Count, Integer, Neither, Exact;
    /// Number of wrong answers among the checked answers. If a row has wrong answers, all other measurements of the
    /// row are empty.
    WRONG_ANSWERS = "wrong_answers", "wrong answers", Count, Integer, Lower, Exact;
    /// Number of checked gets that found no value for a written key, in designs that drop old data. Gets of dropped
    /// data are not wrong answers. For these designs, lsmbench does not check scans and multi-gets with missing
    /// entries. The column is empty for all other designs.
    DROPPED_ANSWERS = "dropped_answers", "gets of dropped data", Count, Integer, Neither, Exact;
    /// The theoretical or physical bounds that values of the row exceed, as text. Verdicts ignore implausible rows.
    /// Empty if all values are within their bounds.
    IMPLAUSIBLE = "implausible", "beyond a bound", Plain, Text, Neither, Varies;
    /// Number of threads that issued operations. Empty for steps on the store.
    THREADS = "threads", "threads", Count, Integer, Neither, Exact;
    /// Scheduled operations per second, over all threads. Empty in a closed loop.
    TARGET_OPS_PER_SECOND = "target_ops_per_second", "target rate", OperationsPerSecond, Number, Neither, Exact;
    /// Highest rate at which the store meets the objective of a rate search, over all threads. The other columns of the
    /// row contain the measurements at this rate. If even the lowest rate misses the objective, this column is empty,
    /// and the other columns contain the measurements at the lowest rate. The column is also empty if the highest rate
    /// meets the objective, and for phases without a rate search.
    SUSTAINED_OPS_PER_SECOND = "sustained_ops_per_second", "sustained rate", OperationsPerSecond, Number, Higher, Varies;
    /// Objective that the lowest failing rate misses: `p99`, `stalls` or `level0_runs`. The value `to` means that
    /// even the highest rate meets the objective, so the key `to` of the search is too low.
    RATE_LIMIT = "rate_limit", "objective that limits the rate", Plain, Text, Neither, Varies;
    /// Number of times that the rate search executed the phase.
    RATE_PROBES = "rate_probes", "probes", Count, Integer, Neither, Varies;
    /// Fraction of the phase's operations that have the kind of this row. The value is 1 for `all`.
    REALISED_SHARE = "realised_share", "share of operations", Share, Number, Neither, ForSeed;
    /// Share of key accesses that went to the most accessed key.
    REALISED_HOT_KEY = "realised_hot_key", "share of the hottest key", Share, Number, Neither, ForSeed;
    /// Share of key accesses that went to the most accessed hundredth of the keys.
    REALISED_HOT_1_PERCENT = "realised_hot_1_percent", "share of the hottest 1 % of keys", Share, Number, Neither, ForSeed;
    /// Share of key accesses that went to the most accessed tenth of the keys.
    REALISED_HOT_10_PERCENT = "realised_hot_10_percent", "share of the hottest 10 % of keys", Share, Number, Neither, ForSeed;
    /// Fraction of the gets whose keys are not in the store.
    REALISED_ABSENT = "realised_absent", "share of gets for absent keys", Share, Number, Neither, ForSeed;
    /// Mean bytes of the keys in the phase's operations.
    REALISED_KEY_BYTES = "realised_key_bytes", "mean key size", Bytes, Number, Neither, ForSeed;
    /// Mean bytes of the values in the phase's writes.
    REALISED_VALUE_BYTES = "realised_value_bytes", "mean value size", Bytes, Number, Neither, ForSeed;
    /// Requested state of caches at the start of the phase. `as-is`: the caches are unchanged since the previous
    /// phase. `warm`: all live data was read once, in key order. `cold`: the store was flushed, closed and opened
    /// again, and its files were evicted from the page cache. The text `, direct` follows if SSTables bypass the page
    /// cache.
    CACHE_STATE = "cache_state", "state of caches", Plain, Text, Neither, Exact;
    /// Fraction of the pages of the store's files that were in the page cache when the phase began, before any warm-up.
    PAGE_CACHE_SHARE = "page_cache_share", "share of files in the page cache", Share, Number, Neither, Varies;
    /// Memory limit of the trial process, page cache included (`trials.memory_limit`); empty without a limit.
    MEMORY_LIMIT_BYTES = "memory_limit_bytes", "memory limit", Bytes, Integer, Neither, Exact;
    /// Amount of free memory that lsmbench wrote and released directly before the phase (`trials.warm_memory`). Empty
    /// without `trials.warm_memory`.
    WARM_MEMORY_BYTES = "warm_memory_bytes", "free memory written before the phase", Bytes, Integer, Neither, Exact;
    /// Number of operations in the warm-up of the phase. Only `checked_answers` and the `realised_…` columns include
    /// these operations. Empty without a warm-up.
    WARM_UP_OPS = "warm_up_ops", "operations of the warm-up", Count, Integer, Neither, Exact;
    /// Duration of the warm-up.
    WARM_UP_SECONDS = "warm_up_seconds", "time to warm up", Seconds, Number, Neither, Varies;
    /// Whether the store reached a steady state in the warm-up. Empty for a warm-up without `until = "steady"`.
    WARM_UP_STEADY = "warm_up_steady", "steady after the warm-up", Plain, Text, Neither, Varies;
    /// Whether the phase was steady by SNIA's rule. The phase is split into five equal rounds. Throughput, write
    /// amplification and the sorted runs of each level must stay within 20 % of their mean. The trend of these values
    /// must stay within 10 % of their mean. A difference of one sorted run between rounds is allowed. Empty for
    /// phases shorter than five seconds.
    STEADY = "steady", "steady", Plain, Text, Neither, Varies;
    /// The quantities that were not steady, such as throughput.
    UNSTEADY = "unsteady", "not steady", Plain, Text, Neither, Varies;
    /// Time per operation in the median slice. A slice is some dozens to thousands of operations between two clock
    /// readings. Occasional CPU use by other processes changes `mean_ns`, but not this column. Component runs only.
    P50_SLICE_NS = "p50_slice_ns", "time per operation", Nanoseconds, Number, Lower, Varies;
    /// Time per operation of the loop around the component. lsmbench runs the same loop without the component to
    /// measure this time. `mean_ns` and `p50_slice_ns` include the time of the loop. Component runs only.
    LOOP_NS = "loop_ns", "time of the empty loop", Nanoseconds, Number, Neither, Varies;
    /// Time to build the component, per entry, as the median of several builds. For a filter, the value depends on
    /// `component.insertion`. With `whole`, one thread builds a usable filter, including allocation, serialization and
    /// opening. With `single` and `batch`, threads only insert keys into shared bits. Do not compare `whole` with
    /// `single` or `batch`. Component runs only.
    BUILD_NS_PER_ENTRY = "build_ns_per_entry", "time to build, per entry", Nanoseconds, Number, Lower, Varies;
    /// Memory of the component in bytes per entry. For fence pointers, an entry is a data block. For other
    /// components, an entry is a key. Component runs only.
    BYTES_PER_ENTRY = "bytes_per_entry", "memory per entry", Bytes, Number, Lower, Varies;
    /// Memory of a filter in bits per key. Component runs only.
    BITS_PER_KEY = "bits_per_key", "bits per key", Ratio, Number, Lower, Exact;
    /// Original bytes / stored bytes. Component runs only.
    RATIO = "ratio", "compression ratio", Ratio, Number, Higher, Exact;
    /// Speed in the median slice, in megabytes (10⁶ bytes) per second. The speed of a codec counts original bytes,
    /// the speed of a hash function counts key bytes, and the speed of a storage back end counts file bytes.
    /// Component runs only.
    MEGABYTES_PER_SECOND = "megabytes_per_second", "speed", MegabytesPerSecond, Number, Higher, Varies;
    /// Hit rate of Belady's optimal algorithm for the same requests and the same capacity. Belady's algorithm knows all
    /// future requests, and starts with the best choice of warm-up blocks. No cache can therefore exceed this rate.
    /// Component runs only.
    BEST_HIT_RATE = "best_hit_rate", "best possible hit rate", Share, Number, Neither, ForSeed;
    /// Mean number of sorted runs that a get may have to search. The mean is over the flushes of a simulated tree.
    /// Component runs only.
    RUNS_PER_GET = "runs_per_get", "sorted runs per get", Ratio, Number, Lower, Exact;
    /// Maximum number of sorted runs that a simulated tree had at one time. Component runs only.
    WORST_RUNS = "worst_runs", "most sorted runs at once", Count, Integer, Lower, Exact;
    /// Bytes of the store's files on the file system after pending flushes and compactions finished. WALs and their
    /// reserved space are included (for lsmbench at most 1 MiB per WAL, or the size of the previous WAL with
    /// `stall.reserve_wal`). This column is the only measure of space that all engines report. `timed` mode only.
    DISK_BYTES = "disk_bytes", "bytes on disk", Bytes, Integer, Lower, Varies;
    /// Memory of filters and fence pointers together, for engines that report only the sum.
    TABLE_MEMORY_BYTES = "table_memory_bytes", "memory of filters and fence pointers", Bytes, Integer, Lower, Varies;
    /// Number of blocks that gets and scans used in place in memory-mapped SSTables. The columns of read blocks and
    /// cached blocks do not count these blocks.
    BLOCKS_IN_PLACE = "blocks_in_place", "blocks used in place", Count, Integer, Neither, ForSeed;
    /// Mean number of memtables and sorted runs that have keys in the range of a scan.
    SOURCES_PER_RANGE = "sources_per_range", "memtables and sorted runs per scan", Ratio, Number, Lower, ForSeed;
    /// Memory allocations per operation, by the thread that runs the operation. A batch or a scan counts as one
    /// operation. Flushes and compactions on other threads are not included. The column is empty for other engines
    /// and in `counted` mode, because the program can count only allocations of lsmbench's own tree.
    ALLOCATIONS_PER_OP = "allocations_per_op", "allocations per operation", Ratio, Number, Lower, Varies;
    /// Number of lookups that the hash index of a data block (`block.index` or `block.memory_index`) answered without
    /// a search in the block. The index answers a lookup if it shows that the key is absent, or if it finds the entry
    /// or the restart point of the key. Empty for blocks without an index.
    BLOCK_INDEX_ANSWERS = "block_index_answers", "lookups that the block index answered", Count, Integer, Higher, ForSeed;
    /// `block_index_answers` / number of lookups in data blocks with an index.
    BLOCK_INDEX_HIT_RATE = "block_index_hit_rate", "share that the index of a block answered", Share, Number, Higher, ForSeed;
    /// Total duration of all compactions. A compaction lasts from its start until its SSTables are in the tree. A
    /// compaction with several concurrent parts counts once. The duration includes pauses. A compaction that still runs
    /// at the end of a phase counts in the next phase. Only for lsmbench's own tree in `timed` mode.
    COMPACTION_SECONDS = "compaction_seconds", "time of compactions", Seconds, Number, Lower, Varies;
    /// `compaction_seconds` / `compactions`: mean duration of a compaction. Empty without compactions.
    SECONDS_PER_COMPACTION = "seconds_per_compaction", "time of one compaction", Seconds, Number, Lower, Varies;
    /// Number of entries in the smallest shard of a memtable. Component runs only. This column and the next three
    /// columns are empty for memtables without shards.
    SHARD_ENTRIES_MIN = "shard_entries_min", "entries in the emptiest shard", Count, Integer, Neither, ForSeed;
    /// Number of entries in the largest shard of a memtable. Component runs only.
    SHARD_ENTRIES_MAX = "shard_entries_max", "entries in the fullest shard", Count, Integer, Lower, ForSeed;
    /// Standard deviation of the entries per shard / mean entries per shard. Even a perfect hash function gives the
    /// value √((shards − 1) / entries), because of chance. Component runs only.
    SHARD_CV = "shard_cv", "variation of entries per shard", Ratio, Number, Lower, ForSeed;
    /// Pearson's χ² of the entries per shard, compared with equal shards. Because of chance, even a perfect hash
    /// function gives about (shards − 1), the number of degrees of freedom. Component runs only.
    SHARD_CHI_SQUARE = "shard_chi_square", "chi-square of entries per shard", Ratio, Number, Lower, ForSeed;
    /// Number of keys that moved to another shard because a memtable added shards. Empty for memtables with a fixed
    /// number of shards. Component runs only.
    SHARD_MOVED_KEYS = "shard_moved_keys", "keys moved to added shards", Count, Integer, Lower, ForSeed;
    /// Memory that a codec needs to compress one block after another, without the blocks and the compressed output. The
    /// value includes retained contexts and temporary allocations, also in libraries of other languages. A codec that
    /// depends on the level reports the memory for level `component.level`. A codec that depends on the content of
    /// blocks reports the memory of all its codecs together. Component runs only.
    WORKING_BYTES = "working_bytes", "working memory of the codec", Bytes, Integer, Lower, Varies;
    /// CPU cycles of the process in the phase, over all threads, in user space and in the kernel, as counted by `perf
    /// stat`. If the kernel permits only counts of user space, `lsmbench doctor` and `manifest.json` report this
    /// limit. Empty in `counted` mode and without hardware counters, as in most virtual machines. Empty for
    /// components, because their phases include untimed work. The same rules apply to the next seven columns.
    CPU_CYCLES = "cpu_cycles", "CPU cycles", Count, Integer, Lower, Varies;
    /// Number of instructions that the CPU retired, for the threads that `cpu_cycles` covers.
    INSTRUCTIONS = "instructions", "instructions", Count, Integer, Lower, Varies;
    /// CPU cache references (`cache-references` of `perf`). On most CPUs these are accesses to the last-level cache.
    CPU_CACHE_REFERENCES = "cpu_cache_references", "CPU cache references", Count, Integer, Lower, Varies;
    /// CPU cache misses (`cache-misses` of `perf`).
    CPU_CACHE_MISSES = "cpu_cache_misses", "CPU cache misses", Count, Integer, Lower, Varies;
    /// Number of branches that the CPU mispredicted.
    BRANCH_MISSES = "branch_misses", "mispredicted branches", Count, Integer, Lower, Varies;
    /// `instructions` / `cpu_cycles`.
    INSTRUCTIONS_PER_CYCLE = "instructions_per_cycle", "instructions per cycle", Ratio, Number, Higher, Varies;
    /// `cpu_cache_misses` / `cpu_cache_references`. A CPU with few counters counts the two events alternately, so the
    /// rate is then an estimate.
    CPU_CACHE_MISS_RATE = "cpu_cache_miss_rate", "CPU cache miss rate", Ratio, Number, Lower, Varies;
    /// `instructions` / `ops`. Instructions of concurrent flushes and compactions are included.
    INSTRUCTIONS_PER_OP = "instructions_per_op", "instructions per operation", Ratio, Number, Lower, Varies;
    /// State of the store at the start of the phase. `empty`: nothing was written. `written`: memtables may contain
    /// entries. Steps after the last write are listed in order, for example `compacted, reopened`. The text
    /// `, unsettled` follows if flushes or compactions may still have been running.
    STATE_AT_START = "state_at_start", "state of the store at the start", Plain, Text, Neither, Exact;
    /// The role whose threads executed the operations, if the phase has roles. The rows of a role have operations such
    /// as `readers/get` and `readers/all`. The rows without a role cover all roles together.
    ROLE = "role", "role", Plain, Text, Neither, Exact;
    /// `memtable_bytes` at the start of the phase's first operation.
    MEMTABLE_BYTES_AT_START = "memtable_bytes_at_start", "memory of memtables at the start", Bytes, Integer, Neither, Varies;
    /// `runs` at the start of the phase's first operation.
    RUNS_AT_START = "runs_at_start", "sorted runs at the start", Count, Integer, Neither, Exact;
    /// Time to close the store in a step `reopen`. The column `seconds` contains the time to open the store again.
    /// The column is empty for all other steps.
    CLOSE_SECONDS = "close_seconds", "time to close", Seconds, Number, Lower, Varies;
    /// Number of voluntary context switches. In a voluntary context switch, a thread of the process waits, for
    /// example for a lock or a device.
    CONTEXT_SWITCHES = "context_switches", "context switches", Count, Integer, Lower, Varies;
    /// Number of involuntary context switches. In an involuntary context switch, a thread could continue to run, but
    /// the kernel gives its CPU to another thread.
    PREEMPTIONS = "preemptions", "preemptions", Count, Integer, Lower, Varies;
    /// Number of page faults without I/O.
    PAGE_FAULTS = "page_faults", "page faults", Count, Integer, Lower, Varies;
    /// Number of page faults that read from storage.
    MAJOR_PAGE_FAULTS = "major_page_faults", "major page faults", Count, Integer, Lower, Varies;
    /// Time in which threads of the process were ready to run but had no CPU, summed over the threads that still
    /// exist at the end. Wall time includes this time, but CPU time does not. The cause is a busy machine, or a
    /// process with more busy threads than cores.
    RUN_QUEUE_SECONDS = "run_queue_seconds", "run-queue wait", Seconds, Number, Lower, Varies;
    /// Time per operation without the waits in which a thread was ready to run but had no CPU: (`seconds` × `threads` −
    /// these waits) / `ops`. Other programs on the machine, and background threads of the store, therefore change
    /// `busy_ns` less than `mean_ns`. The time to generate the operations is included.
    BUSY_NS = "busy_ns", "time per operation without CPU waits", Nanoseconds, Number, Lower, Varies;
    /// Time in which the hypervisor ran other work on the CPUs of this virtual machine, in steps of 10 ms. For trials
    /// that run side by side, the value covers the slices of all these trials. Wall time and CPU time include this
    /// time.
    STEAL_SECONDS = "steal_seconds", "stolen CPU time", Seconds, Number, Lower, Varies;
    /// 99.99th percentile of service time.
    P9999_NS = "p9999_ns", "p99.99 service time", Nanoseconds, Integer, Lower, Varies;
    /// Number of times that a writer stopped at a stall limit of the store.
    STALLS = "stalls", "write stalls", Count, Integer, Lower, Varies;
    /// Part of `stall_seconds` in which the store slowed writes before they reached a stall limit
    /// (`stall.pacing = "delay"`).
    DELAY_SECONDS = "delay_seconds", "time writers were delayed", Seconds, Number, Lower, Varies;
    /// Time in which writers replaced full memtables and their WALs, summed over all threads. `stall_seconds` is not
    /// included.
    ROTATION_SECONDS = "rotation_seconds", "time to replace memtables", Seconds, Number, Lower, Varies;
    /// SSTable bytes that flushes and compactions wrote after the last operation of the phase, until no flush and no
    /// compaction was due. If two stores have equal throughput, the store with less debt is better. The value is 0 if
    /// no work is pending at the end of the phase.
    DEBT_BYTES = "debt_bytes", "compaction debt", Bytes, Integer, Lower, Exact;
    /// Bytes that the store has written to storage and read from storage since it was opened, until the pending flushes
    /// and compactions of the phase have finished. The sum includes `wal_bytes`, `flush_bytes`,
    /// `compaction_bytes_written`, `compaction_bytes_read` and the bytes of `blocks_read` and `blob_values_read`. A
    /// step that reopens the store starts the sum again. Values that are read in place from memory-mapped files do not
    /// count.
    TOTAL_IO_BYTES = "total_io_bytes", "bytes read and written in all phases", Bytes, Integer, Lower, ForSeed;
    /// Number of gets that searched several sorted runs with several threads. Empty if the design has
    /// `threads.per_lookup` = 1. The column is also empty in `counted` mode.
    PARALLEL_GETS = "parallel_gets", "gets with several threads", Count, Integer, Neither, Varies;
    /// Number of compactions of level 0 that ran while a compaction of deeper levels paused. Empty unless the design
    /// has `threads.schedule` = "silk". The column is also empty in `counted` mode.
    PREEMPTING_COMPACTIONS = "preempting_compactions", "compactions that preempted others", Count, Integer, Neither, Varies;
    /// Time for which compactions waited because clients used the bandwidth. Empty unless the design has
    /// `threads.bandwidth` above 0. The column is also empty in `counted` mode.
    BANDWIDTH_WAIT_SECONDS = "bandwidth_wait_seconds", "wait of compactions for bandwidth", Seconds, Number, Neither, Varies;
    /// Number of single deletes that flushes and compactions have removed together with their puts since the store was
    /// opened. Empty if there are none.
    SINGLE_DELETE_PAIRS = "single_delete_pairs", "removed single deletes", Count, Integer, Neither, Exact;
    /// Size at which a new memtable becomes immutable, at the end of the phase. The columns from here to `memory_moves`
    /// are empty unless the design has a memory budget (`memory`) or an arbiter that moves memory.
    MEMTABLE_CAPACITY_BYTES = "memtable_capacity_bytes", "capacity of a memtable", Bytes, Integer, Neither, Exact;
    /// Capacity of the block cache at the end of the phase.
    CACHE_CAPACITY_BYTES = "cache_capacity_bytes", "capacity of the cache", Bytes, Integer, Neither, Exact;
    /// Bits per key of filters for new SSTables, at the end of the phase.
    NEW_FILTER_BITS_PER_KEY = "new_filter_bits_per_key", "bits per key of new filters", Ratio, Number, Neither, Exact;
    /// Number of decisions of the memory arbiter that moved memory between memtables, filters and cache.
    MEMORY_MOVES = "memory_moves", "moves of memory", Count, Integer, Neither, Exact;
    /// Instructions of user code per operation, as counted by callgrind of valgrind in one additional trial in
    /// `counted` mode. The count covers the first `trials.instructions` operations of the phase of the verdict, with
    /// the flushes and compactions inside these operations. The count excludes the kernel, the warm-up and the
    /// generation of operations. All trials of a configuration have the same value. Empty without
    /// `trials.instructions` (`lsmbench run --instructions`).
    USER_INSTRUCTIONS_PER_OP = "user_instructions_per_op", "user-mode instructions per operation", Ratio, Number, Lower, Varies;
    /// Mean number of key comparisons per entry that a scan returned: in the merge of its memtables and sorted runs,
    /// and in its search in a sorted view. The search for the first entry in a sorted run is not included.
    COMPARISONS_PER_ENTRY = "comparisons_per_entry", "key comparisons per scanned entry", Ratio, Number, Lower, ForSeed;
    /// Bytes of data blocks that the tree read to update its sorted view and its index of all keys. Empty if the design
    /// has neither `sorted_view` nor a culling method with an index of all keys.
    INDEX_BYTES_READ = "index_bytes_read", "bytes read for indexes of all runs", Bytes, Integer, Lower, ForSeed;
    /// Largest number of bytes that the files of the store took on the file system at one time, measured once per
    /// second until pending flushes and compactions have finished. The inputs and the outputs of a running compaction
    /// are both included. `timed` mode only. In `timeline.csv`, the latest measurement is in `disk_bytes`.
    DISK_PEAK_BYTES = "disk_peak_bytes", "most bytes on disk at once", Bytes, Integer, Lower, Varies;
    /// Number of WALs that lsmbench could not create in advance since the store was opened. A writer then creates its
    /// WAL itself, so its put takes longer. Empty if there are no such errors.
    WAL_CREATION_ERRORS = "wal_creation_errors", "errors of WALs created in advance", Count, Integer, Lower, Varies;
    /// `ops` / (`seconds` + `settle_seconds`): the throughput if the time of pending flushes and compactions belongs to
    /// the phase. A store that postpones compactions can have a high `ops_per_second`, but not a high settled
    /// throughput. Empty in a phase with `settle = false`.
    SETTLED_OPS_PER_SECOND = "settled_ops_per_second", "settled throughput", OperationsPerSecond, Number, Higher, Varies;
    /// 99.99th percentile of response time. Empty in a closed loop.
    RESPONSE_P9999_NS = "response_p9999_ns", "p99.99 response time", Nanoseconds, Integer, Lower, Varies;
    /// Longest response time. Empty in a closed loop.
    RESPONSE_MAX_NS = "response_max_ns", "longest response time", Nanoseconds, Integer, Lower, Varies;
}

/// The columns of hardware counters, in order. The columns are empty on machines without hardware counters.
pub static HARDWARE: &[Metric] = &[
    CPU_CYCLES,
    INSTRUCTIONS,
    CPU_CACHE_REFERENCES,
    CPU_CACHE_MISSES,
    BRANCH_MISSES,
    INSTRUCTIONS_PER_CYCLE,
    CPU_CACHE_MISS_RATE,
    INSTRUCTIONS_PER_OP,
];

/// Start of the interval that a row of `timeline.csv` describes, in seconds since the start of the phase.
pub const SECOND: Metric = Metric {
    name: "second",
    title: "time since the phase began",
    unit: Unit::Seconds,
    kind: ValueType::Number,
    better: Better::Neither,
    repeats: Repeats::Varies,
    definition: "Start of the interval of the row, in seconds since the start of the phase.",
};

/// Measured columns of `timeline.csv`, in order. A column has the definition of the column in `runs.csv` with this
/// name, but for one interval instead of one phase. Levels, runs and memory are sampled at the end of the interval.
pub static TIMELINE_METRICS: &[Metric] = &[
    SECOND,
    OPS,
    SECONDS,
    OPS_PER_SECOND,
    MEAN_NS,
    P50_NS,
    P90_NS,
    P99_NS,
    P999_NS,
    MAX_NS,
    RESPONSE_P50_NS,
    RESPONSE_P99_NS,
    RESPONSE_P999_NS,
    USER_BYTES_WRITTEN,
    WAL_BYTES,
    FLUSH_BYTES,
    COMPACTION_BYTES_READ,
    COMPACTION_BYTES_WRITTEN,
    BLOCKS_READ,
    BLOCKS_FROM_CACHE,
    FLUSHES,
    COMPACTIONS,
    LEVELS,
    RUNS,
    TABLE_BYTES,
    MEMTABLE_BYTES,
    CACHE_BYTES,
    STALL_SECONDS,
    RSS_PEAK_BYTES,
    MEMTABLE_CAPACITY_BYTES,
    CACHE_CAPACITY_BYTES,
    NEW_FILTER_BITS_PER_KEY,
    MEMORY_MOVES,
    P9999_NS,
    STALLS,
    DISK_BYTES,
    RESPONSE_P9999_NS,
    RESPONSE_MAX_NS,
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::levels::LEVEL_OWN;

    /// Names of the columns that must exist, in this order.
    const CONTRACT: &str = "experiment, cell, label, trial, phase, operation, mode, seed, \
        ops, seconds, ops_per_second, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns, found, missing, \
        user_bytes_written, wal_bytes, flush_bytes, compaction_bytes_read, compaction_bytes_written, write_amp, \
        blocks_read, blocks_from_cache, blocks_per_get, cache_hit_rate, filter_probes, filter_negatives, \
        filter_false_positives, fpr, fence_searches, flushes, compactions, levels, runs, table_bytes, live_bytes, \
        space_amp, memtable_bytes, filter_bytes, fence_bytes, cache_bytes, stall_seconds, cpu_seconds, \
        rss_peak_bytes, os_write_bytes";

    #[test]
    fn the_contract_s_columns_come_first_and_in_order() {
        let all: Vec<&str> =
            IDENTITY.iter().chain(METRICS).map(|m| m.name).filter(|n| *n != "loop").collect();
        let contract: Vec<&str> = CONTRACT.split(", ").collect();
        assert_eq!(all[..contract.len()], contract);
    }

    #[test]
    fn every_column_is_described_and_unique() {
        let mut seen = HashSet::new();
        for metric in IDENTITY.iter().chain(METRICS).chain([&SECOND]).chain(LEVEL_OWN) {
            assert!(seen.insert(metric.name), "{} stands twice", metric.name);
            assert!(metric.definition().ends_with('.'), "{}: {}", metric.name, metric.definition());
            assert!(!metric.definition().contains("  "), "{}", metric.name);
            assert!(!metric.title.is_empty());
        }
        for metric in TIMELINE_METRICS {
            assert_eq!(columns_of(metric.name), 1, "{}", metric.name);
        }
    }

    fn columns_of(name: &str) -> usize {
        TIMELINE_METRICS.iter().filter(|m| m.name == name).count()
    }
}
