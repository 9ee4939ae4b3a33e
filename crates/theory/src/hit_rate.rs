//! The hit rate of a cache of equal blocks, where requests are drawn independently from a popularity distribution.
//!
//! A block is cached if it was requested recently (LRU), or was inserted recently (FIFO). The limit is equal for all
//! blocks: the time t in which the cache fills up once. For LRU, this is the approximation of Che, Tung and Wang
//! ("Hierarchical Web Caching Systems", IEEE JSAC 20(7), 2002, section III). Fricker, Robert and Roberts (ITC 24,
//! 2012) show why the approximation is accurate from a few dozen blocks on. Martina, Garetto and Leonardi ("A unified
//! approach to the performance analysis of caching systems", INFOCOM 2014, section IV) give the approximation for
//! FIFO. In such a cache, a block stays for the time t after its insertion, and a hit does not extend this time.
//!
//! Time is measured in requests: a block that gets the fraction p of requests is requested p·t times in t.

use catalog::Choice;

use crate::popularity::Popularity;

/// Rounds of bisection: more than the bits of a double.
const ROUNDS: u32 = 100;

/// The eviction policy of a cache, where a closed form is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// Evicts the least recently used block.
    Lru,
    /// Evicts the block that was inserted first.
    Fifo,
}

impl Eviction {
    /// The eviction policy of a cache of the catalog; `None` if there is no closed form.
    pub fn of(cache: &Choice) -> Option<Self> {
        match cache.kind() {
            "lru" | "string-lru" => Some(Self::Lru),
            "fifo" => Some(Self::Fifo),
            _ => None,
        }
    }

    /// The share of requests that hit in the long run, in a cache of `held` blocks.
    pub fn hit_rate(self, popularity: &Popularity, held: f64) -> f64 {
        match self.time(popularity, held) {
            Some(time) => popularity.sum(|share| share * self.held(share, time)),
            None => 1.0,
        }
    }

    /// The hit rate of requests `from` to `to`, counted from the first request of this distribution. At that time, the
    /// cache contained `before` arbitrary blocks, or 0 if it was empty.
    ///
    /// In an empty cache, only the first request for a block misses, Σ 1 − e^(−p·n) of n, until the number of distinct
    /// requested blocks reaches the capacity. After that, the cache misses at its long-run rate. Assume that a full
    /// cache of C blocks contains arbitrary blocks, drawn equally likely from B blocks. Arbitrary blocks that are
    /// requested before they are evicted are hits. A block that was used x blocks ago is evicted when x + D − x·D/B ≥
    /// C, where D distinct blocks were requested since. The next distinct block is therefore a miss with probability 1
    /// − (C − D)/(B − D), and the first D distinct blocks together miss (B − C)·ln(B/(B − D)) times.
    pub fn hit_rate_between(
        self,
        popularity: &Popularity,
        held: f64,
        before: f64,
        (from, to): (f64, f64),
    ) -> f64 {
        let blocks = popularity.len();
        let full = Self::Lru.time(popularity, held).unwrap_or(f64::INFINITY);
        let missed_later = 1.0 - self.hit_rate(popularity, held);
        let first_misses = |different: f64| match before >= 0.99 * held && held < blocks {
            true => (blocks - held) * (blocks / (blocks - different.min(held))).ln(),
            false => different * (1.0 - (before / blocks).min(1.0)),
        };
        let misses = |requests: f64| {
            let first = first_misses(popularity.distinct(requests.min(full)));
            first + (requests - full).max(0.0) * missed_later
        };
        if to <= from { 0.0 } else { (1.0 - (misses(to) - misses(from)) / (to - from)).max(0.0) }
    }

    /// The hit rate of requests that repeatedly read all `keys` keys in order. Each block contains `keys_per_block`
    /// neighboring keys. One pass misses each block once, so the rate is 1 − 1/K for every cache size. All later
    /// passes have the same hit rate, unless the cache has room for all blocks.
    pub fn hit_rate_in_turn(keys: f64, keys_per_block: f64, held: f64, requests: f64) -> f64 {
        let blocks = keys / keys_per_block;
        let passed = if held >= blocks { requests.min(keys) } else { requests };
        if requests > 0.0 { (1.0 - passed / keys_per_block / requests).max(0.0) } else { 0.0 }
    }

    /// The probability that a block is cached.
    fn held(self, share: f64, time: f64) -> f64 {
        match self {
            Self::Lru => -(-share * time).exp_m1(),
            Self::Fifo => share * time / (1.0 + share * time),
        }
    }

    /// The time in which `held` blocks enter the cache; `None` if all existing blocks fit.
    fn time(self, popularity: &Popularity, held: f64) -> Option<f64> {
        let asked = popularity.sum(|share| f64::from(u8::from(share > 0.0)));
        if held >= asked {
            return None;
        }
        let filled = |time: f64| popularity.sum(|share| self.held(share, time));
        let mut high = 1.0;
        while filled(high) < held {
            high *= 2.0;
        }
        let mut low = 0.0;
        for _ in 0..ROUNDS {
            let middle = f64::midpoint(low, high);
            if filled(middle) < held { low = middle } else { high = middle }
        }
        Some(f64::midpoint(low, high))
    }
}
