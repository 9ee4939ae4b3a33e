//! A histogram of the latencies of one kind of operation: an HDR histogram with 3 significant digits from 1 ns to
//! 1000 s.
//!
//! Each thread records into its own histogram. The histograms are merged at the end, so a percentile covers the
//! operations of all threads. Recording costs about 2.5 ns and cannot fail. A latency beyond the range is recorded as
//! the maximum of the range, and is counted in [`beyond_range`](Histogram::beyond_range).

use crate::Clock;

/// The largest latency that a histogram can record: 1000 s.
pub const MAX_NS: u64 = 1_000_000_000_000;

/// The number of significant decimal digits of a latency.
const DIGITS: u8 = 3;

/// A histogram of latencies in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    counts: hdrhistogram::Histogram<u64>,
    beyond_range: u64,
}

/// A summary of the latencies in a histogram. All times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of recorded latencies.
    pub count: u64,
    /// The mean latency in nanoseconds.
    pub mean_ns: f64,
    /// The median latency in nanoseconds.
    pub p50_ns: u64,
    /// The 90th percentile of the latencies, in nanoseconds.
    pub p90_ns: u64,
    /// The 99th percentile of the latencies, in nanoseconds.
    pub p99_ns: u64,
    /// The 99.9th percentile of the latencies, in nanoseconds.
    pub p999_ns: u64,
    /// The 99.99th percentile of the latencies, in nanoseconds.
    pub p9999_ns: u64,
    /// The largest latency in nanoseconds.
    pub max_ns: u64,
}

impl Histogram {
    /// Creates an empty histogram. The histogram reserves about 250 KiB, but a run touches only the memory for the
    /// range of its latencies.
    ///
    /// # Panics
    /// Never panics, because the bounds are valid constants.
    pub fn new() -> Self {
        let counts = hdrhistogram::Histogram::new_with_bounds(1, MAX_NS, DIGITS);
        Self {
            counts: counts.expect("the constant bounds of a latency histogram must be valid"),
            beyond_range: 0,
        }
    }

    /// Records one latency in nanoseconds. A latency above [`MAX_NS`] is recorded as [`MAX_NS`].
    #[inline]
    pub fn record(&mut self, ns: u64) {
        if ns > MAX_NS {
            self.beyond_range += 1;
        }
        self.counts.saturating_record(ns.min(MAX_NS));
    }

