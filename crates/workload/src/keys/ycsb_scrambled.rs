//! An exact copy of YCSB's `ScrambledZipfianGenerator`. The generator draws one of 10¹⁰ items with Gray's approximate
//! Zipfian distribution, and hashes the item to one of the keys.
//!
//! The distribution of the keys is not Zipfian, because many rare items are hashed to each key. With a million keys,
//! the hottest 1 % of the keys get 40 % of the accesses. In the exact Zipfian distribution, `zipfian`, the hottest 1
//! % of the keys get 66 %. Use this distribution to compare with published YCSB results. The items are hashed to the
//! planned number of keys. A draw of a key that does not exist yet is repeated. `ycsb-core` hashes the items to the
//! number of keys that YCSB's `CoreWorkload` expects.
//!
//! Sources: Gray et al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD '94; YCSB's
//! `ScrambledZipfianGenerator`, `ZipfianGenerator` and `Utils.fnvhash64`.

use catalog::Variant;

use super::distribution::{KeyDistribution, KeySampler, Scope};
use super::power::floor_of_power;
use crate::fnv::fnv1a_abs;
use crate::random::Random;

pub(crate) const VARIANT: Variant<dyn KeyDistribution> = Variant::plain(
    "ycsb-scrambled",
    "YCSB's scrambled Zipfian distribution, bit for bit; much less skewed than a true Zipf distribution",
    || Box::new(YcsbScrambled),
);

/// Number of items from which the generator draws before it hashes the item to a key. YCSB counts the items from 0 to
/// 10¹⁰ inclusive.
const ITEMS: f64 = 10_000_000_001.0;
/// Exponent θ of the Zipfian distribution from which the generator draws its items.
const THETA: f64 = 0.99;
/// YCSB's constant for the sum of i^−θ over all 10¹⁰ items.
const ZETA: f64 = 26.469_028_201_783_02;

struct YcsbScrambled;

impl KeyDistribution for YcsbScrambled {
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler> {
        let room = scope.room(scope.keys.max(1));
        Box::new(Sampler { gray: Gray::new(), room, scope: *scope })
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        self.shares(keys, &[hottest])?.pop()
    }

    /// Computes the shares of the most popular keys. The function hashes each of the first `keys` items to its key. All
    /// further items are rare, and the function counts them as evenly distributed over the keys.
    fn shares(&self, keys: u64, hottest: &[u64]) -> Option<Vec<f64>> {
        const MOST_KEYS: u64 = 10_000_000;
        if keys > MOST_KEYS {
            return None;
        }
        let mut shares = Gray::new().key_shares(keys);
        let most = hottest.iter().map(|hottest| *hottest as usize).max().unwrap_or(0).min(shares.len());
        if most < shares.len() {
            shares.select_nth_unstable_by(most.saturating_sub(1), |a, b| b.total_cmp(a));
        }
        if hottest.len() > 1 {
            shares[..most].sort_unstable_by(|a, b| b.total_cmp(a));
        }
        let (mut sum, mut summed) = (0.0, 0);
        let sums = hottest.iter().map(|hottest| {
            let end = (*hottest as usize).min(most).max(summed);
            sum += shares[summed..end].iter().sum::<f64>();
            summed = end;
            sum
        });
        Some(sums.collect())
    }
}

struct Sampler {
    gray: Gray,
    room: u64,
    scope: Scope,
}

