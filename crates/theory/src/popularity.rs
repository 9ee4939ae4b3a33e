//! The popularity of items, most popular first. An item is a key that a key distribution draws, or a block that
//! contains such keys.

use types::avalanche;

/// The number of most popular items that are stored one by one. Less popular items are stored as classes of items with
/// about equal popularity.
const HEAD: u64 = 64;
/// The divisor that determines the size of classes: a class that starts at popularity rank `first` has `first / GROWTH`
/// items.
const GROWTH: u64 = 16;
/// The maximum number of keys for which the popularity of blocks is computed key by key.
const MOST_DEALT: u64 = 1 << 22;
/// The relative difference in popularity below which two blocks belong to one class of equally popular blocks.
const ALIKE: f64 = 1e-3;
/// The seed that places popular keys at random positions. With another seed, results differ only by the noise of a few
/// hot keys.
const SEED: u64 = 0x1e35_a7bd_0f32_11a5;

/// The positions of popular keys in the key order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopularKeyOrder {
    /// Popular keys are at random positions, so a block contains random keys.
    Scattered,
    /// Popular keys are next to each other, in the order of their popularity.
    Together,
}

/// The popularity of items, as classes of items that are requested equally often, most popular first.
#[derive(Clone, Debug, PartialEq)]
pub struct Popularity {
    classes: Vec<Class>,
}

/// A class of items that are requested equally often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Class {
    pub(crate) share: f64,
    pub(crate) count: f64,
}

impl Popularity {
    /// Returns the popularity ranks that [`of_keys`](Self::of_keys) needs for a distribution of `keys` keys, where the
    /// most popular key has rank 1. For each rank, the caller computes the fraction of requests for all keys up to this
    /// rank.
    pub fn ranks(keys: u64) -> Vec<u64> {
        let mut ranks: Vec<u64> = (1..=keys.min(HEAD)).collect();
        let mut last = HEAD;
        while last < keys {
            last = (last + (last / GROWTH).max(1)).min(keys);
            ranks.push(last);
        }
        ranks
    }

    /// Returns the popularity of keys. The hottest `ranks[i]` keys together get the fraction `shares[i]` of the
    /// requests. The ranks must increase, and the last rank is the number of keys.
    pub fn of_keys(ranks: &[u64], shares: &[f64]) -> Self {
        let (mut before, mut sum) = (0, 0.0);
        let classes = ranks.iter().zip(shares).map(|(rank, share)| {
            let (count, mass) = ((rank - before) as f64, (share - sum).max(0.0));
            (before, sum) = (*rank, share.max(sum));
            Class { share: mass / count, count }
        });
        Self { classes: classes.collect() }
    }

    /// Returns the popularity of `count` items that are requested equally often.
    pub fn even(count: f64) -> Self {
        Self { classes: vec![Class { share: 1.0 / count, count }] }
    }

    /// Returns the popularity of data blocks, where `self` is the popularity of the keys. Each block contains
    /// `keys_per_block` keys, and `standing` is the order of popular keys. Returns `None` for more than 4,194,304 keys,
    /// because the function visits each key. This limit does not apply if all keys are equally popular, or if each
    /// block has at most one key.
    pub fn of_blocks(&self, keys_per_block: f64, standing: PopularKeyOrder) -> Option<Self> {
        let keys = self.len();
        if keys_per_block <= 1.0 {
            return Some(self.clone());
        }
        let blocks = ((keys / keys_per_block).round() as usize).max(1);
        let is_even = self.classes.windows(2).all(|pair| pair[0].share <= pair[1].share * (1.0 + 1e-9));
        if is_even {
            return Some(Self::even(blocks as f64));
        }
        if keys > MOST_DEALT as f64 {
            return None;
        }
        let mut shares = vec![0.0; blocks];
        let places = places(keys as usize, standing);
        for (place, share) in places.into_iter().zip(self.by_rank()) {
            shares[(f64::from(place) / keys * blocks as f64) as usize] += share;
        }
        Some(Self::of_shares(shares))
    }

    /// Groups items into classes of about equal popularity. `shares` contains the fraction of requests of each item, in
    /// any order.
    fn of_shares(mut shares: Vec<f64>) -> Self {
        shares.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut classes: Vec<Class> = Vec::new();
        let mut first = f64::INFINITY;
        for share in shares {
            if let Some(class) = classes.last_mut().filter(|_| share >= first * (1.0 - ALIKE)) {
                class.share = (class.share * class.count + share) / (class.count + 1.0);
                class.count += 1.0;
            } else {
                first = share;
                classes.push(Class { share, count: 1.0 });
            }
        }
        Self { classes }
    }

