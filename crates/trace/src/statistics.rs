//! Computes the statistics of a trace in one pass over its records.

use workload::{TraceOperation, TraceRecord};

use crate::arrivals::Times;
use crate::histogram::Histogram;
use crate::keys::hash_of;
use crate::popularity::Ranking;
use crate::reuse::{Reuse, Seen};
use crate::summary::{MissRatio, Share, TraceStatistics};
use crate::window::Windows;

/// The default limit on the number of keys that the statistics keep in memory. With so many keys, the statistics need
/// about 400 MB.
const MOST_KEYS: usize = 4_000_000;

/// The number of points per doubling of the cache capacity on the curve of LRU miss ratios.
const POINTS_PER_DOUBLING: u32 = 4;

/// The statistics of a trace, over the records that were added so far.
///
/// Scans and range deletes count only in the mix of operations, because all other statistics are about operations on
/// one key. If the trace has more keys than the memory limit permits, the statistics use a sample of the keys.
#[derive(Debug)]
pub struct Statistics {
    operations: [u64; TraceOperation::ALL.len()],
    inserted: f64,
    pub(crate) key_sizes: Histogram,
    pub(crate) value_sizes: Histogram,
    pub(crate) scan_entries: Histogram,
    pub(crate) reuse: Reuse,
    windows: Windows,
    times: Times,
}

impl Default for Statistics {
    fn default() -> Self {
        Self::new(MOST_KEYS)
    }
}

impl Statistics {
    /// Creates empty statistics, which keep at most `most_keys` keys in memory.
    pub fn new(most_keys: usize) -> Self {
        Self {
            operations: [0; TraceOperation::ALL.len()],
            inserted: 0.0,
            key_sizes: Histogram::default(),
            value_sizes: Histogram::default(),
            scan_entries: Histogram::default(),
            reuse: Reuse::new(most_keys),
            windows: Windows::default(),
            times: Times::default(),
        }
    }

    /// Adds the next record of the trace to the statistics.
    pub fn add(&mut self, record: &TraceRecord) {
        self.operations[record.operation as usize] += 1;
        record.time_ns.into_iter().for_each(|time_ns| self.times.add(time_ns));
        self.key_sizes.add(record.key.len() as u64);
        record.value_bytes.into_iter().for_each(|bytes| self.value_sizes.add(bytes.into()));
        record.count.into_iter().for_each(|entries| self.scan_entries.add(entries.into()));
        if matches!(record.operation, TraceOperation::Scan | TraceOperation::DeleteRange) {
            return;
        }
        let seen = self.reuse.access(hash_of(record));
        let weight = self.reuse.scale();
        match seen {
            Seen::NotSampled => {}
            Seen::First => {
                self.windows.add(None, weight);
                self.inserted += if record.operation == TraceOperation::Put { weight } else { 0.0 };
            }
            Seen::Last(last) => self.windows.add(Some(last), weight),
        }
        self.windows.advance();
    }

    /// Returns the number of operations of this kind in the trace.
    pub(crate) fn operations_of(&self, operation: TraceOperation) -> u64 {
        self.operations[operation as usize]
    }

    /// Returns the number of operations in the trace.
    pub fn operations(&self) -> u64 {
        self.operations.iter().sum()
    }

    /// Returns the fraction of each kind of operation, in the order of [`TraceOperation::ALL`].
    pub(crate) fn shares(&self) -> [f64; TraceOperation::ALL.len()] {
        let all = self.operations().max(1) as f64;
        self.operations.map(|count| count as f64 / all)
    }

    /// Returns the number of keys that a fitted workload must insert, because their first access is a put. If the keys
    /// are sampled, this is an estimate.
    pub(crate) fn inserted_keys(&self) -> u64 {
        self.inserted.round() as u64
    }

    /// Returns the numbers of accesses to all keys, sorted so that the hottest key comes first.
    pub(crate) fn ranking(&self) -> Ranking {
        Ranking::new(self.reuse.counts())
    }

    /// Returns the statistics as data. `format` is the name of the trace format, and `notes` are the notes from reading
    /// the trace.
    pub fn summary(&self, format: &str, notes: Vec<String>) -> TraceStatistics {
        let shares = TraceOperation::ALL.into_iter().zip(self.shares());
        let mix = shares.filter(|(_, share)| *share > 0.0).map(|(operation, share)| Share {
            operation: operation.name(),
            count: self.operations_of(operation),
            share,
        });
        let capacities = capacities(self.reuse.distinct());
        let ratios = self.reuse.miss_ratios(&capacities);
        let points = capacities.into_iter().zip(ratios);
        TraceStatistics {
            format: format.to_owned(),
            operations: self.operations(),
            mix: mix.collect(),
            keys: self.reuse.distinct(),
            sampled: self.reuse.scale().recip(),
            inserted_keys: self.inserted_keys(),
            key_sizes: self.key_sizes.summary(),
            value_sizes: self.value_sizes.summary(),
            scan_entries: self.scan_entries.summary(),
            popularity: self.ranking().summary(self.reuse.scale()),
            reuse_distance_p50: self.reuse.median_distance(),
            lru: points.map(|(keys, miss_ratio)| MissRatio { keys, miss_ratio }).collect(),
            working_set: self.windows.summary(),
            arrivals: self.times.summary(),
            notes,
        }
    }
}

/// Returns the capacities at which the miss-ratio curve is computed, up to `keys` keys. The capacities have equal
/// distances on a logarithmic scale.
pub(crate) fn capacities(keys: u64) -> Vec<u64> {
    let mut capacities: Vec<u64> = (0..u64::BITS * POINTS_PER_DOUBLING)
        .map(|point| f64::from(point) / f64::from(POINTS_PER_DOUBLING))
        .map(|power| power.exp2().round() as u64)
        .take_while(|capacity| *capacity < keys)
        .collect();
    capacities.push(keys);
    capacities.dedup();
    capacities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_counted_in_one_pass() {
        let mut statistics = Statistics::default();
        let put = |key: &str, bytes| TraceRecord::new(TraceOperation::Put, key).sized(bytes);
        let get = |key: &str| TraceRecord::new(TraceOperation::Get, key);
        for (at, record) in (0..).zip([put("a", 10), get("a"), get("bb"), put("bb", 30), get("a")]) {
            statistics.add(&record.at(at * 1000));
        }
        statistics.add(&TraceRecord::new(TraceOperation::Scan, "c").entries(7));
        let summary = statistics.summary("text", Vec::new());
        assert_eq!((summary.operations, summary.keys, summary.inserted_keys), (6, 2, 1));
        let mix: Vec<_> = summary.mix.iter().map(|share| (share.operation, share.count)).collect();
        assert_eq!(mix, [("get", 3), ("put", 2), ("scan", 1)]);
        assert_eq!(summary.value_sizes.unwrap().max_bytes, 30);
        assert_eq!(summary.scan_entries.unwrap().p50_bytes, 7);
        // Misses with one key: both first accesses, and the last one.
        let ratios: Vec<_> = summary.lru.iter().map(|point| (point.keys, point.miss_ratio)).collect();
        assert_eq!(ratios, [(1, 0.6), (2, 0.4)]);
        assert_eq!(summary.arrivals.unwrap().gap_p50_ns, 1000);
    }

    #[test]
    fn capacities_rise_to_all_keys() {
        assert_eq!(capacities(1), [1]);
        let many = capacities(1000);
        assert!(many.is_sorted_by(|a, b| a < b) && *many.last().unwrap() == 1000 && many.len() > 30);
    }
}
