//! The uniform distribution. Every key is accessed equally often.

use catalog::Variant;

use super::distribution::{KeyDistribution, KeySampler, Scope};
use crate::random::Random;

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::plain(
    "uniform",
    "each key with the same probability, so that a cache cannot favor popular keys",
    || Box::new(Uniform),
);

/// The uniform distribution of keys. The distribution has no state, so the same type is also its sampler.
struct Uniform;

impl KeyDistribution for Uniform {
    fn sampler(&self, _: &Scope) -> Box<dyn KeySampler> {
        Box::new(Self)
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        Some(hottest as f64 / keys as f64)
    }
}

impl KeySampler for Uniform {
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]) {
        for key in keys {
            *key = random.below(existing);
        }
    }
}
