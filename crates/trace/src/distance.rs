//! The distances between a trace and its fitted workload, one per distribution.

use serde::Serialize;

use crate::histogram::Histogram;
use crate::statistics::{Statistics, capacities};

/// How much a workload that was fitted to a trace differs from the trace. Each value is a distance from 0 (equal) to 1,
/// except for the two Zipf exponents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distances {
    /// The difference between the mixes of operations (total variation distance).
    pub mix: f64,
    /// The difference between the distributions of key sizes (Kolmogorov-Smirnov distance).
    pub key_sizes: f64,
    /// The difference between the distributions of value sizes (Kolmogorov-Smirnov distance). `None` if the trace has
    /// no value sizes.
    pub value_sizes: Option<f64>,
    /// The difference between the distributions of scan lengths in entries (Kolmogorov-Smirnov distance). `None` if the
    /// trace has no scans.
    pub scan_entries: Option<f64>,
    /// The largest difference between the trace and the fitted workload in the fraction of accesses to the hottest
    /// keys, over many numbers of hottest keys.
    pub popularity: f64,
    /// The largest difference between the trace and the fitted workload in the miss ratio of an LRU cache, over many
    /// cache capacities.
    pub lru: f64,
    /// The exponent of the Zipf distribution that fits the accesses of the trace best.
    pub theta: f64,
    /// The exponent of the Zipf distribution that fits the accesses of the fitted workload best. The trace has the
    /// exponent `theta`.
    pub twin_theta: f64,
}

impl Distances {
    /// Computes the distances between a trace and its fitted workload. The histograms contain the value sizes and the
    /// scan lengths of the fitted workload.
    pub(crate) fn of(
        trace: &Statistics,
        twin: &Statistics,
        value_sizes: &Histogram,
        scan_entries: &Histogram,
    ) -> Self {
        let pairs = trace.shares().into_iter().zip(twin.shares());
        let capacities = capacities(trace.reuse.distinct());
        let (here, there) = (trace.reuse.miss_ratios(&capacities), twin.reuse.miss_ratios(&capacities));
        let ratios = here.iter().zip(there).map(|(a, b)| (a - b).abs());
        let sizes = |of: &Histogram, twin: &Histogram| (of.total() > 0).then(|| of.distance(twin));
        let (ranking, twin_ranking) = (trace.ranking(), twin.ranking());
        Self {
            mix: pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0,
            key_sizes: trace.key_sizes.distance(&twin.key_sizes),
            value_sizes: sizes(&trace.value_sizes, value_sizes),
            scan_entries: sizes(&trace.scan_entries, scan_entries),
            popularity: ranking.distance(&twin_ranking),
            lru: ratios.fold(0.0, f64::max),
            theta: ranking.theta(),
            twin_theta: twin_ranking.theta(),
        }
    }

    /// Returns one sentence for each distance between the trace and the fitted workload.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![
            format!("mix: total variation distance {:.4}", self.mix),
            format!("key sizes: Kolmogorov-Smirnov distance {:.4}", self.key_sizes),
        ];
        let sizes = [("value sizes", self.value_sizes), ("scan lengths", self.scan_entries)];
        for (name, distance) in sizes.into_iter().filter_map(|(name, distance)| Some((name, distance?))) {
            sentences.push(format!("{name}: Kolmogorov-Smirnov distance {distance:.4}"));
        }
        sentences.push(format!(
            "popularity: the shares of accesses to the hottest keys differ by at most {:.4}; the Zipf \
             exponent is {:.3} in the trace and {:.3} in the workload",
            self.popularity, self.theta, self.twin_theta
        ));
        sentences.push(format!(
            "LRU: the miss ratios of caches with equal capacity differ by at most {:.4}",
            self.lru
        ));
        sentences
    }
}
