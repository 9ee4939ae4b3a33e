//! The list of all columns: name, title, unit, type, direction, and the definition, which is the
//! documentation of each constant.
//!
//! Counters count what happened within the phase of their row. Those of the store as a whole stand in the
//! rows of operation `all` only; a value that was not measured is empty, never 0.

use crate::metric::{Better, Kind, Metric, Unit, columns};

/// The name of the operation in rows about all operations of a phase together.
pub const ALL: &str = "all";

/// The path at which engines are swept, and so the name of its column.
pub const ENGINE: &str = "engine";

/// The root of the paths that an experiment on a component sweeps, and what its name begins with.
pub const COMPONENT: &str = "component";

columns! {
    /// The columns that say which measurement a row is of. The swept paths follow them.
    IDENTITY
    /// Name of the experiment.
    EXPERIMENT = "experiment", "experiment", Plain, Text, Neither, true;
    /// Number of the cell, from 0 in the order of the sweep. A cell is one combination of swept values.
    CELL = "cell", "cell", Plain, Integer, Neither, true;
    /// What sets the cell apart from the others, in short.
    LABEL = "label", "design", Plain, Text, Neither, true;
    /// Number of the trial, from 0. Equal trials of different cells ran next to each other in time, on the
    /// same operations: they are pairs.
    TRIAL = "trial", "trial", Plain, Integer, Neither, true;
    /// Name of the phase.
    PHASE = "phase", "phase", Plain, Text, Neither, true;
    /// The kind of operation, or `all`.
    OPERATION = "operation", "operation", Plain, Text, Neither, true;
    /// `timed`: real threads and real time. `counted`: one thread, every counter the same on every machine.
    MODE = "mode", "mode", Plain, Text, Neither, true;
    /// The seed of the operation stream.
    SEED = "seed", "seed", Plain, Integer, Neither, true;
    /// `closed`: the next operation is issued when the last one ends. `open`: operations are due at a fixed
    /// rate, whether or not the store keeps up.
    LOOP = "loop", "loop", Plain, Text, Neither, true;
}

