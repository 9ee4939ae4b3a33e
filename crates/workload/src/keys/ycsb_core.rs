//! The key distribution of YCSB's `CoreWorkload` with `requestdistribution=zipfian`. The distribution draws items
//! like `ycsb-scrambled`, and hashes each item to a key below the number of keys that `CoreWorkload` expects.
//!
//! If N keys exist and I inserts are expected, `CoreWorkload` hashes the items to N + 2 I + 1 keys. A comment in
//! `CoreWorkload` gives the reason: "the client may insert keys we didn't expect". A draw of a key that does not
//! exist is repeated. With few keys and many inserts, as in workload E at a thousand records, most draws are
//! repeated. Therefore the few popular keys that exist get many more accesses than in `ycsb-scrambled`.
//!
//! Source: `CoreWorkload.initialize` and `nextKeynum` of YCSB 0.17.

use catalog::Variant;

use super::distribution::{KeyDistribution, KeySampler, Scope};
use super::ycsb_scrambled::Gray;
use crate::random::Random;

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::plain(
    "ycsb-core",
    "Zipfian keys of YCSB's CoreWorkload: ycsb-scrambled over the existing keys and the expected inserts",
    || Box::new(YcsbCore),
);

struct YcsbCore;

/// Returns the number of keys that YCSB expects during the phase, N + 2 I + 1 for N existing keys and I inserts. The
/// generator hashes its items to these keys.
fn expected_keys(scope: &Scope) -> u64 {
    scope.keys.saturating_add(scope.inserts.saturating_mul(2)).saturating_add(1)
}

impl KeyDistribution for YcsbCore {
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler> {
        Box::new(Sampler { gray: Gray::new(), room: expected_keys(scope) })
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        self.shares(keys, &[hottest])?.pop()
    }

    /// Returns the shares of accesses of the most popular existing keys. The shares exclude draws of keys that do not
    /// exist, because the sampler repeats such draws.
    fn shares(&self, keys: u64, hottest: &[u64]) -> Option<Vec<f64>> {
        const MOST_KEYS: u64 = 10_000_000;
        if keys >= MOST_KEYS {
            return None;
        }
        let mut shares = Gray::new().key_shares(keys + 1);
        shares.truncate(keys as usize);
        let all: f64 = shares.iter().sum();
        shares.sort_unstable_by(|a, b| b.total_cmp(a));
        let sum = |hottest: &u64| shares.iter().take(*hottest as usize).sum::<f64>() / all;
        Some(hottest.iter().map(sum).collect())
    }
}

struct Sampler {
    gray: Gray,
    room: u64,
}

impl KeySampler for Sampler {
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]) {
        for key in keys {
            *key = loop {
                let place = self.gray.place(random, self.room);
                if place < existing {
                    break place;
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(keys: u64, inserts: u64) -> Vec<u64> {
        let scope = Scope { keys, planned: keys + inserts, inserts, popularity: 1, thread: 0, threads: 1 };
        let mut drawn = vec![0; 200_000];
        YcsbCore.sampler(&scope).fill(&mut Random::new(5), keys, &mut drawn);
        drawn
    }

    /// Returns the share of the most frequently drawn key.
    fn hottest(drawn: &[u64], keys: u64) -> f64 {
        let mut counts = vec![0u32; keys as usize];
        drawn.iter().for_each(|key| counts[*key as usize] += 1);
        f64::from(*counts.iter().max().unwrap()) / drawn.len() as f64
    }

    /// Compares the drawn keys with keys that the test computes from the items: the test hashes each item to one of N +
    /// 2 I + 1 keys, and keeps only existing keys.
    #[test]
    fn items_are_hashed_to_the_expected_keys() {
        let (keys, inserts) = (1000, 50);
        let mut random = Random::new(5);
        let gray = Gray::new();
        let expected = std::iter::repeat_with(|| gray.place(&mut random, 1101)).filter(|place| *place < 1000);
        assert!(draws(keys, inserts).into_iter().eq(expected.take(200_000)));
    }

    /// Tests that keys are drawn with their announced shares, and that many expected inserts concentrate the draws
    /// on few keys.
    #[test]
    fn expected_inserts_concentrate_the_draws() {
        let plain = hottest(&draws(1000, 0), 1000);
        assert!((plain - YcsbCore.share(1000, 1).unwrap()).abs() < 0.003, "{plain}");
        let crowded = hottest(&draws(1000, 5000), 1000);
        assert!(crowded > 1.3 * plain, "{crowded} and {plain}");
    }
}