    /// Adds the latencies of another histogram, for example of another thread.
    ///
    /// # Panics
    /// Never panics, because all histograms have the same bounds.
    pub fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts).expect("all latency histograms must have the same bounds");
        self.beyond_range += other.beyond_range;
    }

    /// Returns the number of recorded latencies.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// Returns the number of latencies above [`MAX_NS`]. Such a latency is recorded as [`MAX_NS`].
    pub fn beyond_range(&self) -> u64 {
        self.beyond_range
    }

    /// Removes all latencies, so that the histogram can record the next interval.
    pub fn clear(&mut self) {
        self.counts.reset();
        self.beyond_range = 0;
    }

    /// Returns the smallest latency that the fraction `quantile` (0 to 1) of all latencies does not exceed, with 3
    /// digits. Returns `None` if the histogram is empty.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        (self.count() > 0).then(|| self.counts.value_at_quantile(quantile).min(self.counts.max()))
    }

    /// Returns the summary of the latencies. Returns `None` if the histogram is empty.
    pub fn summary(&self) -> Option<Summary> {
        Some(Summary {
            count: self.count(),
            p50_ns: self.quantile(0.5)?,
            p90_ns: self.quantile(0.9)?,
            p99_ns: self.quantile(0.99)?,
            p999_ns: self.quantile(0.999)?,
            p9999_ns: self.quantile(0.9999)?,
            mean_ns: self.counts.mean(),
            max_ns: self.counts.max().min(MAX_NS),
        })
    }

    /// Returns the histogram as an HDR histogram, in the form that a latency log stores.
    pub fn as_hdr(&self) -> &hdrhistogram::Histogram<u64> {
        &self.counts
    }

    /// Creates a histogram from its form in a latency log. The log does not contain the number of latencies beyond the
    /// range, so this number is 0 in the result.
    pub fn from_hdr(stored: &hdrhistogram::Histogram<u64>) -> Self {
        let mut histogram = Self::new();
        for step in stored.iter_recorded() {
            let ns = step.value_iterated_to().min(MAX_NS);
            histogram.counts.saturating_record_n(ns, step.count_since_last_iteration());
        }
        histogram
    }

    /// Measures the time of one call of [`record`](Self::record) in nanoseconds. The result is the smallest mean of
    /// several batches, with latencies that are spread as in a real run.
    pub fn record_cost_ns(clock: &Clock) -> f64 {
        const RECORDS: u32 = 20_000;
        let mut histogram = Self::new();
        // Multiplicative steps from 100 ns to 100 µs visit as many buckets as a real run.
        let latencies: Vec<u64> = (0..1024_u64).map(|i| 100 << (i * 7 % 11) | (i * 37 % 128)).collect();
        let mut batch = || {
            let start = clock.now();
            for i in 0..RECORDS as usize {
                histogram.record(std::hint::black_box(latencies[i % 1024]));
            }
            clock.ns_between(start, clock.now()) as f64 / f64::from(RECORDS)
        };
        (0..20).map(|_| batch()).fold(f64::INFINITY, f64::min)
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use results::LatencyLog;

    use super::*;

    fn of(latencies: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        latencies.into_iter().for_each(|ns| histogram.record(ns));
        histogram
    }

    #[test]
    fn the_numbers_are_those_of_the_data() {
        let summary = of(1..=100_000).summary().unwrap();
        let near = |found: u64, expected: u64| {
            assert!(found.abs_diff(expected) <= expected / 1000 + 1, "{found}, not {expected}");
        };
        near(summary.p50_ns, 50_000);
        near(summary.p90_ns, 90_000);
        near(summary.p99_ns, 99_000);
        near(summary.p999_ns, 99_900);
        near(summary.p9999_ns, 99_990);
        near(summary.max_ns, 100_000);
        assert!((summary.mean_ns - 50_000.5).abs() < 50.0);
        assert_eq!(Histogram::new().summary(), None);
    }

    #[test]
    fn nothing_is_too_large_or_too_small() {
        let mut histogram = of([0, 1, MAX_NS, MAX_NS + 1, u64::MAX]);
        assert_eq!((histogram.count(), histogram.beyond_range()), (5, 2));
        assert_eq!(histogram.summary().unwrap().max_ns, MAX_NS);
        histogram.clear();
        assert_eq!(histogram, Histogram::new());
    }

    #[test]
    fn a_histogram_goes_through_a_latency_log() {
        let histogram = of((0..5000).map(|i| i * i * 1000));
        let folder = std::env::temp_dir().join(format!("lsmbench-measure-{}", std::process::id()));
        let path = folder.join("log.hlog");
        let mut log = LatencyLog::default();
        log.push("get", histogram.as_hdr().clone());
        log.write(&path, Duration::from_secs(1)).unwrap();
        let read = LatencyLog::read(&path).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(Histogram::from_hdr(read.get("get").unwrap()), histogram);
    }

    proptest! {
        #[test]
        fn merged_threads_are_one_histogram(
            a in prop::collection::vec(any::<u64>(), 0..200),
            b in prop::collection::vec(0..10_000_000_u64, 0..200),
        ) {
            let mut merged = of(a.clone());
            merged.merge(&of(b.clone()));
            prop_assert_eq!(merged, of(a.into_iter().chain(b)));
        }

        #[test]
        fn a_quantile_is_within_a_thousandth(mut latencies in prop::collection::vec(1..MAX_NS, 1..300), share in 0.0..=1.0_f64) {
            let found = of(latencies.clone()).quantile(share).unwrap() as f64;
            latencies.sort_unstable();
            let rank = ((share * latencies.len() as f64).ceil() as usize).clamp(1, latencies.len());
            let expected = latencies[rank - 1] as f64;
            prop_assert!((found - expected).abs() <= expected / 1000.0 + 1.0, "{found}, not {expected}");
        }
    }
}
