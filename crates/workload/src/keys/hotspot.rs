//! The hotspot distribution. A small set of hot keys gets most of the accesses. All hot keys are accessed equally
//! often, and so are all other keys, as in YCSB's `HotspotIntegerGenerator`.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::distribution::{KeyDistribution, KeySampler, PopularKeys, Scope};
use super::permuted::{InOrder, Permuted, Ranks};
use crate::random::{Random, threshold};

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::new::<Hotspot>(
    "hotspot",
    "a hot set of keys, which receives a fixed share of all accesses",
    "# Share of the keys that are hot.
data = 0.2
# Share of the accesses that go to the hot keys.
accesses = 0.8
# Whether the hot keys are adjacent. Otherwise, the hot keys are scattered over all keys.
contiguous = false
",
);

struct Hotspot(Params);

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    data: f64,
    accesses: f64,
    contiguous: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { data: 0.2, accesses: 0.8, contiguous: false }
    }
}

impl Params {
    /// Returns the number of hot keys if `keys` keys exist: the share `data` of the keys, rounded to a whole number,
    /// but at least 1.
    fn hot(&self, keys: u64) -> u64 {
        ((self.data * keys as f64).round() as u64).clamp(1, keys)
    }
}

impl Build<dyn KeyDistribution> for Hotspot {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn KeyDistribution>, String> {
        for (name, share) in [("data", params.data), ("accesses", params.accesses)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("{name} is {share}; it must be a share between 0 and 1"));
            }
        }
        if params.data == 0.0 {
            return Err("data is 0; it must be above 0, because a hot set has at least one key".to_owned());
        }
        Ok(Box::new(Self(params)))
    }
}

impl KeyDistribution for Hotspot {
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler> {
        let ranks =
            HotRanks { params: self.0.clone(), ranks: 1, hot: 1, accesses: threshold(self.0.accesses) };
        match self.0.contiguous {
            true => Box::new(InOrder::new(ranks, scope)),
            false => Box::new(Permuted::new(ranks, scope)),
        }
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        let hot = self.0.hot(keys);
        if hot == keys {
            return Some(hottest as f64 / keys as f64);
        }
        let (per_hot, per_cold) =
            (self.0.accesses / hot as f64, (1.0 - self.0.accesses) / (keys - hot) as f64);
        // If a hot key gets fewer accesses than another key, the other keys are the more popular keys.
        let (first, many, then) =
            if per_hot >= per_cold { (per_hot, hot, per_cold) } else { (per_cold, keys - hot, per_hot) };
        let inside = hottest.min(many);
        Some(first * inside as f64 + then * (hottest - inside) as f64)
    }

    fn standing(&self) -> PopularKeys {
        if self.0.contiguous { PopularKeys::Together } else { PopularKeys::Scattered }
    }
}

/// The hotspot distribution over popularity ranks. The hot keys have the first ranks.
struct HotRanks {
    params: Params,
    ranks: u64,
    hot: u64,
    accesses: u64,
}

impl Ranks for HotRanks {
    fn resize(&mut self, ranks: u64, _: u64) {
        self.ranks = ranks;
        self.hot = self.params.hot(ranks);
    }

    fn draw(&self, random: &mut Random) -> u64 {
        let (choice, place) = (random.bits(), random.bits());
        if choice <= self.accesses || self.hot == self.ranks {
            crate::random::scale(place, self.hot)
        } else {
            self.hot + crate::random::scale(place, self.ranks - self.hot)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_shares_are_refused() {
        for params in [
            Params { data: 0.0, ..Params::default() },
            Params { data: 1.1, ..Params::default() },
            Params { accesses: -0.1, ..Params::default() },
            Params { accesses: f64::NAN, ..Params::default() },
        ] {
            assert!(Hotspot::build(params).is_err());
        }
    }

    #[test]
    fn contiguous_hot_keys_are_the_first() {
        let hotspot = Hotspot(Params { data: 0.1, accesses: 0.9, contiguous: true });
        let scope = Scope { keys: 1000, planned: 1000, inserts: 0, popularity: 0, thread: 0, threads: 1 };
        let mut keys = vec![0; 100_000];
        hotspot.sampler(&scope).fill(&mut Random::new(2), 1000, &mut keys);
        let hot = keys.iter().filter(|key| **key < 100).count() as f64 / keys.len() as f64;
        assert!((hot - 0.9).abs() < 0.005, "{hot}");
    }
}
