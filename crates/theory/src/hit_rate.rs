//! The hit rate of a cache with blocks of equal size. Each request is drawn independently from a popularity
//! distribution.
//!
//! A block stays in the cache for the time t after its last request (LRU) or after its insertion (FIFO). The time t is
//! approximately equal for all blocks. In a cache with room for C blocks, t is the time in which C different blocks are
//! requested (LRU), or in which C requests miss (FIFO). In a FIFO cache, a hit does not extend the time t.
//!
//! For LRU, this is the approximation of Che, Tung and Wang ("Hierarchical Web Caching Systems", IEEE JSAC 20(7), 2002,
//! section III). Fricker, Robert and Roberts (ITC 24, 2012) show why the approximation is accurate for caches of a few
//! dozen blocks or more. The approximation for FIFO comes from Martina, Garetto and Leonardi ("A unified approach to
//! the performance analysis of caching systems", INFOCOM 2014, section IV).
//!
//! The unit of time is one request. A block with the fraction p of all requests is requested p·t times during the time
//! t.

use catalog::Choice;

use crate::popularity::Popularity;

/// The number of bisection steps that compute the time t, which is enough for the full precision of a double.
const ROUNDS: u32 = 100;

/// The eviction policies of caches with a known closed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// Evicts the least recently used block.
    Lru,
    /// Evicts the block that was inserted earliest.
    Fifo,
}

impl Eviction {
    /// Returns the eviction policy of a cache choice, such as `lru`. Returns `None` if the cache has no closed form.
    pub fn of(cache: &Choice) -> Option<Self> {
        match cache.kind() {
            "lru" | "string-lru" => Some(Self::Lru),
            "fifo" => Some(Self::Fifo),
            _ => None,
        }
    }

    /// Returns the long-run hit rate of a cache with room for `held` blocks, if requests have the given popularity.
    pub fn hit_rate(self, popularity: &Popularity, held: f64) -> f64 {
        match self.time(popularity, held) {
            Some(time) => popularity.sum(|share| share * self.held(share, time)),
            None => 1.0,
        }
    }

    /// Returns the hit rate of the requests from number `from` to number `to`, counted from the first request with this
    /// popularity. Before the first request, the cache contains `before` blocks, and each block is equally likely to be
    /// one of them.
    pub fn hit_rate_between(
        self,
        popularity: &Popularity,
        held: f64,
        before: f64,
        (from, to): (f64, f64),
    ) -> f64 {
        // * **Empty cache.** Only the first request for a block misses, which gives Σ 1 − e^(−p·n) misses in n
        //   requests. This formula applies until the number of distinct requested blocks reaches the capacity. After
        //   that, the cache misses at its long-run rate.
        // * **Full cache.** The cache initially contains C arbitrary blocks, which are drawn from B blocks with equal
        //   probability. A request for such a block is a hit until the block is evicted. Let D be the number of
        //   distinct blocks that were requested so far. A block that was used x blocks before the start is evicted when
        //   x + D − x·D/B ≥ C. The next distinct block is therefore a miss with probability 1 − (C − D)/(B − D), and
        //   the first D distinct blocks together cause (B − C)·ln(B/(B − D)) misses.
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

    /// Returns the hit rate of requests that read all `keys` keys in order, again and again. Each block contains
    /// `keys_per_block` neighboring keys, and one pass misses each block once. The hit rate is therefore 1 −
    /// 1/`keys_per_block` for every cache size, except if the cache has room for all blocks. Then, only the first pass
    /// has misses.
    pub fn hit_rate_in_turn(keys: f64, keys_per_block: f64, held: f64, requests: f64) -> f64 {
        let blocks = keys / keys_per_block;
        let passed = if held >= blocks { requests.min(keys) } else { requests };
        if requests > 0.0 { (1.0 - passed / keys_per_block / requests).max(0.0) } else { 0.0 }
    }

    /// Returns the probability that a block with the fraction `share` of the requests is cached. `time` is the result
    /// of [`time`](Self::time) for the cache.
    fn held(self, share: f64, time: f64) -> f64 {
        match self {
            Self::Lru => -(-share * time).exp_m1(),
            Self::Fifo => share * time / (1.0 + share * time),
        }
    }

    /// Returns the time for which a block stays in a cache of `held` blocks after its last request (LRU) or its
    /// insertion (FIFO), in requests. Returns `None` if the cache has room for all requested blocks.
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
