//! The mixgraph distribution. Some ranges of keys are hot, and some keys inside each range are hot. Facebook fitted
//! this model to its `ZippyDB` traffic. The benchmark `mixgraph` of `RocksDB`'s `db_bench` uses this model.
//!
//! The keys are split into ranges of equal size. The popularity of range i is a·eᵇⁱ + c·eᵈⁱ, and the ranges are
//! shuffled. The position inside a range comes from the power law y = a·xᵇ. The inverse of this function is computed
//! for a uniform random number, rounded up, and hashed to a position in the range. This implementation differs from
//! `db_bench` in two points. `db_bench` derives the kind of operation, the range, the position and the value size
//! from one random number, so each key always has the same kind of operation. This implementation draws these four
//! values independently of each other. `db_bench` hashes with a Mersenne twister. This implementation uses another
//! hash function, so the positions are different but have the same distribution.
//!
//! Source: Cao et al., "Characterizing, Modeling, and Benchmarking `RocksDB` Key-Value Workloads at Facebook", FAST
//! '20, and the options `keyrange_dist_*` and `key_dist_*` of `db_bench`.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::avalanche;

use super::distribution::{KeyDistribution, KeySampler, Scope};
use super::power::floor_of_power;
use crate::permutation::Permutation;
use crate::random::{Random, scale};

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::new::<Mixgraph>(
    "mixgraph",
    "hot key ranges with hot keys inside, with parameters that Facebook fitted to ZippyDB",
    "# Number of key ranges of equal size.
ranges = 30
# Parameter a of a·e^(b·i) + c·e^(d·i), which is the popularity of key range i.
range_a = 14.18
# Parameter b of a·e^(b·i) + c·e^(d·i), which is the popularity of key range i.
range_b = -2.917
# Parameter c of a·e^(b·i) + c·e^(d·i), which is the popularity of key range i.
range_c = 0.0164
# Parameter d of a·e^(b·i) + c·e^(d·i), which is the popularity of key range i.
range_d = -0.08082
# Parameter a of the power law a·x^b, by which keys inside a range are selected.
key_a = 0.002312
# Parameter b of the power law a·x^b, by which keys inside a range are selected.
key_b = 0.3467
",
);

struct Mixgraph(Params);

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    ranges: u32,
    range_a: f64,
    range_b: f64,
    range_c: f64,
    range_d: f64,
    key_a: f64,
    key_b: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            ranges: 30,
            range_a: 14.18,
            range_b: -2.917,
            range_c: 0.0164,
            range_d: -0.08082,
            key_a: 0.002_312,
            key_b: 0.3467,
        }
    }
}

impl Params {
    /// Returns the popularity of each key range, as the formula of the options `range_a` to `range_d` gives it. The
    /// ranges are not shuffled yet, and the popularities do not sum to 1.
    fn hotness(&self) -> Vec<f64> {
        (1..=self.ranges)
            .map(|range| {
                let x = f64::from(range);
                self.range_a * (self.range_b * x).exp() + self.range_c * (self.range_d * x).exp()
            })
            .collect()
    }
}

impl Build<dyn KeyDistribution> for Mixgraph {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn KeyDistribution>, String> {
        if !(1..=1_000_000).contains(&params.ranges) {
            return Err(format!("ranges is {}; it must be between 1 and 1000000", params.ranges));
        }
        if !(params.key_a > 0.0 && params.key_b > 0.0) {
            return Err(
                "key_a and key_b must both be above 0, because only then the power function a·x^b has an \
                 inverse"
                    .to_owned(),
            );
        }
        let hotness = params.hotness();
        if hotness.iter().any(|heat| !heat.is_finite() || *heat < 0.0) || hotness.iter().sum::<f64>() <= 0.0 {
            let message = "range_a, range_b, range_c and range_d must give every key range a finite hotness \
                           of 0 or more, and at least one key range a hotness above 0";
            return Err(message.to_owned());
        }
        Ok(Box::new(Self(params)))
    }
}