impl KeySampler for Sampler {
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]) {
        if existing > self.room {
            self.room = self.scope.room(existing);
        }
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

/// Gray's method to draw an item of a Zipfian distribution from one uniform random number, without a table. The
/// probabilities of the first two items are exact, and those of all further items are close.
pub(super) struct Gray {
    eta: f64,
    alpha: f64,
    second: f64,
}

impl Gray {
    /// Creates Gray's method for the number of items and the exponent that YCSB uses.
    pub(super) fn new() -> Self {
        let second = 1.0 + 0.5f64.powf(THETA);
        let zeta_of_two = 1.0 + 1.0 / 2f64.powf(THETA);
        let eta = (1.0 - (2.0 / ITEMS).powf(1.0 - THETA)) / (1.0 - zeta_of_two / ZETA);
        Self { eta, alpha: 1.0 / (1.0 - THETA), second }
    }

    /// Draws an item, and returns the index of the key to which the item is hashed. The index is below `room`.
    #[inline]
    pub(super) fn place(&self, random: &mut Random, room: u64) -> u64 {
        fnv1a_abs(self.item(random.unit())) % room
    }

    #[inline]
    fn item(&self, u: f64) -> u64 {
        let uz = u * ZETA;
        if uz < 1.0 {
            0
        } else if uz < self.second {
            1
        } else {
            floor_of_power(ITEMS, self.eta * u - self.eta + 1.0, self.alpha)
        }
    }

    /// Returns the smallest uniform random number from which Gray's method computes `item` or a later item.
    fn edge(&self, item: u64) -> f64 {
        match item {
            0 => 0.0,
            1 => 1.0 / ZETA,
            _ => {
                let power = (item as f64 / ITEMS).powf(1.0 / self.alpha);
                ((power - 1.0) / self.eta + 1.0).max(self.second / ZETA)
            }
        }
    }

    /// Returns the share of accesses of each of `keys` keys. The first `keys` items count for the key to which they are
    /// hashed. The accesses of all further items are divided evenly between the keys.
    pub(super) fn key_shares(&self, keys: u64) -> Vec<f64> {
        let rest = 1.0 - self.edge(keys);
        let mut shares = vec![rest / keys as f64; keys as usize];
        let mut edge = 0.0;
        for item in 0..keys {
            let next = self.edge(item + 1);
            shares[(fnv1a_abs(item) % keys) as usize] += next - edge;
            edge = next;
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second implementation of the generator, for the test. This implementation follows the Java code statement by
    /// statement, and uses no code of the tested implementation.
    struct Literal {
        items: i64,
        zetan: f64,
        theta: f64,
        alpha: f64,
        eta: f64,
        itemcount: i64,
    }

    impl Literal {
        fn new(min: i64, max: i64) -> Self {
            let theta = 0.99;
            let items = 10_000_000_000_i64 + 1;
            let zetan = 26.469_028_201_783_02;
            let zeta2theta = (0..2).fold(0.0, |sum, i| sum + 1.0 / f64::powf(f64::from(i + 1), theta));
            let alpha = 1.0 / (1.0 - theta);
            let eta = (1.0 - f64::powf(2.0 / items as f64, 1.0 - theta)) / (1.0 - zeta2theta / zetan);
            Self { items, zetan, theta, alpha, eta, itemcount: max - min + 1 }
        }

        fn next_value(&self, next_long: u64) -> i64 {
            let u = (next_long >> 11) as f64 * f64::from_bits(0x3CA0_0000_0000_0000);
            let uz = u * self.zetan;
            let ret = if uz < 1.0 {
                0
            } else if uz < 1.0 + f64::powf(0.5, self.theta) {
                1
            } else {
                (self.items as f64 * f64::powf(self.eta * u - self.eta + 1.0, self.alpha)) as i64
            };
            let mut val = ret;
            let mut hashval = 0xCBF2_9CE4_8422_2325_u64.cast_signed();
            for _ in 0..8 {
                let octet = val & 0x00ff;
                val >>= 8;
                hashval ^= octet;
                hashval = hashval.wrapping_mul(1_099_511_628_211);
            }
            hashval.abs() % self.itemcount
        }
    }

    #[test]
    fn it_is_ycsb_bit_for_bit() {
        for keys in [1u32, 2, 1000, 1_000_000, 999_999_937] {
            let existing = u64::from(keys);
            let scope =
                Scope { keys: existing, planned: existing, inserts: 0, popularity: 5, thread: 0, threads: 1 };
            let mut sampler = YcsbScrambled.sampler(&scope);
            let literal = Literal::new(0, i64::from(keys) - 1);
            let mut drawn = vec![0; 20_000];
            sampler.fill(&mut Random::new(3), existing, &mut drawn);
            let mut same = Random::new(3);
            for key in drawn {
                assert_eq!(key.cast_signed(), literal.next_value(same.bits()));
            }
        }
    }

    /// Tests the published skew. Publications sum Zipfian weights over the items. With Gray's inversion, the items
    /// after the second get up to half a percentage point more.
    #[test]
    fn the_skew_is_the_published_one() {
        for (keys, hottest, expected) in [
            (1_000, 1, 0.0385),
            (1_000, 10, 0.123),
            (10_000, 100, 0.208),
            (100_000, 1_000, 0.299),
            (1_000_000, 1, 0.0378),
            (1_000_000, 10_000, 0.393),
            (1_000_000, 100_000, 0.538),
        ] {
            let share = YcsbScrambled.share(keys, hottest).unwrap();
            assert!((share - expected).abs() < 0.009, "{keys} {hottest}: {share}");
        }
    }

    /// Tests that the most popular keys get their announced shares of the draws.
    #[test]
    fn the_realised_skew_is_the_announced_one() {
        const KEYS: u64 = 1_000_000;
        let scope = Scope { keys: KEYS, planned: KEYS, inserts: 0, popularity: 0, thread: 0, threads: 1 };
        let mut drawn = vec![0; 4_000_000];
        YcsbScrambled.sampler(&scope).fill(&mut Random::new(8), KEYS, &mut drawn);
        let shares = Gray::new().key_shares(KEYS);
        let mut order: Vec<u32> = (0..KEYS as u32).collect();
        order.sort_by(|a, b| shares[*b as usize].total_cmp(&shares[*a as usize]));
        let mut rank = vec![0u32; KEYS as usize];
        for (place, key) in order.iter().enumerate() {
            rank[*key as usize] = place as u32;
        }
        for hottest in [1, 10_000, 100_000] {
            let hits = drawn.iter().filter(|key| u64::from(rank[**key as usize]) < hottest).count();
            let share = hits as f64 / drawn.len() as f64;
            let announced = YcsbScrambled.share(KEYS, hottest).unwrap();
            assert!((share - announced).abs() < 1.5e-3, "hottest {hottest}: {share}, announced {announced}");
        }
    }
}
