//! The skew of accesses to keys: the fraction of accesses to the hottest keys, and the Zipf exponent that fits best.

use crate::summary::AccessSkew;

/// The largest Zipf exponent that the fit tries.
const MOST_THETA: f64 = 5.0;

/// The number of ranks that [`expected_log`] adds one by one. It adds higher ranks in groups, because a trace can have
/// millions of keys.
const SINGLE_RANKS: u64 = 4096;

/// The numbers of accesses to all keys of a trace, sorted so that the hottest key comes first.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    /// The number of accesses to each key, largest number first.
    counts: Vec<u64>,
    total: f64,
}

impl Ranking {
    /// Creates a ranking from the number of accesses to each key, in any order.
    pub(crate) fn new(mut counts: Vec<u64>) -> Self {
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let total = counts.iter().map(|count| *count as f64).sum();
        Self { counts, total }
    }

    /// Returns the statistics of the skew of accesses. If the keys are sampled, `scale` is the number of keys that each
    /// sampled key represents. Returns `None` if there are no keys.
    pub(crate) fn summary(&self, scale: f64) -> Option<AccessSkew> {
        if self.counts.is_empty() {
            return None;
        }
        let theta = self.theta();
        let once = self.counts.iter().rev().take_while(|count| **count == 1).count();
        Some(AccessSkew {
            hottest_key: self.counts[0] as f64 / self.total / scale,
            hottest_1_percent: self.share(0.01),
            hottest_10_percent: self.share(0.1),
            once: once as f64 / self.counts.len() as f64,
            theta,
            theta_distance: self.distance_to_zipf(theta),
        })
    }

    /// Returns the fraction of accesses that go to the hottest keys. `share` is the fraction of keys that count as
    /// hottest, from 0 to 1.
    pub(crate) fn share(&self, share: f64) -> f64 {
        let keys = self.counts.len() as f64 * share;
        let whole: f64 = self.counts.iter().take(keys as usize).map(|count| *count as f64).sum();
        // If the number of hottest keys is not an integer, a fraction of the next key counts.
        let edge = self.counts.get(keys as usize).map_or(0.0, |count| *count as f64 * keys.fract());
        if self.total > 0.0 { (whole + edge) / self.total } else { 0.0 }
    }

    /// Returns the exponent of the Zipf distribution that fits these numbers of accesses best, which means with the
    /// highest likelihood.
    pub(crate) fn theta(&self) -> f64 {
        let ranks = self.counts.len() as u64;
        if ranks < 2 {
            return 0.0;
        }
        let terms = (1..).zip(&self.counts).map(|(rank, count)| *count as f64 * f64::ln(f64::from(rank)));
        let mean_log = terms.sum::<f64>() / self.total;
        // A larger exponent gives a smaller expected logarithm of the rank, so a binary search finds the exponent.
        let (mut low, mut high) = (0.0, MOST_THETA);
        for _ in 0..40 {
            let theta = (low + high) / 2.0;
            if expected_log(ranks, theta) > mean_log {
                low = theta;
            } else {
                high = theta;
            }
        }
        (low + high) / 2.0
    }

    /// Returns how much the accesses differ from a Zipf distribution with the exponent `theta`: the largest difference
    /// of the cumulative distributions (Kolmogorov-Smirnov distance).
    fn distance_to_zipf(&self, theta: f64) -> f64 {
        let weights = || (1..=self.counts.len() as u64).map(|rank| (rank as f64).powf(-theta));
        let whole: f64 = weights().sum();
        let (mut here, mut there, mut largest) = (0.0, 0.0, 0.0f64);
        for (count, weight) in self.counts.iter().zip(weights()) {
            here += *count as f64 / self.total;
            there += weight / whole;
            largest = largest.max((here - there).abs());
        }
        largest
    }

    /// Returns how much the skew of two traces differs: the largest difference in the fraction of accesses to the
    /// hottest keys, over many numbers of hottest keys.
    pub(crate) fn distance(&self, other: &Self) -> f64 {
        const PLACES: u32 = 1000;
        let places = (0..=PLACES).map(|place| f64::from(place) / f64::from(PLACES));
        // Most of the compared fractions are small, because skews differ most among the hottest keys.
        let places = places.map(|place| place.powi(4));
        places.map(|share| (self.share(share) - other.share(share)).abs()).fold(0.0, f64::max)
    }
}

/// Returns the expected logarithm of a rank that is drawn from 1 to `ranks` with a Zipf distribution. The best exponent
/// is the one for which this value equals the mean logarithm in the trace.
fn expected_log(ranks: u64, theta: f64) -> f64 {
    let (mut logs, mut weights) = (0.0, 0.0);
    let mut rank = 1;
    while rank <= ranks {
        let width = if rank <= SINGLE_RANKS { 1 } else { (rank / 64).min(ranks - rank + 1) };
        let middle = rank as f64 + (width - 1) as f64 / 2.0;
        let weight = width as f64 * middle.powf(-theta);
        logs += weight * middle.ln();
        weights += weight;
        rank += width;
    }
    logs / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_zipf_law_is_found() {
        for theta in [0.0, 0.5, 0.99, 1.3] {
            let counts = (1..=20_000u32).map(|rank| (1e9 * f64::from(rank).powf(-theta)) as u64).collect();
            let ranking = Ranking::new(counts);
            assert!((ranking.theta() - theta).abs() < 0.005, "{theta}: {}", ranking.theta());
            assert!(ranking.summary(1.0).unwrap().theta_distance < 0.005);
        }
    }

    #[test]
    fn shares_are_those_of_the_most_frequent_keys() {
        let ranking = Ranking::new(vec![1, 5, 1, 1, 2]);
        assert!((ranking.share(0.2) - 0.5).abs() < 1e-12 && (ranking.share(0.3) - 0.6).abs() < 1e-12);
        assert!((ranking.share(1.0) - 1.0).abs() < 1e-12);
        let summary = ranking.summary(1.0).unwrap();
        assert!((summary.once - 0.6).abs() < 1e-12 && (summary.hottest_key - 0.5).abs() < 1e-12);
        assert_eq!(Ranking::new(Vec::new()).summary(1.0), None);
    }
}
