//! The list of all columns with name, title, unit, type, better direction and definition. The docstring of each
//! constant is the definition of its column.
//!
//! Counters cover the phase of their row. Counters of the whole store are only in the rows of operation `all`. A value
//! that was not measured is empty, never 0.

use crate::metric::{Better, Metric, Unit, ValueType, columns};

/// Name of the operation in rows about all operations of a phase together.
pub const ALL: &str = "all";

/// Path at which engines are swept, and so the name of its column.
pub const ENGINE: &str = "engine";

/// Prefix of the paths that an experiment on a component sweeps, and of its name.
pub const COMPONENT: &str = "component";

columns! {
    /// The columns that identify the measurement of a row. The swept paths follow them.
    IDENTITY
    /// Name of the experiment.
    EXPERIMENT = "experiment", "experiment", Plain, Text, Neither, true;
    /// Number of the configuration, from 0 in the order of the sweep. Results call a configuration a cell: one
    /// combination of swept values.
    CELL = "cell", "cell", Plain, Integer, Neither, true;
    /// Short name of the configuration, made of the values in which it differs from the other configurations.
    LABEL = "label", "design", Plain, Text, Neither, true;
    /// Number of the trial, from 0. Trials with equal numbers ran next to each other in time and on the same
    /// operations. Verdicts therefore pair them across configurations.
    TRIAL = "trial", "trial", Plain, Integer, Neither, true;
    /// Name of the phase.
    PHASE = "phase", "phase", Plain, Text, Neither, true;
    /// The kind of operation, or `all`. A step on the store has its name, such as `compact`. Rows of a role begin with
    /// the name of the role, such as `readers/get`.
    OPERATION = "operation", "operation", Plain, Text, Neither, true;
    /// `timed` runs real threads in real time. `counted` runs one thread, so every counter is equal on every machine.
    MODE = "mode", "mode", Plain, Text, Neither, true;
    /// The seed of the operation stream.
    SEED = "seed", "seed", Plain, Integer, Neither, true;
    /// `closed`: a thread issues its next operation when its last operation ends. `open`: operations are due at a fixed
    /// rate, whether or not the store keeps up.
    LOOP = "loop", "loop", Plain, Text, Neither, true;
}

