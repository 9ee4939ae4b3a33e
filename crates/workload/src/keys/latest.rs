//! The latest distribution, which is a Zipfian distribution over the age of keys. The newest key is the most popular
//! key. Keys that the phase adds become the newest keys. Workload D of YCSB uses this distribution under the name
//! `SkewedLatestGenerator`.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::distribution::{KeyDistribution, KeySampler, PopularKeys, Scope};
use super::zipf::{GrowingZipf, check_theta, harmonic};
use crate::random::Random;

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::new::<Latest>(
    "latest",
    "a Zipf distribution over the age of keys, so that newer keys are accessed more often",
    "# Zipf exponent. A larger exponent concentrates more accesses on the newest keys.\n\
     theta = 0.99\n",
);

struct Latest {
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

impl Build<dyn KeyDistribution> for Latest {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn KeyDistribution>, String> {
        check_theta(params.theta)?;
        Ok(Box::new(Self { theta: params.theta }))
    }
}

impl KeyDistribution for Latest {
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler> {
        Box::new(Sampler { ages: GrowingZipf::new(self.theta), existing: 0, room: 0, scope: *scope })
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        Some(harmonic(hottest, self.theta) / harmonic(keys, self.theta))
    }

    fn standing(&self) -> PopularKeys {
        PopularKeys::Together
    }
}

struct Sampler {
    ages: GrowingZipf,
    existing: u64,
    room: u64,
    scope: Scope,
}

impl KeySampler for Sampler {
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]) {
        if existing > self.existing {
            if existing > self.room {
                self.room = self.scope.room(existing);
            }
            self.ages.resize(existing, self.room);
            self.existing = existing;
        }
        for key in keys {
            *key = existing - 1 - self.ages.draw(random);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that the newest key always gets the largest share, even if keys are added between draws.
    #[test]
    fn the_newest_key_leads_as_keys_are_added() {
        let latest = Latest { theta: 0.99 };
        let scope = Scope { keys: 1000, planned: 3000, inserts: 0, popularity: 0, thread: 0, threads: 1 };
        let (mut sampler, mut random) = (latest.sampler(&scope), Random::new(4));
        let (mut newest, mut draws) = (0.0, 0.0);
        for existing in 1000..3000 {
            let mut keys = [0; 100];
            sampler.fill(&mut random, existing, &mut keys);
            newest += keys.iter().filter(|key| **key == existing - 1).count() as f64;
            draws += 100.0;
        }
        let expected = latest.share(2000, 1).unwrap();
        assert!((newest / draws - expected).abs() < 0.004, "{} {expected}", newest / draws);
    }
}
