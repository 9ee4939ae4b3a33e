//! Zipf's law over exactly the keys there are: the key of rank r has a share proportional to r^−θ, and the
//! ranks are scattered over the keys by a bijection.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::distribution::{KeyDistribution, KeySampler, Scope};
use super::permuted::{Permuted, Ranks};
use super::zipf::{GrowingZipf, check_theta, harmonic};
use crate::random::Random;

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::new::<Zipfian>(
    "zipfian",
    "a true Zipf law over exactly the keys there are, popular keys scattered",
    "# The exponent: 0 is uniform, 0.99 is what YCSB aims at, above 1 a handful of keys takes most.\ntheta = 0.99\n",
);

struct Zipfian {
    theta: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    theta: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { theta: 0.99 }
    }
}

impl Build<dyn KeyDistribution> for Zipfian {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn KeyDistribution>, String> {
        check_theta(params.theta)?;
        Ok(Box::new(Self { theta: params.theta }))
    }
}

impl KeyDistribution for Zipfian {
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler> {
        Box::new(Permuted::new(GrowingZipf::new(self.theta), scope))
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        Some(harmonic(hottest, self.theta) / harmonic(keys, self.theta))
    }
}

impl Ranks for GrowingZipf {
    fn resize(&mut self, ranks: u64, room: u64) {
        GrowingZipf::resize(self, ranks, room);
    }

    #[inline]
    fn draw(&self, random: &mut Random) -> u64 {
        GrowingZipf::draw(self, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of a sum over all ranks: at a million keys and θ = 0.99 the hottest key takes 6.5 %, the
    /// hottest 1 % take 66.4 %, the hottest 10 % take 83.0 %.
    #[test]
    fn the_skew_is_that_of_the_exact_sums() {
        let zipfian = Zipfian { theta: 0.99 };
        let share = |keys, hottest| zipfian.share(keys, hottest).unwrap();
        for (keys, hottest, expected) in [
            (1_000, 1, 0.129),
            (1_000, 10, 0.382),
            (10_000, 100, 0.518),
            (100_000, 1_000, 0.605),
            (1_000_000, 1, 0.065),
            (1_000_000, 10_000, 0.664),
            (1_000_000, 100_000, 0.830),
        ] {
            assert!(
                (share(keys, hottest) - expected).abs() < 6e-4,
                "{keys} {hottest}: {}",
                share(keys, hottest)
            );
        }
    }
}