    /// Returns the number of items, which are keys or blocks.
    pub fn len(&self) -> f64 {
        self.classes.iter().map(|class| class.count).sum()
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Returns the fraction of requests that go to the `held` most popular items. This fraction is the hit rate of a
    /// cache that always contains these items. If requests are drawn independently, no cache without knowledge of the
    /// future has a higher hit rate in the long run (Aven, Coffman, Kogan, *Stochastic Analysis of Computer Storage*,
    /// 1987, theorem on A₀; LFU converges to this hit rate).
    pub fn best_static_share(&self, held: f64) -> f64 {
        let mut left = held.max(0.0);
        let parts = self.classes.iter().map(|class| {
            let taken = class.count.min(left);
            left -= taken;
            taken * class.share
        });
        parts.sum::<f64>().min(1.0)
    }

    /// Returns the expected number of distinct items in n = `requests` requests: Σ 1 − e^(−p·n).
    pub fn distinct(&self, requests: f64) -> f64 {
        self.sum(|share| -(-share * requests).exp_m1())
    }

    /// Returns the sum of `term(p)` over all items, where p is the fraction of requests that request the item.
    pub(crate) fn sum(&self, term: impl Fn(f64) -> f64) -> f64 {
        self.classes.iter().map(|class| class.count * term(class.share)).sum()
    }

    fn by_rank(&self) -> impl Iterator<Item = f64> {
        self.classes.iter().flat_map(|class| std::iter::repeat_n(class.share, class.count as usize))
    }
}

/// Returns the position of each key in the key order, from the most popular key on.
fn places(keys: usize, standing: PopularKeyOrder) -> Vec<u32> {
    let mut places: Vec<u32> = (0..keys as u32).collect();
    if standing == PopularKeyOrder::Scattered {
        let mut state = SEED;
        for at in (1..keys).rev() {
            let other = (u128::from(split_mix(&mut state)) * (at as u128 + 1)) >> 64;
            places.swap(at, other as usize);
        }
    }
    places
}

/// Returns a pseudo-random number (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    avalanche(*state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zipf(keys: u64, theta: f64) -> Popularity {
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=keys)
            .map(|rank| {
                sum += (rank as f64).powf(-theta);
                sum
            })
            .collect();
        let ranks = Popularity::ranks(keys);
        let shares: Vec<f64> = ranks.iter().map(|rank| sums[*rank as usize - 1] / sum).collect();
        Popularity::of_keys(&ranks, &shares)
    }

    #[test]
    fn shares_sum_to_one_and_fall() {
        for keys in [1, 63, 64, 65, 1000, 123_457] {
            let popularity = zipf(keys, 0.99);
            assert!((popularity.len() - keys as f64).abs() < 1e-6);
            assert!((popularity.sum(|share| share) - 1.0).abs() < 1e-9, "{keys}");
            assert!(popularity.classes.windows(2).all(|pair| pair[0].share >= pair[1].share));
            for standing in [PopularKeyOrder::Scattered, PopularKeyOrder::Together] {
                let blocks = popularity.of_blocks(10.0, standing).unwrap();
                assert!((blocks.sum(|share| share) - 1.0).abs() < 1e-9);
                assert!((blocks.len() - (keys as f64 / 10.0).round().max(1.0)).abs() < 1e-6);
            }
        }
    }

    /// Rule: the hit rates equal the exact sums for a Zipf distribution with exponent 0.99 over a million keys.
    #[test]
    fn the_best_static_set_is_that_of_the_exact_sums() {
        let popularity = zipf(1_000_000, 0.99);
        for (part, expected) in [(0.01, 0.664), (0.2, 0.881), (1.0, 1.0)] {
            let share = popularity.best_static_share(part * 1e6);
            assert!((share - expected).abs() < 1e-3, "{part}: {share}");
        }
        assert!(popularity.best_static_share(0.0).abs() < 1e-12);
    }

    #[test]
    fn popular_keys_that_stand_together_fill_few_blocks() {
        let keys = zipf(100_000, 0.99);
        let [scattered, together] = [PopularKeyOrder::Scattered, PopularKeyOrder::Together]
            .map(|standing| keys.of_blocks(32.0, standing).unwrap().best_static_share(312.0));
        assert!(together > 0.75 && scattered < 0.6, "{together} {scattered}");
        assert!((together - keys.best_static_share(10_000.0)).abs() < 0.01, "{together}");
        assert_eq!(
            Popularity::even(6400.0).of_blocks(64.0, PopularKeyOrder::Scattered).unwrap(),
            Popularity::even(100.0)
        );
        assert!(zipf(MOST_DEALT + 1, 0.99).of_blocks(10.0, PopularKeyOrder::Scattered).is_none());
    }
}
