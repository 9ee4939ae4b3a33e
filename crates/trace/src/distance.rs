//! The distances between a trace and its synthetic twin, one per distribution.

use serde::Serialize;

use crate::histogram::Histogram;
use crate::statistics::{Statistics, capacities};

/// The distances between two traces. All distances except those of exponents are between 0 (equal) and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distances {
    /// The total variation distance of the mixes.
    pub mix: f64,
    /// Kolmogorov-Smirnov distance between the key sizes of the trace and of the fitted workload.
    pub key_sizes: f64,
    /// The Kolmogorov-Smirnov distance of the sizes of values, if the trace has some.
    pub value_sizes: Option<f64>,
    /// Kolmogorov-Smirnov distance between the scan lengths (in entries) of the trace and of the fitted workload.
    /// `None` if the trace has no scans.
    pub scan_entries: Option<f64>,
    /// The largest difference between the shares of accesses to the most frequent keys.
    pub popularity: f64,
    /// The largest difference between the miss ratios of LRU caches of equal capacity.
    pub lru: f64,
    /// The fitted exponent of the trace.
    pub theta: f64,
    /// The fitted exponent of the twin.
    pub twin_theta: f64,
}

impl Distances {
    /// Compares a trace with its twin. The sizes of the twin are given by their distributions.
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

    /// Returns a sentence for each distance.
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
            "popularity: at most {:.4} between the shares of the most frequent keys; theta {:.3} and {:.3}",
            self.popularity, self.theta, self.twin_theta
        ));
        sentences.push(format!("LRU: at most {:.4} between the miss ratios at equal capacity", self.lru));
        sentences
    }
}
