//! The normal (Gaussian) distribution over key indexes. Keys near the mean are accessed most frequently.

use catalog::{Build, Variant};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::distribution::{KeyDistribution, KeySampler, PopularKeys, Scope};
use crate::random::Random;

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::new::<Normal>(
    "normal",
    "a normal distribution of accesses around a mean position",
    "# Mean position, as a share of the number of keys.
mean = 0.5
# Standard deviation, as a share of the number of keys. A larger deviation spreads the accesses over
# more keys.
deviation = 0.1
",
);

/// Minimum fraction of draws that must select an existing key. Each other draw is repeated, so a smaller fraction would
/// make draws slow.
const LEAST_WITHIN: f64 = 0.01;

/// Minimum standard deviation, as a fraction of the keys. With a smaller deviation, rounding makes all draws near the
/// mean equal to the mean.
const LEAST_DEVIATION: f64 = 1e-12;

#[derive(Clone)]
struct Normal(Params);

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    mean: f64,
    deviation: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { mean: 0.5, deviation: 0.1 }
    }
}

impl Build<dyn KeyDistribution> for Normal {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn KeyDistribution>, String> {
        if !(0.0..=1.0).contains(&params.mean) {
            return Err(format!("mean is {}; it must be a share of the keys between 0 and 1", params.mean));
        }
        // With a smaller deviation, draws next to the mean could not be distinguished from the mean.
        if !(params.deviation >= LEAST_DEVIATION && params.deviation.is_finite()) {
            let deviation = params.deviation;
            return Err(format!(
                "deviation is {deviation}; it must be a share of the keys, at least {LEAST_DEVIATION}"
            ));
        }
        let normal = Self(params);
        if normal.within(0.0, 1.0) < LEAST_WITHIN {
            return Err("deviation is too large: less than 1 % of the draws select an existing key, so the \
                        distribution is nearly uniform; lower deviation, or use \"uniform\""
                .to_owned());
        }
        Ok(Box::new(normal))
    }
}

impl Normal {
    /// Returns the share of draws that fall between two positions, which are fractions of the key space. The share
    /// refers to all draws, including those that select no existing key.
    fn within(&self, from: f64, to: f64) -> f64 {
        let Params { mean, deviation } = self.0;
        let below = |part: f64| 0.5 * libm::erfc((mean - part) / (deviation * std::f64::consts::SQRT_2));
        below(to) - below(from)
    }
}

impl KeyDistribution for Normal {
    fn sampler(&self, _: &Scope) -> Box<dyn KeySampler> {
        Box::new(self.clone())
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        // The hottest keys are a range around the mean, which is shifted if it would exceed the key space.
        let part = hottest as f64 / keys as f64;
        let from = (self.0.mean - part / 2.0).clamp(0.0, 1.0 - part);
        Some(self.within(from, from + part) / self.within(0.0, 1.0))
    }

    fn standing(&self) -> PopularKeys {
        PopularKeys::Together
    }
}

/// Draws positions in the key space, and scales them with the number of existing keys. A draw that selects no existing
/// key is repeated.
impl KeySampler for Normal {
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]) {
        let Params { mean, deviation } = self.0;
        for key in keys {
            *key = loop {
                let draw: f64 = StandardNormal.sample(random.generator());
                let place = (mean + deviation * draw) * existing as f64;
                if place >= 0.0 && place < existing as f64 {
                    break place as u64;
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
        for (mean, deviation) in
            [(-0.1, 0.1), (1.1, 0.1), (f64::NAN, 0.1), (0.5, 0.0), (0.5, f64::INFINITY), (0.5, 1e6)]
        {
            assert!(Normal::build(Params { mean, deviation }).is_err(), "{mean} {deviation}");
        }
    }

    /// Tests that 68.27 % of the draws are at most one standard deviation away from the middle.
    #[test]
    fn two_thirds_fall_within_a_deviation() {
        let share = |mean: f64, part: f64| {
            Normal(Params { mean, deviation: 0.1 }).share(1000, (1000.0 * part) as u64).unwrap()
        };
        assert!((share(0.5, 0.2) - 0.6827).abs() < 1e-4, "{}", share(0.5, 0.2));
        assert!((share(0.0, 0.1) - 0.6827).abs() < 1e-4, "half of the law at the edge of the keys");
        assert!((share(0.3, 1.0) - 1.0).abs() < 1e-12);
    }
}
