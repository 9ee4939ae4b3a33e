//! The uniform distribution: every key equally often.

use catalog::Variant;

use super::distribution::{KeyDistribution, KeySampler, Scope};
use crate::random::Random;

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::plain(
    "uniform",
    "each key with equal probability, so that no keys are worth caching more than others",
    || Box::new(Uniform),
);

/// The distribution and its sampler in one type without state.
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
