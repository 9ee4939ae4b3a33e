//! The Zipfian distribution over exactly the existing keys. The key of rank r is accessed in proportion to r^−θ.
//! Either a bijection scatters the ranks over the keys, or the ranks have the order of the keys.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::distribution::{KeyDistribution, KeySampler, PopularKeys, Scope};
use super::permuted::{InOrder, Permuted, Ranks};
use super::zipf::{GrowingZipf, check_theta, harmonic};
use crate::random::Random;

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::new::<Zipfian>(
    "zipfian",
    "an exact Zipf distribution over the existing keys, with popular keys scattered by default",
    "# Zipf exponent. 0 gives a uniform distribution, YCSB uses 0.99, and above 1 a few keys get most
# accesses.
theta = 0.99
# Whether the popular keys are adjacent, beginning at the first key. Otherwise, the popular keys are
# scattered over all keys.
contiguous = false
",
);

struct Zipfian(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    theta: f64,
    contiguous: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { theta: 0.99, contiguous: false }
    }
}

impl Build<dyn KeyDistribution> for Zipfian {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn KeyDistribution>, String> {
        check_theta(params.theta)?;
        Ok(Box::new(Self(params)))
    }
}

impl KeyDistribution for Zipfian {
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler> {
        let ranks = GrowingZipf::new(self.0.theta);
        match self.0.contiguous {
            true => Box::new(InOrder::new(ranks, scope)),
            false => Box::new(Permuted::new(ranks, scope)),
        }
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        Some(harmonic(hottest, self.0.theta) / harmonic(keys, self.0.theta))
    }

    fn standing(&self) -> PopularKeys {
        if self.0.contiguous { PopularKeys::Together } else { PopularKeys::Scattered }
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

    /// Tests the shares against sums over all ranks. With a million keys and θ = 0.99, the hottest key gets 6.5 %,
    /// the hottest 1 % get 66.4 %, and the hottest 10 % get 83.0 %.
    #[test]
    fn the_skew_is_that_of_the_exact_sums() {
        let zipfian = Zipfian(Params::default());
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

    /// Tests ranks that have the order of the keys, while keys are added. The shares must equal the shares of
    /// scattered ranks.
    #[test]
    fn contiguous_ranks_are_the_keys_themselves() {
        let zipfian = Zipfian(Params { contiguous: true, ..Params::default() });
        let scope = Scope { keys: 1000, planned: 2000, inserts: 0, popularity: 7, thread: 0, threads: 1 };
        let mut sampler = zipfian.sampler(&scope);
        for existing in [1000, 1500, 2000] {
            let mut keys = vec![0; 100_000];
            sampler.fill(&mut Random::new(3), existing, &mut keys);
            for hottest in [1, 10, 100] {
                let drawn = keys.iter().filter(|key| **key < hottest).count() as f64 / keys.len() as f64;
                let expected = zipfian.share(existing, hottest).unwrap();
                assert!((drawn - expected).abs() < 0.006, "{existing} {hottest}: {drawn} {expected}");
            }
            assert!(
                keys.iter().any(|key| *key > existing * 9 / 10) && keys.iter().all(|key| *key < existing)
            );
        }
    }
}
