//! The statistics of a trace as serializable data.

use serde::Serialize;

/// The statistics of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TraceStatistics {
    /// The format of the trace.
    pub format: String,
    /// The number of operations in the trace.
    pub operations: u64,
    /// The kinds of operations that occur in the trace, with their numbers.
    pub mix: Vec<Share>,
    /// The number of distinct keys in operations on one key.
    pub keys: u64,
    /// The fraction of keys on which the statistics are based. The fraction is below 1 if the trace has more keys than
    /// the statistics can keep in memory.
    pub sampled: f64,
    /// The number of keys whose first access is a put.
    pub inserted_keys: u64,
    /// The distribution of the sizes of keys.
    pub key_sizes: Option<Sizes>,
    /// The distribution of the sizes of written values, and of read values if the trace contains their sizes.
    pub value_sizes: Option<Sizes>,
    /// The distribution of the numbers of entries that scans read.
    pub scan_entries: Option<Sizes>,
    /// The skew of accesses to keys.
    pub popularity: Option<AccessSkew>,
    /// The median number of distinct keys between two accesses to the same key.
    pub reuse_distance_p50: Option<f64>,
    /// The miss ratio of an LRU cache, by its capacity in keys.
    pub lru: Vec<MissRatio>,
    /// The number of distinct keys in each window of accesses, over time.
    pub working_set: Vec<WorkingSet>,
    /// The times between operations, if the trace contains times.
    pub arrivals: Option<Arrivals>,
    /// Notes about records that were skipped when the trace was read, and about assumptions.
    pub notes: Vec<String>,
}

/// The number and the fraction of the operations of one kind in a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The kind of operation.
    pub operation: &'static str,
    /// The number of operations of this kind.
    pub count: u64,
    /// The fraction of all operations that are of this kind.
    pub share: f64,
}

/// The distribution of sizes in bytes, or of numbers of entries. For entries, the fields count entries instead of
/// bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizes {
    /// The number of counted sizes.
    pub count: u64,
    /// The mean size in bytes.
    pub mean_bytes: f64,
    /// The smallest size in bytes.
    pub min_bytes: u64,
    /// The median size in bytes.
    pub p50_bytes: u64,
    /// The 90th percentile of the sizes in bytes.
    pub p90_bytes: u64,
    /// The 99th percentile of the sizes in bytes.
    pub p99_bytes: u64,
    /// The largest size in bytes.
    pub max_bytes: u64,
}

/// How unevenly the accesses of a trace are distributed over the keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccessSkew {
    /// The fraction of accesses that go to the hottest key.
    pub hottest_key: f64,
    /// The fraction of accesses that go to the hottest 1 % of keys.
    pub hottest_1_percent: f64,
    /// The fraction of accesses that go to the hottest 10 % of keys.
    pub hottest_10_percent: f64,
    /// The fraction of keys that are accessed only once.
    pub once: f64,
    /// The exponent of the Zipf distribution that fits the numbers of accesses best.
    pub theta: f64,
    /// The largest difference between the measured and the fitted fraction of accesses to the hottest keys, over all
    /// numbers of hottest keys.
    pub theta_distance: f64,
}

/// The miss ratio of an LRU cache with one capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MissRatio {
    /// The capacity of the cache in keys.
    pub keys: u64,
    /// The fraction of accesses that miss the cache.
    pub miss_ratio: f64,
}

/// A part of a trace (a window of successive accesses), with the number of distinct keys in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorkingSet {
    /// The number of the first access in the window.
    pub first: u64,
    /// The number of accesses in the window.
    pub accesses: u64,
    /// The number of distinct keys in the window.
    pub keys: u64,
    /// The number of keys whose first access is in the window.
    pub new_keys: u64,
    /// The number of distinct keys from the start of the trace to the end of the window.
    pub keys_so_far: u64,
}

/// The times between the operations of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arrivals {
    /// The time from the first to the last operation, in seconds.
    pub seconds: f64,
    /// The mean number of operations per second.
    pub rate_per_s: f64,
    /// The median time between two operations, in nanoseconds.
    pub gap_p50_ns: u64,
    /// The 99th percentile of the time between two operations, in nanoseconds.
    pub gap_p99_ns: u64,
    /// The longest time between two operations, in nanoseconds.
    pub gap_max_ns: u64,
    /// The standard deviation of the time between operations, divided by its mean. The value of a Poisson process is 1.
    pub variation: f64,
    /// The number of operations whose time is earlier than the time of the previous operation.
    pub backward: u64,
}

/// Formats the curves of a trace (the miss ratio and the working set) as rows of CSV.
pub struct CurvePoint;

impl CurvePoint {
    /// The header line of the CSV file with the curves.
    pub const HEADER: &str = "curve,x,y";

    /// Returns the rows of both curves: the miss ratio by cache capacity, and the working set by position in the trace.
    pub fn rows(summary: &TraceStatistics) -> Vec<String> {
        let lru =
            summary.lru.iter().map(|point| format!("lru_miss_ratio,{},{:.6}", point.keys, point.miss_ratio));
        let windows = summary.working_set.iter().flat_map(|window| {
            let end = window.first + window.accesses;
            [
                format!("working_set_keys,{end},{}", window.keys),
                format!("new_keys,{end},{}", window.new_keys),
                format!("keys_so_far,{end},{}", window.keys_so_far),
            ]
        });
        lru.chain(windows).collect()
    }
}