columns! {
    /// The measured columns of `runs.csv`, in order.
    METRICS
    /// Operations done.
    OPS = "ops", "operations", Count, Integer, Neither, true;
    /// Wall time of the phase, from the start of its first operation to the end of its last. Settling is not
    /// in it. Rows of single operations repeat it.
    SECONDS = "seconds", "wall time of the phase", Seconds, Number, Lower, false;
    /// `ops` / `seconds`.
    OPS_PER_SECOND = "ops_per_second", "throughput", OperationsPerSecond, Number, Higher, false;
    /// Mean service time: from the call of an operation to its return. In a closed loop this is all the
    /// latency there is, and its tail is flattered: an operation that stalls delays those behind it, and they
    /// are not charged for the wait (coordinated omission). In an open loop see `response_mean_ns`. In component
    /// runs it is the time of all slices / `ops`, the loop's own included (`loop_ns`).
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
    /// Gets that found none.
    MISSING = "missing", "gets that found none", Count, Integer, Neither, true;
    /// Key and value bytes of puts, key bytes of deletes.
    USER_BYTES_WRITTEN = "user_bytes_written", "bytes written by the user", Bytes, Integer, Neither, true;
    /// Bytes written to the write-ahead log.
    WAL_BYTES = "wal_bytes", "bytes written to the log", Bytes, Integer, Lower, true;
    /// Bytes of tables written by flushes.
    FLUSH_BYTES = "flush_bytes", "bytes flushed", Bytes, Integer, Lower, true;
    /// Bytes of tables read by compactions.
    COMPACTION_BYTES_READ = "compaction_bytes_read", "bytes read by compaction", Bytes, Integer, Lower, true;
    /// Bytes of tables written by compactions.
    COMPACTION_BYTES_WRITTEN = "compaction_bytes_written", "bytes written by compaction", Bytes, Integer, Lower, true;
    /// (`flush_bytes` + `compaction_bytes_written`) / `user_bytes_written`, when the last operation of the
    /// phase ends: what pending compaction still owes is not in it (burst value).
    WRITE_AMP = "write_amp", "write amplification", Ratio, Number, Lower, true;
    /// Blocks fetched from storage, data blocks and index pages alike.
    BLOCKS_READ = "blocks_read", "blocks fetched from storage", Count, Integer, Lower, true;
    /// Blocks found in the block cache.
    BLOCKS_FROM_CACHE = "blocks_from_cache", "blocks found in the cache", Count, Integer, Neither, true;
    /// Data blocks looked into per get, cached or not; of other engines in phases of gets alone, where they count.
    BLOCKS_PER_GET = "blocks_per_get", "data blocks read per get", Ratio, Number, Lower, true;
    /// `blocks_from_cache` / (`blocks_from_cache` + `blocks_read`).
    CACHE_HIT_RATE = "cache_hit_rate", "cache hit rate", Share, Number, Higher, true;
    /// Times a filter was asked for a key.
    FILTER_PROBES = "filter_probes", "filter probes", Count, Integer, Neither, true;
    /// Probes that answered "not here".
    FILTER_NEGATIVES = "filter_negatives", "filter negatives", Count, Integer, Neither, true;
    /// Probes that answered "maybe" although the run did not have the key.
    FILTER_FALSE_POSITIVES = "filter_false_positives", "false positives", Count, Integer, Lower, true;
    /// False positives / (false positives + negatives).
    FPR = "fpr", "false-positive rate", Share, Number, Lower, true;
    /// Times a fence was asked for the block of a key.
    FENCE_SEARCHES = "fence_searches", "fence searches", Count, Integer, Lower, true;
    /// Memtables flushed.
    FLUSHES = "flushes", "flushes", Count, Integer, Neither, true;
    /// Compactions done.
    COMPACTIONS = "compactions", "compactions", Count, Integer, Neither, true;
    /// Levels that hold tables, when the last operation of the phase ends.
    LEVELS = "levels", "levels", Count, Integer, Neither, true;
    /// Sorted runs on storage, when the last operation of the phase ends.
    RUNS = "runs", "sorted runs", Count, Integer, Neither, true;
    /// Bytes of all live tables, when the last operation of the phase ends.
    TABLE_BYTES = "table_bytes", "bytes of all tables", Bytes, Integer, Lower, true;
    /// Key and value bytes of the newest live version of every key, exact, from the operations alone.
    LIVE_BYTES = "live_bytes", "bytes of live data", Bytes, Integer, Neither, true;
    /// `table_bytes` / `live_bytes`, when the last operation of the phase ends (burst value).
    SPACE_AMP = "space_amp", "space amplification", Ratio, Number, Lower, true;
    /// Bytes of memory held by memtables.
    MEMTABLE_BYTES = "memtable_bytes", "memory of memtables", Bytes, Integer, Lower, false;
    /// Bytes of memory held by filters.
    FILTER_BYTES = "filter_bytes", "memory of filters", Bytes, Integer, Lower, true;
    /// Bytes of memory held by fences, block directories and restart hints.
    FENCE_BYTES = "fence_bytes", "memory of fences", Bytes, Integer, Lower, true;
    /// Bytes of memory held by the block cache.
    CACHE_BYTES = "cache_bytes", "memory of the block cache", Bytes, Integer, Lower, false;
    /// Time that writers were held up by the store's stall rules, over all threads.
    STALL_SECONDS = "stall_seconds", "time writers stalled", Seconds, Number, Lower, false;
    /// Processor time of the process in the phase, user and system, over all threads.
    CPU_SECONDS = "cpu_seconds", "processor time", Seconds, Number, Lower, false;
    /// Largest resident memory of the process up to the end of the phase.
    RSS_PEAK_BYTES = "rss_peak_bytes", "peak resident memory", Bytes, Integer, Lower, false;
    /// Bytes that the operating system sent to storage for the process.
    OS_WRITE_BYTES = "os_write_bytes", "bytes written by the operating system", Bytes, Integer, Lower, false;
    /// (`wal_bytes` + `flush_bytes` + `compaction_bytes_written`) / `user_bytes_written`.
    WRITE_AMP_WAL = "write_amp_wal", "write amplification with the log", Ratio, Number, Lower, true;
    /// `write_amp` with the bytes written until pending flushes and compactions were done (settled value).
    WRITE_AMP_SETTLED = "write_amp_settled", "settled write amplification", Ratio, Number, Lower, true;
    /// `table_bytes_settled` / `live_bytes`.
    SPACE_AMP_SETTLED = "space_amp_settled", "settled space amplification", Ratio, Number, Lower, true;
    /// `table_bytes` after pending flushes and compactions were done.
    TABLE_BYTES_SETTLED = "table_bytes_settled", "settled bytes of all tables", Bytes, Integer, Lower, true;
    /// `runs` after pending flushes and compactions were done.
    RUNS_SETTLED = "runs_settled", "settled sorted runs", Count, Integer, Neither, true;
    /// `levels` after pending flushes and compactions were done.
    LEVELS_SETTLED = "levels_settled", "settled levels", Count, Integer, Neither, true;
    /// `flush_bytes` with those written until pending flushes and compactions were done.
    FLUSH_BYTES_SETTLED = "flush_bytes_settled", "settled bytes flushed", Bytes, Integer, Lower, true;
    /// `compaction_bytes_read` with those read until pending flushes and compactions were done.
    COMPACTION_BYTES_READ_SETTLED = "compaction_bytes_read_settled", "settled bytes read by compaction", Bytes, Integer, Lower, true;
    /// `compaction_bytes_written` with those written until pending flushes and compactions were done.
    COMPACTION_BYTES_WRITTEN_SETTLED = "compaction_bytes_written_settled", "settled bytes written by compaction", Bytes, Integer, Lower, true;
    /// `write_amp_wal` with the bytes written until pending flushes and compactions were done.
    WRITE_AMP_WAL_SETTLED = "write_amp_wal_settled", "settled write amplification with the log", Ratio, Number, Lower, true;
    /// `os_write_bytes` / `user_bytes_written`: what the operating system wrote per byte of the user. Whole pages
    /// are counted, when they are first changed.
    OS_WRITE_AMP = "os_write_amp", "write amplification of the system", Ratio, Number, Lower, false;
    /// `os_write_bytes` with those until pending flushes and compactions were done.
    OS_WRITE_BYTES_SETTLED = "os_write_bytes_settled", "settled bytes written by the system", Bytes, Integer, Lower, false;
    /// `os_write_bytes_settled` / `user_bytes_written`.
    OS_WRITE_AMP_SETTLED = "os_write_amp_settled", "settled write amplification of the system", Ratio, Number, Lower, false;
    /// Bytes that the operating system fetched from storage for the process: what lay in its page cache is not
    /// among them. Empty where the storage is memory, as all columns of the system's reads and writes.
    OS_READ_BYTES = "os_read_bytes", "bytes read by the system", Bytes, Integer, Lower, false;
    /// Time from the last operation's end until pending flushes and compactions were done.
    SETTLE_SECONDS = "settle_seconds", "time to settle", Seconds, Number, Lower, false;
    /// The part of `blocks_read` that is fence pages.
    BLOCKS_READ_INDEX = "blocks_read_index", "index pages fetched from storage", Count, Integer, Lower, true;
    /// Modelled devices only (`storage = "simulated"`): the time that the device took for what the phase asked of
    /// it, each call by itself, and the sum of the two columns that follow. In `timed` mode callers waited for it.
    DEVICE_SECONDS = "device_seconds", "time of the device", Seconds, Number, Lower, true;
    /// The part of `device_seconds` that is reads.
    DEVICE_READ_SECONDS = "device_read_seconds", "time the device read", Seconds, Number, Lower, true;
    /// The part of `device_seconds` that is writes and syncs.
    DEVICE_WRITE_SECONDS = "device_write_seconds", "time the device wrote", Seconds, Number, Lower, true;
    /// `device_seconds` / `ops`, in nanoseconds: what the device adds to an operation that waits for all of it.
    DEVICE_NS_PER_OP = "device_ns_per_op", "time of the device per operation", Nanoseconds, Number, Lower, true;
    /// The false-positive rate that theory gives for the filters as they were built, weighted by probes or,
    /// where those are not told apart, by keys.
    EXPECTED_FPR = "expected_fpr", "expected false-positive rate", Share, Number, Lower, true;
    /// `fpr` / `expected_fpr` − 1; empty where fewer than 100 false positives are expected of probes for different keys,
    /// of which a filter asked for few popular ones has few: it would be chance.
    FPR_RESIDUAL = "fpr_residual", "false-positive rate above theory", Ratio, Number, Neither, false;
    /// What the compaction policy writes by its closed form, or where it has none by the simulator, for as many
    /// flushes of keys that are all different, in the bytes of this phase's flushes: form × `flush_bytes` /
    /// `user_bytes_written`, flushes and compactions settled. Of phases that only add keys to an empty tree, whose
    /// bytes merges leave as many as they were.
    EXPECTED_WRITE_AMP = "expected_write_amp", "expected write amplification", Ratio, Number, Lower, false;
    /// `write_amp_settled` (of components `write_amp`) / `expected_write_amp` − 1.
    WRITE_AMP_RESIDUAL = "write_amp_residual", "write amplification above theory", Ratio, Number, Neither, false;
    /// Sorted runs that the policy leaves after as many flushes, by its closed form or the simulator, settled. Of
    /// the phases that have `expected_write_amp`.
    EXPECTED_RUNS = "expected_runs", "expected sorted runs", Count, Integer, Neither, false;
    /// Likewise the levels that hold them.
    EXPECTED_LEVELS = "expected_levels", "expected levels", Count, Integer, Neither, false;
    /// Data blocks that a get looks into by expectation, from the runs that there are and `expected_fpr`: for an
    /// absent key the false positives of all runs, for a present one its own block and the false positives of
    /// newer runs. Of phases that only get, from runs that overlap, through fences that find a block without reading.
    EXPECTED_BLOCKS_PER_GET = "expected_blocks_per_get", "expected data blocks per get", Ratio, Number, Lower, false;
    /// `blocks_per_get` / `expected_blocks_per_get` − 1.
    BLOCKS_PER_GET_RESIDUAL = "blocks_per_get_residual", "data blocks per get above theory", Ratio, Number, Neither, false;
    /// The least that `space_amp_settled` can be: tables that hold every live key that is in no memtable once, in the
    /// bytes that a byte of keys and values takes in them. Of trees without tombstones.
    LEAST_SPACE_AMP = "least_space_amp", "least space amplification", Ratio, Number, Lower, false;
    /// The most that it comes to by the textbook where keys are overwritten and every level is full, in the same bytes:
    /// T/(T − 1) leveled and lazy leveled, T tiered, Z·T/(T − 1) of a tree with Z runs in its largest level, and level
    /// 0 on top where it waits for several runs (Dayan & Idreos, "Dostoevsky", 2018). A tree whose largest level has just
    /// begun may take more. Of the same trees, under these policies.
    MOST_SPACE_AMP = "most_space_amp", "most space amplification", Ratio, Number, Lower, false;
    /// `space_amp_settled` / `most_space_amp` − 1: negative below the ceiling.
    SPACE_AMP_RESIDUAL = "space_amp_residual", "space amplification above theory", Ratio, Number, Neither, false;
    /// The hit rate that theory gives for the cache under the phase's law of popularity: Che's approximation for
    /// LRU, Martina's for FIFO, for blocks as they are filled, the filling of an empty cache included. Keys in turn
    /// hit all but one in a block. Of phases that only get present keys.
    EXPECTED_HIT_RATE = "expected_hit_rate", "expected hit rate", Share, Number, Higher, false;
    /// `cache_hit_rate` / `expected_hit_rate` − 1.
    HIT_RATE_RESIDUAL = "hit_rate_residual", "hit rate above theory", Ratio, Number, Neither, false;
    /// The hit rate of a cache that always holds the most popular blocks of the phase's law: what no cache exceeds
    /// in the long run that does not know the future. Of phases that only get present keys.
    BEST_STATIC_HIT_RATE = "best_static_hit_rate", "hit rate of the best static set", Share, Number, Neither, false;
    /// Times a filter was asked whether a range between two keys is empty.
    RANGE_FILTER_PROBES = "range_filter_probes", "range filter probes", Count, Integer, Neither, true;
    /// Range probes that answered "empty".
    RANGE_FILTER_NEGATIVES = "range_filter_negatives", "range filter negatives", Count, Integer, Neither, true;
    /// False positives / (false positives + negatives) of range probes; false are those that answered "maybe"
    /// although the run had no key in the range.
    RANGE_FPR = "range_fpr", "false-positive rate of ranges", Share, Number, Lower, true;
    /// Open loop only: mean response time, from the moment an operation was due to its return, waiting
    /// included. Empty in a closed loop.
    RESPONSE_MEAN_NS = "response_mean_ns", "mean response time", Nanoseconds, Number, Lower, false;
    /// Open loop only: median response time.
    RESPONSE_P50_NS = "response_p50_ns", "median response time", Nanoseconds, Integer, Lower, false;
    /// Open loop only: 99th percentile of response time.
    RESPONSE_P99_NS = "response_p99_ns", "p99 response time", Nanoseconds, Integer, Lower, false;
    /// Open loop only: 99.9th percentile of response time.
    RESPONSE_P999_NS = "response_p999_ns", "p99.9 response time", Nanoseconds, Integer, Lower, false;
    /// Answers compared with the model, off the timed path.
    CHECKED_ANSWERS = "checked_answers", "answers checked", Count, Integer, Neither, true;
    /// Checked answers that were wrong. A row where it is not 0 carries no other measurement.
    WRONG_ANSWERS = "wrong_answers", "wrong answers", Count, Integer, Lower, true;
    /// Checked gets that found nothing where something was written, of a design that drops data by rule: they are
    /// not wrong. Ranges and multi-gets that lack something are not checked there. Empty for all other designs.
    DROPPED_ANSWERS = "dropped_answers", "answers that lack what was dropped", Count, Integer, Neither, true;
    /// Why the numbers of the row cannot be: the bounds of theory or physics that they exceed, in words. No verdict
    /// goes by such a row. Empty where all is within its bounds.
    IMPLAUSIBLE = "implausible", "beyond a bound", Plain, Text, Neither, false;
    /// Threads that issued operations.
    THREADS = "threads", "threads", Count, Integer, Neither, true;
    /// Open loop only: operations due per second, over all threads.
    TARGET_OPS_PER_SECOND = "target_ops_per_second", "target rate", OperationsPerSecond, Number, Neither, true;
    /// Of a phase whose rate was searched for: the largest rate at which its objective holds, over all threads; the row is
    /// that of the probe at this rate. Empty where not even the least rate holds (the row is that of the least then), and
    /// where the largest one does, which says nothing of how much more would.
    SUSTAINED_OPS_PER_SECOND = "sustained_ops_per_second", "sustained rate", OperationsPerSecond, Number, Higher, false;
    /// What the smallest rate that does not hold misses: `p99`, `stalls` or `level0_runs`; `to` where the largest holds: let the search go further.
    RATE_LIMIT = "rate_limit", "what limits the rate", Plain, Text, Neither, false;
    /// How often the search for the rate did the phase.
    RATE_PROBES = "rate_probes", "probes", Count, Integer, Neither, false;
    /// Share of the phase's operations that are of this row's kind; 1 for `all`.
    REALISED_SHARE = "realised_share", "share of operations", Share, Number, Neither, true;
    /// Share of key accesses that went to the most accessed key.
    REALISED_HOT_KEY = "realised_hot_key", "share of the hottest key", Share, Number, Neither, true;
    /// Share of key accesses that went to the most accessed hundredth of the keys.
    REALISED_HOT_1_PERCENT = "realised_hot_1_percent", "share of the hottest 1 % of keys", Share, Number, Neither, true;
    /// Share of key accesses that went to the most accessed tenth of the keys.
    REALISED_HOT_10_PERCENT = "realised_hot_10_percent", "share of the hottest 10 % of keys", Share, Number, Neither, true;
    /// Share of gets for keys that the store does not have.
    REALISED_ABSENT = "realised_absent", "share of gets for absent keys", Share, Number, Neither, true;
    /// Mean bytes of the keys in the phase's operations.
    REALISED_KEY_BYTES = "realised_key_bytes", "mean key size", Bytes, Number, Neither, true;
    /// Mean bytes of the values in the phase's writes.
    REALISED_VALUE_BYTES = "realised_value_bytes", "mean value size", Bytes, Number, Neither, true;
    /// The state of caches that the phase asked for when its clock started: `as-is`, as the phase before left them;
    /// `warm`, all that lives was read once, in the order of the keys; `cold`, the store was flushed, closed and opened
    /// again, and the system told to let go of its files. `, direct` stands behind it where tables bypass the page
    /// cache.
    CACHE_STATE = "cache_state", "state of caches", Plain, Text, Neither, true;
    /// The share of the pages of the store's files that the page cache held when the phase began, before any warm-up.
    PAGE_CACHE_SHARE = "page_cache_share", "share in the page cache", Share, Number, Neither, false;
    /// The most memory that the process of the trial could use, page cache included (`trials.memory_limit`); empty
    /// without a limit.
    MEMORY_LIMIT_BYTES = "memory_limit_bytes", "limit on memory", Bytes, Integer, Neither, true;
    /// Free memory that was written and given up right before the phase (`trials.warm_memory`); empty where none was.
    WARM_MEMORY_BYTES = "warm_memory_bytes", "free memory touched before", Bytes, Integer, Neither, true;
    /// Operations of the phase's warm-up, which nothing else in the row counts but `checked_answers` and what was
    /// realised; empty without one.
    WARM_UP_OPS = "warm_up_ops", "operations of the warm-up", Count, Integer, Neither, true;
    /// Time that the warm-up took.
    WARM_UP_SECONDS = "warm_up_seconds", "time to warm up", Seconds, Number, Neither, false;
    /// Whether the store came to be steady in a warm-up that was to last until then.
    WARM_UP_STEADY = "warm_up_steady", "steady behind the warm-up", Plain, Text, Neither, false;
    /// Whether what was measured was steady: cut into five equal rounds, throughput, write amplification and the sorted
    /// runs of each level lie within 20 % of their mean, and rise or fall by no more than 10 % of it (SNIA's rule; runs
    /// may differ by one). Empty where the phase lasted less than five seconds.
    STEADY = "steady", "steady", Plain, Text, Neither, false;
    /// What was not steady.
    UNSTEADY = "unsteady", "not steady", Plain, Text, Neither, false;
    /// Component runs only: operations are timed in slices of some dozens to thousands with one pair of clock
    /// readings each, and this is the median over the slices of their time per operation. What a neighbour takes
    /// from the processor now and then moves `mean_ns`, and not this.
    P50_SLICE_NS = "p50_slice_ns", "time per operation", Nanoseconds, Number, Lower, false;
    /// Component runs only: what the loop around the component takes per operation, measured as the same loop
    /// without it. It is part of `mean_ns` and `p50_slice_ns`; nothing is subtracted.
    LOOP_NS = "loop_ns", "time of the empty loop", Nanoseconds, Number, Neither, false;
    /// Component runs only: time to build the component, per entry: the median of several builds. Of a filter it is what
    /// `component.insertion` says. `whole`: all from the hashes of the keys to a filter that answers, by one thread, with its
    /// memory, the bytes that a table stores and the opening of these. `single` and `batch`: insertion alone, into bits that
    /// other threads may write too, until the last thread is done; memory is got before and bytes are stored after that. So
    /// `whole` has no place beside the other two.
    BUILD_NS_PER_ENTRY = "build_ns_per_entry", "time to build, per entry", Nanoseconds, Number, Lower, false;
    /// Component runs only: bytes of memory that the component holds, per entry (key, block of a fence) in it.
    BYTES_PER_ENTRY = "bytes_per_entry", "memory per entry", Bytes, Number, Lower, false;
    /// Component runs only: bits of memory that a filter holds per key, as it was built.
    BITS_PER_KEY = "bits_per_key", "bits per key", Ratio, Number, Lower, true;
    /// Component runs only: original bytes / stored bytes.
    RATIO = "ratio", "compression ratio", Ratio, Number, Higher, true;
    /// Component runs only: megabytes (10⁶ bytes) of data per second, by the median slice: original bytes of a
    /// codec, bytes of keys of a hash function, bytes of files of a back end.
    MEGABYTES_PER_SECOND = "megabytes_per_second", "speed", MegabytesPerSecond, Number, Higher, false;
    /// Component runs only: the hit rate of Belady's rule on the same requests at the same capacity, which knows
    /// the future and begins with the best contents out of the blocks of the warm-up: no cache can have a higher one.
    BEST_HIT_RATE = "best_hit_rate", "best possible hit rate", Share, Number, Neither, true;
    /// Component runs only: sorted runs that a get may have to ask, the mean over the flushes of a simulated tree.
    RUNS_PER_GET = "runs_per_get", "sorted runs per get", Ratio, Number, Lower, true;
    /// Component runs only: the most sorted runs that a simulated tree had at any time.
    WORST_RUNS = "worst_runs", "most sorted runs at once", Count, Integer, Lower, true;
    /// Bytes that the files of the store take on the file system, logs and all, with what logs have reserved (1 MiB
    /// at most for each of ours), after pending flushes and compactions were done. The one measure of space that all
    /// engines have; `timed` mode only.
    DISK_BYTES = "disk_bytes", "bytes on disk", Bytes, Integer, Lower, false;
    /// Bytes of memory held by filters and fences together, by engines that do not tell them apart.
    TABLE_MEMORY_BYTES = "table_memory_bytes", "memory of filters and fences", Bytes, Integer, Lower, false;
    /// Blocks that gets and ranges used where they lie in mapped tables: neither read nor from the cache.
    BLOCKS_IN_PLACE = "blocks_in_place", "blocks used in place", Count, Integer, Neither, true;
    /// Memtables and sorted runs that had keys of a range, per range.
    SOURCES_PER_RANGE = "sources_per_range", "sorted sources per range", Ratio, Number, Lower, true;
    /// How often an operation asks for memory: allocations by the thread that does it, a batch or a range as one
    /// operation. What other threads flush and merge meanwhile is not among them. Our own tree only, whose allocations the
    /// program sees; `timed` mode only.
    ALLOCATIONS_PER_OP = "allocations_per_op", "allocations per operation", Ratio, Number, Lower, false;
    /// Lookups in data blocks that the index inside the block answered (`block.index`): it told that the key is absent,
    /// or at which entry or restart point it stands, so that nothing was searched. Empty where blocks have none.
    BLOCK_INDEX_ANSWERS = "block_index_answers", "lookups that the index of a block answered", Count, Integer, Higher, true;
    /// `block_index_answers` / lookups in blocks with an index.
    BLOCK_INDEX_HIT_RATE = "block_index_hit_rate", "share that the index of a block answered", Share, Number, Higher, true;
    /// Time that compactions took: from the start of each until its tables were in the tree. One that is cut into parts
    /// that go on side by side counts once; one that is under way when the phase ends counts with the next. Our own
    /// tree only; `timed` mode only.
    COMPACTION_SECONDS = "compaction_seconds", "time of compactions", Seconds, Number, Lower, false;
    /// `compaction_seconds` / `compactions`: how long one takes. Empty without any.
    SECONDS_PER_COMPACTION = "seconds_per_compaction", "time of one compaction", Seconds, Number, Lower, false;
    /// Component runs only: entries in the shard of a memtable that has fewest. Empty where it has no shards, as in the
    /// three columns that follow.
    SHARD_ENTRIES_MIN = "shard_entries_min", "entries in the emptiest shard", Count, Integer, Neither, true;
    /// Component runs only: entries in the shard of a memtable that has most.
    SHARD_ENTRIES_MAX = "shard_entries_max", "entries in the fullest shard", Count, Integer, Lower, true;
    /// Component runs only: the standard deviation of entries per shard / their mean. What chance leaves to a perfect
    /// hash is √((shards − 1) / entries).
    SHARD_CV = "shard_cv", "variation of entries per shard", Ratio, Number, Lower, true;
    /// Component runs only: Pearson's χ² of entries per shard against equal shards, of as many degrees of freedom as
    /// there are shards less one, which is also what chance makes it on the average.
    SHARD_CHI_SQUARE = "shard_chi_square", "chi-square of entries per shard", Ratio, Number, Lower, true;
    /// Component runs only: the memory that a codec takes to compress one block after the other, besides the blocks and
    /// what comes of them: the contexts that it keeps and what it asks for meanwhile, also that of libraries in other
    /// languages. Of a codec per level it is that of the codec of `component.level`; where blocks decide by what they hold,
    /// that of all codecs which they may come to.
    WORKING_BYTES = "working_bytes", "working memory of the codec", Bytes, Integer, Lower, false;
    /// Cycles that the processor spent on the process in the phase, over all threads, in user space and in the kernel, as
    /// `perf stat` counts them; in user space alone where the kernel keeps its own to itself, which `lsmbench doctor` and
    /// the findings of the manifest say. Empty in `counted` mode, of components, whose phases hold more than what is timed,
    /// and where there are no hardware counters, as in most virtual machines. So are the seven columns that follow.
    CPU_CYCLES = "cpu_cycles", "processor cycles", Count, Integer, Lower, false;
    /// Instructions that the processor retired, of the same threads.
    INSTRUCTIONS = "instructions", "instructions", Count, Integer, Lower, false;
    /// References to caches of the processor, those that `perf` calls `cache-references`: on most processors, what
    /// the nearer caches did not have and the last one was asked for.
    CPU_CACHE_REFERENCES = "cpu_cache_references", "references to the processor's cache", Count, Integer, Lower, false;
    /// Those of them that the cache did not have: `perf`'s `cache-misses`.
    CPU_CACHE_MISSES = "cpu_cache_misses", "misses of the processor's cache", Count, Integer, Lower, false;
    /// Branches that the processor predicted wrongly.
    BRANCH_MISSES = "branch_misses", "mispredicted branches", Count, Integer, Lower, false;
    /// `instructions` / `cpu_cycles`.
    INSTRUCTIONS_PER_CYCLE = "instructions_per_cycle", "instructions per cycle", Ratio, Number, Higher, false;
    /// `cpu_cache_misses` / `cpu_cache_references`. The two are counted by turns where the processor has fewer counters than
    /// events, and are then estimates.
    CPU_CACHE_MISS_RATE = "cpu_cache_miss_rate", "miss rate of the processor's cache", Ratio, Number, Lower, false;
    /// `instructions` / `ops`: those of flushes and merges meanwhile among them.
    INSTRUCTIONS_PER_OP = "instructions_per_op", "instructions per operation", Ratio, Number, Lower, false;
}

/// The columns that take hardware counters, in order: no machine without them fills one.
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
    kind: Kind::Number,
    better: Better::Neither,
    exact: false,
    definition: "Start of the interval that the row covers, in seconds since its phase began.",
};

/// The measured columns of `timeline.csv`, in order. They mean what they mean in `runs.csv`, for one
/// interval instead of one phase; `seconds` is the length of the interval, and what describes a state
/// (levels, runs, bytes held) is taken at its end.
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