columns! {
    /// The measured columns of `runs.csv`, in order.
    METRICS
    /// Number of operations.
    OPS = "ops", "operations", Count, Integer, Neither, true;
    /// Wall time of the phase, from the start of its first operation to the end of its last operation. The wait for
    /// pending flushes and compactions is not included. Rows of single kinds of operation repeat the value of `all`.
    /// The row of a step has the duration of the step.
    SECONDS = "seconds", "wall time of the phase", Seconds, Number, Lower, false;
    /// `ops` / `seconds`.
    OPS_PER_SECOND = "ops_per_second", "throughput", OperationsPerSecond, Number, Higher, false;
    /// Mean service time, from the call of an operation to its return. In a closed loop this is the only latency. The
    /// tail of this latency is too optimistic, because operations after a stalled operation start late and this delay
    /// is not counted (coordinated omission). In an open loop, see `response_mean_ns`. In component runs: the time of
    /// all slices / `ops`, including the time of the loop (`loop_ns`).
    MEAN_NS = "mean_ns", "mean service time", Nanoseconds, Number, Lower, false;
    /// Median service time, from a histogram of 3 significant digits merged over threads.
    P50_NS = "p50_ns", "median service time", Nanoseconds, Integer, Lower, false;
    /// 90th percentile of service time.
    P90_NS = "p90_ns", "p90 service time", Nanoseconds, Integer, Lower, false;
    /// 99th percentile of service time.
    P99_NS = "p99_ns", "p99 service time", Nanoseconds, Integer, Lower, false;
    /// 99.9th percentile of service time.
    P999_NS = "p999_ns", "p99.9 service time", Nanoseconds, Integer, Lower, false;
    /// Longest service time.
    MAX_NS = "max_ns", "longest service time", Nanoseconds, Integer, Lower, false;
    /// Gets that found a value.
    FOUND = "found", "gets that found a value", Count, Integer, Neither, true;
    /// Gets that found no value.
    MISSING = "missing", "gets that found none", Count, Integer, Neither, true;
    /// Key and value bytes of puts, key bytes of deletes.
    USER_BYTES_WRITTEN = "user_bytes_written", "bytes written by the user", Bytes, Integer, Neither, true;
    /// Bytes written to the write-ahead log (WAL).
    WAL_BYTES = "wal_bytes", "bytes written to the WAL", Bytes, Integer, Lower, true;
    /// SSTable bytes written by flushes.
    FLUSH_BYTES = "flush_bytes", "bytes flushed", Bytes, Integer, Lower, true;
    /// SSTable bytes read by compactions.
    COMPACTION_BYTES_READ = "compaction_bytes_read", "bytes read by compaction", Bytes, Integer, Lower, true;
    /// SSTable bytes written by compactions.
    COMPACTION_BYTES_WRITTEN = "compaction_bytes_written", "bytes written by compaction", Bytes, Integer, Lower, true;
    /// (`flush_bytes` + `compaction_bytes_written`) / `user_bytes_written` at the end of the phase's last operation
    /// (burst value). Pending compactions are not included.
    WRITE_AMP = "write_amp", "write amplification", Ratio, Number, Lower, true;
    /// Blocks read from storage, both data blocks and index pages.
    BLOCKS_READ = "blocks_read", "blocks fetched from storage", Count, Integer, Lower, true;
    /// Blocks found in the block cache.
    BLOCKS_FROM_CACHE = "blocks_from_cache", "blocks found in the cache", Count, Integer, Neither, true;
    /// Data blocks searched per get, cached or not. Engines other than lsmbench report this column only for phases of
    /// gets.
    BLOCKS_PER_GET = "blocks_per_get", "data blocks read per get", Ratio, Number, Lower, true;
    /// `blocks_from_cache` / (`blocks_from_cache` + `blocks_read`).
    CACHE_HIT_RATE = "cache_hit_rate", "cache hit rate", Share, Number, Higher, true;
    /// Number of filter lookups for a key.
    FILTER_PROBES = "filter_probes", "filter probes", Count, Integer, Neither, true;
    /// Probes that answered "not here".
    FILTER_NEGATIVES = "filter_negatives", "filter negatives", Count, Integer, Neither, true;
    /// Probes that answered "maybe" although the run did not have the key.
    FILTER_FALSE_POSITIVES = "filter_false_positives", "false positives", Count, Integer, Lower, true;
    /// False positives / (false positives + negatives).
    FPR = "fpr", "false-positive rate", Share, Number, Lower, true;
    /// Number of fence pointer searches for the block of a key.
    FENCE_SEARCHES = "fence_searches", "fence searches", Count, Integer, Lower, true;
    /// Memtables flushed.
    FLUSHES = "flushes", "flushes", Count, Integer, Neither, true;
    /// Number of completed compactions.
    COMPACTIONS = "compactions", "compactions", Count, Integer, Neither, true;
    /// Number of levels with SSTables at the end of the phase's last operation.
    LEVELS = "levels", "levels", Count, Integer, Neither, true;
    /// Sorted runs on storage at the end of the phase's last operation.
    RUNS = "runs", "sorted runs", Count, Integer, Neither, true;
    /// Bytes of all live SSTables at the end of the phase's last operation.
    TABLE_BYTES = "table_bytes", "bytes of all tables", Bytes, Integer, Lower, true;
    /// Key and value bytes of the newest live version of every key, exact, derived from the operations.
    LIVE_BYTES = "live_bytes", "bytes of live data", Bytes, Integer, Neither, true;
    /// `table_bytes` / `live_bytes` at the end of the phase's last operation (burst value).
    SPACE_AMP = "space_amp", "space amplification", Ratio, Number, Lower, true;
    /// Memory of memtables in bytes.
    MEMTABLE_BYTES = "memtable_bytes", "memory of memtables", Bytes, Integer, Lower, false;
    /// Memory of filters in bytes.
    FILTER_BYTES = "filter_bytes", "memory of filters", Bytes, Integer, Lower, true;
    /// Memory of fence pointers, block directories and restart hints in bytes.
    FENCE_BYTES = "fence_bytes", "memory of fences", Bytes, Integer, Lower, true;
    /// Memory of the block cache in bytes.
    CACHE_BYTES = "cache_bytes", "memory of the block cache", Bytes, Integer, Lower, false;
    /// Time during which stall rules of the store stopped or delayed writers, summed over all threads.
    STALL_SECONDS = "stall_seconds", "time writers stalled", Seconds, Number, Lower, false;
    /// CPU time of the process in the phase, user and system, summed over all threads.
    CPU_SECONDS = "cpu_seconds", "processor time", Seconds, Number, Lower, false;
    /// Largest resident memory of the process up to the end of the phase.
    RSS_PEAK_BYTES = "rss_peak_bytes", "peak resident memory", Bytes, Integer, Lower, false;
    /// Bytes that the operating system wrote to storage for the process.
    OS_WRITE_BYTES = "os_write_bytes", "bytes written by the operating system", Bytes, Integer, Lower, false;
    /// Range tombstones in live SSTables at the end of the phase's last operation. Empty if there are none.
    RANGE_TOMBSTONES = "range_tombstones", "range tombstones", Count, Integer, Neither, true;
    /// (`wal_bytes` + `flush_bytes` + `compaction_bytes_written`) / `user_bytes_written`.
    WRITE_AMP_WAL = "write_amp_wal", "write amplification with the log", Ratio, Number, Lower, true;
    /// `write_amp`, including the bytes written until pending flushes and compactions finished (settled value).
    WRITE_AMP_SETTLED = "write_amp_settled", "settled write amplification", Ratio, Number, Lower, true;
    /// `table_bytes_settled` / `live_bytes`.
    SPACE_AMP_SETTLED = "space_amp_settled", "settled space amplification", Ratio, Number, Lower, true;
    /// `table_bytes` after pending flushes and compactions finished.
    TABLE_BYTES_SETTLED = "table_bytes_settled", "settled bytes of all tables", Bytes, Integer, Lower, true;
    /// `runs` after pending flushes and compactions finished.
    RUNS_SETTLED = "runs_settled", "settled sorted runs", Count, Integer, Neither, true;
    /// `levels` after pending flushes and compactions finished.
    LEVELS_SETTLED = "levels_settled", "settled levels", Count, Integer, Neither, true;
    /// `flush_bytes`, including bytes written until pending flushes and compactions finished.
    FLUSH_BYTES_SETTLED = "flush_bytes_settled", "settled bytes flushed", Bytes, Integer, Lower, true;
    /// `compaction_bytes_read`, including bytes read until pending flushes and compactions finished.
    COMPACTION_BYTES_READ_SETTLED = "compaction_bytes_read_settled", "settled bytes read by compaction", Bytes, Integer, Lower, true;
    /// `compaction_bytes_written`, including bytes written until pending flushes and compactions finished.
    COMPACTION_BYTES_WRITTEN_SETTLED = "compaction_bytes_written_settled", "settled bytes written by compaction", Bytes, Integer, Lower, true;
    /// `write_amp_wal`, including the bytes written until pending flushes and compactions finished.
    WRITE_AMP_WAL_SETTLED = "write_amp_wal_settled", "settled write amplification with the log", Ratio, Number, Lower, true;
    /// `os_write_bytes` / `user_bytes_written`: bytes written by the operating system per user byte. A whole page
    /// counts when it is first changed.
    OS_WRITE_AMP = "os_write_amp", "write amplification of the system", Ratio, Number, Lower, false;
    /// `os_write_bytes`, including those until pending flushes and compactions finished.
    OS_WRITE_BYTES_SETTLED = "os_write_bytes_settled", "settled bytes written by the system", Bytes, Integer, Lower, false;
    /// `os_write_bytes_settled` / `user_bytes_written`.
    OS_WRITE_AMP_SETTLED = "os_write_amp_settled", "settled write amplification of the system", Ratio, Number, Lower, false;
    /// Bytes that the operating system read from storage for the process, without reads from its page cache. Empty for
    /// storage in memory, like all columns of the system's reads and writes.
    OS_READ_BYTES = "os_read_bytes", "bytes read by the system", Bytes, Integer, Lower, false;
    /// Time from the end of the last operation until pending flushes and compactions finished.
    SETTLE_SECONDS = "settle_seconds", "time to settle", Seconds, Number, Lower, false;
    /// Index pages in `blocks_read`.
    BLOCKS_READ_INDEX = "blocks_read_index", "index pages fetched from storage", Count, Integer, Lower, true;
    /// Read amplification: blocks accessed per get or scan, both data blocks and index pages, from storage or the block
    /// cache. Only for phases that do nothing but read. Compare `blocks_per_get`, which counts only data blocks.
    READ_AMP = "read_amp", "read amplification", Ratio, Number, Lower, true;
    /// Time of a modelled device (`storage = "simulated"`) for the requests of the phase, as if each request ran in
    /// isolation. The sum of the next two columns. In `timed` mode the callers waited for this time. Empty for real
    /// devices.
    DEVICE_SECONDS = "device_seconds", "time of the device", Seconds, Number, Lower, true;
    /// Reads in `device_seconds`.
    DEVICE_READ_SECONDS = "device_read_seconds", "time the device read", Seconds, Number, Lower, true;
    /// Writes and syncs in `device_seconds`.
    DEVICE_WRITE_SECONDS = "device_write_seconds", "time the device wrote", Seconds, Number, Lower, true;
    /// `device_seconds` / `ops`, in nanoseconds: the part of the latency that the device causes if every operation
    /// waits for its requests.
    DEVICE_NS_PER_OP = "device_ns_per_op", "time of the device per operation", Nanoseconds, Number, Lower, true;
    /// Theoretical false-positive rate of the filters as they were built. The mean over filters is weighted by probes,
    /// or by keys if the engine does not report probes per filter.
    EXPECTED_FPR = "expected_fpr", "expected false-positive rate", Share, Number, Lower, true;
    /// `fpr` / `expected_fpr` − 1. Empty if theory predicts fewer than 100 false positives of distinct keys, because
    /// chance would then dominate the value.
    FPR_RESIDUAL = "fpr_residual", "false-positive rate above theory", Ratio, Number, Neither, false;
    /// Theoretical write amplification of the compaction policy: factor × `flush_bytes` / `user_bytes_written`. The
    /// factor comes from the closed form of the policy or from the simulator. The theoretical value holds for the same
    /// number of flushes of distinct keys, after all compactions have finished. Only for phases that add new keys to an
    /// empty tree, and for compactions that drop no bytes.
    EXPECTED_WRITE_AMP = "expected_write_amp", "expected write amplification", Ratio, Number, Lower, false;
    /// `write_amp_settled` (of components `write_amp`) / `expected_write_amp` − 1.
    WRITE_AMP_RESIDUAL = "write_amp_residual", "write amplification above theory", Ratio, Number, Neither, false;
    /// Theoretical number of sorted runs after the same number of flushes, when all compactions have finished. It comes
    /// from the closed form of the policy or from the simulator. Only for phases with `expected_write_amp`.
    EXPECTED_RUNS = "expected_runs", "expected sorted runs", Count, Integer, Neither, false;
    /// Theoretical number of levels that contain `expected_runs`. Only for phases with `expected_write_amp`.
    EXPECTED_LEVELS = "expected_levels", "expected levels", Count, Integer, Neither, false;
    /// Expected data blocks per get, computed from the current runs and `expected_fpr`. A get of an absent key reads
    /// one block per false positive, over all runs. A get of a present key reads the block of the key and one block per
    /// false positive in newer runs. Only for phases of gets, with overlapping runs and with fence pointers in memory.
    EXPECTED_BLOCKS_PER_GET = "expected_blocks_per_get", "expected data blocks per get", Ratio, Number, Lower, false;
    /// `blocks_per_get` / `expected_blocks_per_get` − 1.
    BLOCKS_PER_GET_RESIDUAL = "blocks_per_get_residual", "data blocks per get above theory", Ratio, Number, Neither, false;
    /// Lower bound of `space_amp_settled`: exactly one copy of every live key that is in no memtable, with the measured
    /// SSTable bytes per byte of keys and values. Only for trees without tombstones.
    LEAST_SPACE_AMP = "least_space_amp", "least space amplification", Ratio, Number, Lower, false;
    /// Textbook upper bound of `space_amp_settled` for overwritten keys and full levels, with the measured SSTable
    /// bytes per byte of keys and values. The bound is T/(T − 1) for leveled and lazy leveled, T for tiered, and Z·T/(T
    /// − 1) for Z runs in the largest level. Level 0 is added if it collects several runs (Dayan & Idreos,
    /// "Dostoevsky", 2018). A tree whose largest level is new may exceed the bound. Only for these policies, and for
    /// trees without tombstones.
    MOST_SPACE_AMP = "most_space_amp", "most space amplification", Ratio, Number, Lower, false;
    /// `space_amp_settled` / `most_space_amp` − 1. A negative value is below the upper bound.
    SPACE_AMP_RESIDUAL = "space_amp_residual", "space amplification above theory", Ratio, Number, Neither, false;
    /// Theoretical hit rate of the cache for the key distribution of the phase: Che's approximation for LRU, Martina's
    /// for FIFO. The theory uses the measured number of entries per block and includes the filling of an empty cache.
    /// Sequential keys hit all but once per block. Only for phases of gets for present keys.
    EXPECTED_HIT_RATE = "expected_hit_rate", "expected hit rate", Share, Number, Higher, false;
    /// `cache_hit_rate` / `expected_hit_rate` − 1.
    HIT_RATE_RESIDUAL = "hit_rate_residual", "hit rate above theory", Ratio, Number, Neither, false;
    /// Hit rate of a cache that always contains the most popular blocks of the key distribution. In the long run, no
    /// cache without knowledge of the future exceeds this rate. Only for phases of gets for present keys.
    BEST_STATIC_HIT_RATE = "best_static_hit_rate", "hit rate of the best static set", Share, Number, Neither, false;
    /// Number of filter lookups for a range between two keys.
    RANGE_FILTER_PROBES = "range_filter_probes", "range filter probes", Count, Integer, Neither, true;
    /// Range probes that answered "empty".
    RANGE_FILTER_NEGATIVES = "range_filter_negatives", "range filter negatives", Count, Integer, Neither, true;
    /// False positives / (false positives + negatives) of range probes. A false positive answered "maybe" although the
    /// run had no key in the range.
    RANGE_FPR = "range_fpr", "false-positive rate of ranges", Share, Number, Lower, true;
    /// Mean response time, from the scheduled start of an operation to its return, including the wait in between. Empty
    /// in a closed loop.
    RESPONSE_MEAN_NS = "response_mean_ns", "mean response time", Nanoseconds, Number, Lower, false;
    /// Open loop only: median response time.
    RESPONSE_P50_NS = "response_p50_ns", "median response time", Nanoseconds, Integer, Lower, false;
    /// Open loop only: 99th percentile of response time.
    RESPONSE_P99_NS = "response_p99_ns", "p99 response time", Nanoseconds, Integer, Lower, false;
    /// Open loop only: 99.9th percentile of response time.
    RESPONSE_P999_NS = "response_p999_ns", "p99.9 response time", Nanoseconds, Integer, Lower, false;
    /// Answers compared with the model, outside of the timed path.
    CHECKED_ANSWERS = "checked_answers", "answers checked", Count, Integer, Neither, true;
    /// Checked answers that were wrong. A row with any has no other measurements.
    WRONG_ANSWERS = "wrong_answers", "wrong answers", Count, Integer, Lower, true;
    /// Checked gets that found no value although the key was written, for designs that drop old data. Such gets are not
    /// wrong answers. For these designs, scans and multi-gets with missing entries are not checked. Empty for all other
    /// designs.
    DROPPED_ANSWERS = "dropped_answers", "gets of dropped data", Count, Integer, Neither, true;
    /// Theoretical or physical bounds that values of the row exceed. Verdicts ignore such a row. Empty if all values
    /// are within their bounds.
    IMPLAUSIBLE = "implausible", "beyond a bound", Plain, Text, Neither, false;
    /// Threads that issued operations. Empty of a step on the store, which has none.
    THREADS = "threads", "threads", Count, Integer, Neither, true;
    /// Open loop only: scheduled operations per second, over all threads.
    TARGET_OPS_PER_SECOND = "target_ops_per_second", "target rate", OperationsPerSecond, Number, Neither, true;
    /// Highest rate over all threads that meets the objective of a rate search. The row shows the probe at this rate.
    /// Empty if even the lowest rate misses the objective; the row then shows the lowest rate. Empty also if the
    /// highest rate meets the objective, because the limit is then unknown. Only for phases with a rate search.
    SUSTAINED_OPS_PER_SECOND = "sustained_ops_per_second", "sustained rate", OperationsPerSecond, Number, Higher, false;
    /// Objective that the lowest failing rate misses: `p99`, `stalls` or `level0_runs`. The value `to` means that the
    /// highest rate meets the objective: raise `to`.
    RATE_LIMIT = "rate_limit", "objective that limits the rate", Plain, Text, Neither, false;
    /// Number of times the rate search ran the phase.
    RATE_PROBES = "rate_probes", "probes", Count, Integer, Neither, false;
    /// Fraction of the phase's operations that have the kind of this row; 1 for `all`.
    REALISED_SHARE = "realised_share", "share of operations", Share, Number, Neither, true;
    /// Share of key accesses that went to the most accessed key.
    REALISED_HOT_KEY = "realised_hot_key", "share of the hottest key", Share, Number, Neither, true;
    /// Share of key accesses that went to the most accessed hundredth of the keys.
    REALISED_HOT_1_PERCENT = "realised_hot_1_percent", "share of the hottest 1 % of keys", Share, Number, Neither, true;
    /// Share of key accesses that went to the most accessed tenth of the keys.
    REALISED_HOT_10_PERCENT = "realised_hot_10_percent", "share of the hottest 10 % of keys", Share, Number, Neither, true;
    /// Fraction of the gets whose keys are not in the store.
    REALISED_ABSENT = "realised_absent", "share of gets for absent keys", Share, Number, Neither, true;
    /// Mean bytes of the keys in the phase's operations.
    REALISED_KEY_BYTES = "realised_key_bytes", "mean key size", Bytes, Number, Neither, true;
    /// Mean bytes of the values in the phase's writes.
    REALISED_VALUE_BYTES = "realised_value_bytes", "mean value size", Bytes, Number, Neither, true;
    /// Requested state of caches at the start of the phase. `as-is`: unchanged from the phase before. `warm`: all live
    /// data was read once, in key order. `cold`: the store was flushed, closed and opened again, and its files were
    /// evicted from the page cache. `, direct` is appended if SSTables bypass the page cache.
    CACHE_STATE = "cache_state", "state of caches", Plain, Text, Neither, true;
    /// Fraction of the pages of the store's files that were in the page cache when the phase began, before any warm-up.
    PAGE_CACHE_SHARE = "page_cache_share", "share in the page cache", Share, Number, Neither, false;
    /// Memory limit of the trial process, page cache included (`trials.memory_limit`); empty without a limit.
    MEMORY_LIMIT_BYTES = "memory_limit_bytes", "limit on memory", Bytes, Integer, Neither, true;
    /// Free memory that was written and released right before the phase (`trials.warm_memory`); empty without
    /// `trials.warm_memory`.
    WARM_MEMORY_BYTES = "warm_memory_bytes", "free memory touched before", Bytes, Integer, Neither, true;
    /// Operations of the phase's warm-up. Only `checked_answers` and the `realised_…` columns also count them. Empty
    /// without a warm-up.
    WARM_UP_OPS = "warm_up_ops", "operations of the warm-up", Count, Integer, Neither, true;
    /// Duration of the warm-up.
    WARM_UP_SECONDS = "warm_up_seconds", "time to warm up", Seconds, Number, Neither, false;
    /// Whether the store reached a steady state in a warm-up with that goal.
    WARM_UP_STEADY = "warm_up_steady", "steady after the warm-up", Plain, Text, Neither, false;
    /// Whether the phase was steady by SNIA's rule. The phase is split into five equal rounds. Throughput, write
    /// amplification and the sorted runs of each level must stay within 20 % of their mean. The trend of these values
    /// must stay within 10 % of their mean. Numbers of runs may differ by one. Empty for phases shorter than five
    /// seconds.
    STEADY = "steady", "steady", Plain, Text, Neither, false;
    /// Quantities that were not steady.
    UNSTEADY = "unsteady", "not steady", Plain, Text, Neither, false;
    /// Component runs only: median time per operation over slices. A slice has some dozens to thousands of operations
    /// and one pair of clock readings. Occasional CPU use by other processes changes `mean_ns`, but not this column.
    P50_SLICE_NS = "p50_slice_ns", "time per operation", Nanoseconds, Number, Lower, false;
    /// Time per operation of the loop around the component, measured with the same loop without the component.
    /// `mean_ns` and `p50_slice_ns` include this time. Component runs only.
    LOOP_NS = "loop_ns", "time of the empty loop", Nanoseconds, Number, Neither, false;
    /// Build time of the component per entry, as the median of several builds. For a filter, `component.insertion`
    /// selects the measured work. `whole`: one thread builds a usable filter from the hashes of the keys, including
    /// allocation, serialization and opening. `single` and `batch`: only insertion into shared bits, until the last
    /// thread is done, without allocation and serialization. Do not compare `whole` with the other two. Component runs
    /// only.
    BUILD_NS_PER_ENTRY = "build_ns_per_entry", "time to build, per entry", Nanoseconds, Number, Lower, false;
    /// Component runs only: memory of the component in bytes per entry (key, or block of a fence).
    BYTES_PER_ENTRY = "bytes_per_entry", "memory per entry", Bytes, Number, Lower, false;
    /// Memory of a filter in bits per key. Component runs only.
    BITS_PER_KEY = "bits_per_key", "bits per key", Ratio, Number, Lower, true;
    /// Component runs only: original bytes / stored bytes.
    RATIO = "ratio", "compression ratio", Ratio, Number, Higher, true;
    /// Megabytes (10⁶ bytes) per second in the median slice: original bytes for a codec, key bytes for a hash function,
    /// file bytes for a storage back end. Component runs only.
    MEGABYTES_PER_SECOND = "megabytes_per_second", "speed", MegabytesPerSecond, Number, Higher, false;
    /// Hit rate of Belady's optimal algorithm for the same requests and the same capacity. Belady's algorithm knows the
    /// future and begins with the best contents out of the blocks of the warm-up. No cache can therefore exceed this
    /// rate. Component runs only.
    BEST_HIT_RATE = "best_hit_rate", "best possible hit rate", Share, Number, Neither, true;
    /// Sorted runs that a get may have to search, as the mean over the flushes of a simulated tree. Component runs
    /// only.
    RUNS_PER_GET = "runs_per_get", "sorted runs per get", Ratio, Number, Lower, true;
    /// Component runs only: maximum number of sorted runs of a simulated tree.
    WORST_RUNS = "worst_runs", "most sorted runs at once", Count, Integer, Lower, true;
    /// Bytes of the store's files on the file system after pending flushes and compactions finished. WALs and their
    /// reserved space are included (for lsmbench at most 1 MiB per WAL). This column is the only measure of space that
    /// all engines report. `timed` mode only.
    DISK_BYTES = "disk_bytes", "bytes on disk", Bytes, Integer, Lower, false;
    /// Memory of filters and fence pointers together, for engines that do not report them separately.
    TABLE_MEMORY_BYTES = "table_memory_bytes", "memory of filters and fences", Bytes, Integer, Lower, false;
    /// Blocks that gets and scans used in place in memory-mapped SSTables. These blocks count neither as read nor as
    /// cached.
    BLOCKS_IN_PLACE = "blocks_in_place", "blocks used in place", Count, Integer, Neither, true;
    /// Memtables and sorted runs with keys in the range, per scan.
    SOURCES_PER_RANGE = "sources_per_range", "sorted sources per range", Ratio, Number, Lower, true;
    /// Memory allocations per operation, by the thread that runs the operation. A batch or a scan counts as one
    /// operation. Flushes and compactions on other threads are not included. Only for lsmbench's own tree in `timed`
    /// mode, because the program cannot count the allocations of other engines.
    ALLOCATIONS_PER_OP = "allocations_per_op", "allocations per operation", Ratio, Number, Lower, false;
    /// Lookups that the hash index of a data block (`block.index`) answered without a search: the key is absent, or at
    /// a known entry or restart point. Empty for blocks without an index.
    BLOCK_INDEX_ANSWERS = "block_index_answers", "lookups that the index of a block answered", Count, Integer, Higher, true;
    /// `block_index_answers` / lookups in blocks with an index.
    BLOCK_INDEX_HIT_RATE = "block_index_hit_rate", "share that the index of a block answered", Share, Number, Higher, true;
    /// Duration of all compactions, each from its start until its SSTables are in the tree. A compaction in several
    /// concurrent parts counts once. A compaction that still runs at the end of a phase counts in the next phase. Only
    /// for lsmbench's own tree in `timed` mode.
    COMPACTION_SECONDS = "compaction_seconds", "time of compactions", Seconds, Number, Lower, false;
    /// `compaction_seconds` / `compactions`: mean duration of a compaction. Empty without compactions.
    SECONDS_PER_COMPACTION = "seconds_per_compaction", "time of one compaction", Seconds, Number, Lower, false;
    /// Component runs only: entries in the smallest shard of a memtable. Empty for memtables without shards, as are
    /// the next three columns.
    SHARD_ENTRIES_MIN = "shard_entries_min", "entries in the emptiest shard", Count, Integer, Neither, true;
    /// Component runs only: entries in the largest shard of a memtable.
    SHARD_ENTRIES_MAX = "shard_entries_max", "entries in the fullest shard", Count, Integer, Lower, true;
    /// Standard deviation of the entries per shard / their mean. A perfect hash has √((shards − 1) / entries) by
    /// chance. Component runs only.
    SHARD_CV = "shard_cv", "variation of entries per shard", Ratio, Number, Lower, true;
    /// Pearson's χ² of the entries per shard against equal shards. By chance, its expected value is (shards − 1), the
    /// number of degrees of freedom. Component runs only.
    SHARD_CHI_SQUARE = "shard_chi_square", "chi-square of entries per shard", Ratio, Number, Lower, true;
    /// Memory that a codec needs to compress blocks one after the other, without the blocks and the compressed output.
    /// Retained contexts and temporary allocations are included, also those of libraries in other languages. A codec
    /// per level reports the codec of `component.level`. A codec that depends on the content of blocks reports all its
    /// codecs together. Component runs only.
    WORKING_BYTES = "working_bytes", "working memory of the codec", Bytes, Integer, Lower, false;
    /// CPU cycles of the process in the phase, over all threads, in user space and in the kernel, as counted by
    /// `perf stat`. If the kernel permits only user space, `lsmbench doctor` and the findings of the manifest report
    /// this. Empty in `counted` mode and without hardware counters, as in most virtual machines. Empty for components,
    /// because their phases include untimed work. These rules also apply to the next seven columns.
    CPU_CYCLES = "cpu_cycles", "CPU cycles", Count, Integer, Lower, false;
    /// Instructions that the CPU retired, for the same threads.
    INSTRUCTIONS = "instructions", "instructions", Count, Integer, Lower, false;
    /// CPU cache references (`cache-references` of `perf`). On most CPUs these are accesses to the last-level cache.
    CPU_CACHE_REFERENCES = "cpu_cache_references", "CPU cache references", Count, Integer, Lower, false;
    /// CPU cache misses (`cache-misses` of `perf`).
    CPU_CACHE_MISSES = "cpu_cache_misses", "CPU cache misses", Count, Integer, Lower, false;
    /// Branches that the CPU mispredicted.
    BRANCH_MISSES = "branch_misses", "mispredicted branches", Count, Integer, Lower, false;
    /// `instructions` / `cpu_cycles`.
    INSTRUCTIONS_PER_CYCLE = "instructions_per_cycle", "instructions per cycle", Ratio, Number, Higher, false;
    /// `cpu_cache_misses` / `cpu_cache_references`. A CPU with fewer counters than events counts the two alternately,
    /// so the rate is then an estimate.
    CPU_CACHE_MISS_RATE = "cpu_cache_miss_rate", "CPU cache miss rate", Ratio, Number, Lower, false;
    /// `instructions` / `ops`. Instructions of concurrent flushes and compactions are included.
    INSTRUCTIONS_PER_OP = "instructions_per_op", "instructions per operation", Ratio, Number, Lower, false;
    /// State of the store at the start of the phase. `empty`: nothing was written. `written`: memtables may contain
    /// entries. Steps after the last write are listed in order, for example `compacted, reopened`. `, unsettled` is
    /// appended if background work may still have run.
    STATE_AT_START = "state_at_start", "state of the store at the start", Plain, Text, Neither, true;
    /// The role whose threads executed the operations, where a phase has roles. Its rows have operations such as
    /// `readers/get` and `readers/all`; the rows without a role are those of all roles together.
    ROLE = "role", "role", Plain, Text, Neither, true;
    /// `memtable_bytes` when the clock of the phase started.
    MEMTABLE_BYTES_AT_START = "memtable_bytes_at_start", "memory of memtables at the start", Bytes, Integer, Neither, false;
    /// `runs` when the clock of the phase started.
    RUNS_AT_START = "runs_at_start", "sorted runs at the start", Count, Integer, Neither, true;
    /// Steps `reopen` only: time until the store was closed. `seconds` is the time to open it again.
    CLOSE_SECONDS = "close_seconds", "time to close", Seconds, Number, Lower, false;
    /// Context switches of threads of the process that had to wait, such as for a lock or a device.
    CONTEXT_SWITCHES = "context_switches", "context switches", Count, Integer, Lower, false;
    /// Context switches of threads of the process that could have run on, because another thread got their CPU.
    PREEMPTIONS = "preemptions", "preemptions", Count, Integer, Lower, false;
    /// Page faults without I/O.
    PAGE_FAULTS = "page_faults", "page faults", Count, Integer, Lower, false;
    /// Page faults that read from storage.
    MAJOR_PAGE_FAULTS = "major_page_faults", "major page faults", Count, Integer, Lower, false;
    /// Time in which threads of the process were ready to run and had no CPU, over the threads that were alive. It is part of
    /// the wall time and not of the CPU time. A busy machine causes it, and so does a process with more busy threads than
    /// cores.
    RUN_QUEUE_SECONDS = "run_queue_seconds", "run-queue wait", Seconds, Number, Lower, false;
    /// Time per operation without the time in which its thread was ready to run and had no CPU: (`seconds` × `threads` − those
    /// waits) / `ops`. A busy neighbour changes it less than `mean_ns`. It includes the making of operations. Background
    /// threads of the store cause waits, too, if cores are few; this column does not show them.
    BUSY_NS = "busy_ns", "time per operation without CPU waits", Nanoseconds, Number, Lower, false;
    /// Time that the hypervisor took from all CPUs of this virtual machine, in steps of 10 ms, over the turns of all trials
    /// where they run side by side. It is part of the wall time and of the CPU time.
    STEAL_SECONDS = "steal_seconds", "stolen CPU time", Seconds, Number, Lower, false;
    /// 99.99th percentile of service time.
    P9999_NS = "p9999_ns", "p99.99 service time", Nanoseconds, Integer, Lower, false;
    /// Times that a writer stopped at a stall limit of the store.
    STALLS = "stalls", "write stalls", Count, Integer, Lower, false;
    /// Part of `stall_seconds` in which writes were slowed before a limit was reached (`stall.pacing = "delay"`).
    DELAY_SECONDS = "delay_seconds", "time writers were delayed", Seconds, Number, Lower, false;
    /// Time in which writers replaced full memtables and their WALs, without `stall_seconds`, summed over all threads.
    ROTATION_SECONDS = "rotation_seconds", "time to replace memtables", Seconds, Number, Lower, false;
    /// SSTable bytes that flushes and compactions wrote after the last operation of the phase, until none was due: the
    /// work that the phase left behind. A throughput with less debt is a better throughput. 0 if the store keeps up.
    DEBT_BYTES = "debt_bytes", "compaction debt", Bytes, Integer, Lower, true;
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

/// Start of the interval that a row of `timeline.csv` covers, in seconds since its phase began.
pub const SECOND: Metric = Metric {
    name: "second",
    title: "time since the phase began",
    unit: Unit::Seconds,
    kind: ValueType::Number,
    better: Better::Neither,
    exact: false,
    definition: "Start of the interval that the row covers, in seconds since its phase began.",
};

/// Measured columns of `timeline.csv`, in order. Each column has its meaning in `runs.csv`, but for one interval
/// instead of one phase. `seconds` is the length of the interval. Levels, runs and memory are sampled at the end of the
/// interval.
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
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::levels::LEVEL_OWN;

    /// The names that the design fixes, in its order.
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
