//! Histograms of sizes in bounded memory. Sizes below 4,096 are exact, and larger sizes have a relative error below
//! 1/64.

use std::collections::BTreeMap;

use crate::summary::Sizes;

/// The size up to which each size has a counter of its own. Larger sizes share counters.
const EXACT: u64 = 4096;

/// The number of leading bits that the histogram keeps of a size of at least [`EXACT`]. The other bits count as 0, so
/// the relative error is below 1/64.
const LEADING_BITS: u32 = 7;

/// A histogram of sizes in bounded memory, such as the sizes of keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    counts: BTreeMap<u64, u64>,
    total: u64,
    sum: f64,
    largest: u64,
}

impl Histogram {
    /// Adds one size.
    pub(crate) fn add(&mut self, size: u64) {
        *self.counts.entry(rounded(size)).or_default() += 1;
        self.total += 1;
        self.sum += size as f64;
        self.largest = self.largest.max(size);
    }

    /// Returns the number of added sizes.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the smallest size that is at least as large as a fraction `quantile` of all sizes. Returns 0 if there
    /// are no sizes.
    pub(crate) fn quantile(&self, quantile: f64) -> u64 {
        let rank = ((self.total as f64 * quantile).ceil() as u64).max(1);
        let mut below = 0;
        let found = self.counts.iter().find(|(_, count)| {
            below += **count;
            below >= rank
        });
        found.map_or(0, |(size, _)| (*size).min(self.largest))
    }

    /// Returns the mean size; 0 if there are no sizes.
    pub(crate) fn mean(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.sum / self.total as f64 }
    }

    /// Returns how much two histograms differ, from 0 (equal) to 1: the largest difference between their cumulative
    /// distributions (Kolmogorov-Smirnov distance).
    pub(crate) fn distance(&self, other: &Self) -> f64 {
        if self.total == 0 || other.total == 0 {
            return if self.total == other.total { 0.0 } else { 1.0 };
        }
        let sizes = self.counts.keys().chain(other.counts.keys());
        let sizes: std::collections::BTreeSet<u64> = sizes.copied().collect();
        let (mut here, mut there, mut largest) = (0, 0, 0.0f64);
        for size in sizes {
            here += self.counts.get(&size).copied().unwrap_or_default();
            there += other.counts.get(&size).copied().unwrap_or_default();
            largest =
                largest.max((here as f64 / self.total as f64 - there as f64 / other.total as f64).abs());
        }
        largest
    }

    /// Returns the mean, the percentiles and the limits of the sizes; `None` if there are no sizes.
    pub(crate) fn summary(&self) -> Option<Sizes> {
        (self.total > 0).then(|| Sizes {
            count: self.total,
            mean_bytes: self.mean(),
            min_bytes: self.quantile(0.0),
            p50_bytes: self.quantile(0.5),
            p90_bytes: self.quantile(0.9),
            p99_bytes: self.quantile(0.99),
            max_bytes: self.largest,
        })
    }
}

fn rounded(size: u64) -> u64 {
    if size < EXACT {
        return size;
    }
    let shift = u64::BITS - size.leading_zeros() - LEADING_BITS;
    size >> shift << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sizes: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        sizes.into_iter().for_each(|size| histogram.add(size));
        histogram
    }

    #[test]
    fn quantiles_are_those_of_sorted_sizes() {
        let histogram = of(1..=100);
        assert_eq!([0.0, 0.5, 0.9, 0.99, 1.0].map(|share| histogram.quantile(share)), [1, 50, 90, 99, 100]);
        let large = of([1_000_000]);
        assert!(large.quantile(0.5).abs_diff(1_000_000) < 1_000_000 / 64);
        assert_eq!((of([]).quantile(0.5), of([]).summary()), (0, None));
    }

    #[test]
    fn distances_are_the_largest_gap() {
        assert!(of([1, 2, 3, 4]).distance(&of([1, 2, 3, 4])).abs() < 1e-12);
        assert!((of([1, 2, 3, 4]).distance(&of([3, 4, 5, 6])) - 0.5).abs() < 1e-12);
        assert!((of([1]).distance(&of([2])) - 1.0).abs() < 1e-12);
    }
}