impl KeyDistribution for Mixgraph {
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler> {
        let ranges = u64::from(self.0.ranges);
        let places = Permutation::new(ranges, scope.popularity);
        let mut hotness = vec![0.0; self.0.ranges as usize];
        for (range, heat) in self.0.hotness().into_iter().enumerate() {
            hotness[places.apply(range as u64) as usize] = heat;
        }
        let total: f64 = hotness.iter().sum();
        let mut sum = 0.0;
        let cumulative = hotness
            .into_iter()
            .map(|heat| {
                sum += heat / total;
                sum
            })
            .collect();
        Box::new(Sampler { cumulative, params: self.0.clone(), popularity: scope.popularity })
    }

    fn share(&self, _: u64, _: u64) -> Option<f64> {
        None
    }
}

struct Sampler {
    /// The cumulative probabilities of the key ranges. Element i is the sum of the probabilities of the first i + 1
    /// ranges.
    cumulative: Vec<f64>,
    params: Params,
    popularity: u64,
}

impl KeySampler for Sampler {
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]) {
        let ranges = self.cumulative.len() as u64;
        for key in keys {
            let u = random.unit();
            let range = self.cumulative.partition_point(|share| *share <= u) as u64;
            let range = range.min(ranges - 1);
            // Rounded up, as in the model. If the power is an exact integer, the result is one too large. This error
            // is harmless, because the result is hashed.
            let seed = floor_of_power(1.0, random.unit() / self.params.key_a, 1.0 / self.params.key_b) + 1;
            // Ranges have equal size up to rounding. No range is empty if there are at least as many keys as ranges.
            let (first, end) = (bound(existing, range, ranges), bound(existing, range + 1, ranges));
            let place = scale(avalanche(seed ^ self.popularity), (end - first).max(1));
            *key = (first + place).min(existing - 1);
        }
    }
}

/// Returns the index of the first key of the range with the number `range`, if `existing` keys are divided into
/// `ranges` ranges.
fn bound(existing: u64, range: u64, ranges: u64) -> u64 {
    (u128::from(existing) * u128::from(range) / u128::from(ranges)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the shares of the hottest ranges against the sums of the model, with the parameters of `db_bench`'s
    /// `all_dist` run: 79 %, 5.6 %, 1.5 % …
    #[test]
    fn ranges_have_the_hotness_of_the_model() {
        const KEYS: u64 = 3_000_000;
        let scope = Scope { keys: KEYS, planned: KEYS, inserts: 0, popularity: 77, thread: 0, threads: 1 };
        let mut keys = vec![0; 300_000];
        Mixgraph(Params::default()).sampler(&scope).fill(&mut Random::new(6), KEYS, &mut keys);
        let mut shares = vec![0.0; 30];
        for key in &keys {
            shares[(key * 30 / KEYS) as usize] += 1.0 / keys.len() as f64;
        }
        shares.sort_by(|a: &f64, b| b.total_cmp(a));
        for (share, expected) in shares.iter().zip([0.791, 0.056, 0.015]) {
            assert!((share - expected).abs() < 0.004, "{shares:?}");
        }
    }

    #[test]
    fn impossible_models_are_refused() {
        for params in [
            Params { ranges: 0, ..Params::default() },
            Params { key_b: 0.0, ..Params::default() },
            Params { range_a: -100.0, ..Params::default() },
            Params { range_a: 0.0, range_c: 0.0, ..Params::default() },
            Params { range_b: f64::NAN, ..Params::default() },
        ] {
            assert!(Mixgraph::build(params).is_err());
        }
    }

    #[test]
    fn fewer_keys_than_ranges_are_no_trouble() {
        let scope = Scope { keys: 3, planned: 3, inserts: 0, popularity: 1, thread: 0, threads: 1 };
        let mut keys = vec![0; 1000];
        Mixgraph(Params::default()).sampler(&scope).fill(&mut Random::new(6), 3, &mut keys);
        assert!(keys.iter().all(|key| *key < 3));
    }
}
