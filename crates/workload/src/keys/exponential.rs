//! The exponential distribution over the age of keys, as in YCSB's `ExponentialGenerator`. The newest keys are
//! accessed most frequently.

use catalog::{Build, Variant};
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};

use super::distribution::{KeyDistribution, KeySampler, PopularKeys, Scope};
use crate::random::Random;

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::new::<Exponential>(
    "exponential",
    "an exponential distribution over the age of keys, so that newer keys are accessed more often",
    "# Percentage of all accesses that go to the newest keys. `frac` is the share of these newest keys.
percentile = 95.0
# Share of the keys, counted from the newest key, that receive `percentile` percent of the accesses.
frac = 0.8571428571
",
);

struct Exponential {
    /// The mean age of an accessed key, as a fraction of the number of keys.
    mean: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    percentile: f64,
    frac: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { percentile: 95.0, frac: 0.857_142_857_1 }
    }
}

impl Build<dyn KeyDistribution> for Exponential {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn KeyDistribution>, String> {
        if !(params.percentile > 0.0 && params.percentile < 100.0) {
            return Err(format!("percentile is {}; it must be between 0 and 100", params.percentile));
        }
        if !(params.frac > 0.0 && params.frac.is_finite()) {
            return Err(format!("frac is {}; it must be above 0, as a fraction of all keys", params.frac));
        }
        let mean = -params.frac / (1.0 - params.percentile / 100.0).ln();
        // With a larger mean, nearly every draw would be an age that no key has.
        if mean > 100.0 {
            return Err(
                "the mean age that `frac` and `percentile` give is more than 100 times the number of keys, so the \
                 distribution is nearly uniform; lower `frac`, or use \"uniform\""
                    .to_owned(),
            );
        }
        Ok(Box::new(Self { mean }))
    }
}

impl KeyDistribution for Exponential {
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler> {
        Box::new(Sampler { mean: self.mean * scope.keys.max(1) as f64 })
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        let within = |part: f64| -(-part / self.mean).exp_m1();
        Some(within(hottest as f64 / keys as f64) / within(1.0))
    }

    fn standing(&self) -> PopularKeys {
        PopularKeys::Together
    }
}

/// The sampler of one thread. As in YCSB, the mean age stays the same while keys are added: it depends on the number of
/// keys at the start of the phase. If a drawn age is larger than the age of the oldest key, the sampler draws again.
struct Sampler {
    mean: f64,
}

impl KeySampler for Sampler {
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]) {
        for key in keys {
            *key = loop {
                let draw: f64 = Exp1.sample(random.generator());
                let age = (draw * self.mean) as u64;
                if age < existing {
                    break existing - 1 - age;
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_laws_are_refused() {
        for (percentile, frac) in [(0.0, 0.5), (100.0, 0.5), (95.0, 0.0), (95.0, f64::NAN), (0.1, 1.0)] {
            assert!(Exponential::build(Params { percentile, frac }).is_err(), "{percentile} {frac}");
        }
    }

    /// Tests the default parameters: 95 % of the untruncated distribution are in the newest 85.7 % of the keys.
    #[test]
    fn the_percentile_falls_into_the_newest_part() {
        let Params { percentile, frac } = Params::default();
        let mean = -frac / (1.0 - percentile / 100.0f64).ln();
        let exponential = Exponential { mean };
        let share = exponential.share(1_000_000, 857_143).unwrap();
        let truncated = 0.95 / (1.0 - (-1.0 / mean).exp());
        assert!((share - truncated).abs() < 1e-6, "{share} {truncated}");
    }
}
