//! The hit rate of a cache of so many equal blocks, where requests are drawn one by one from a law of popularity.
//!
//! A block is held if it was asked for lately, or came in lately; how late is the same for all blocks, the time t in
//! which the cache fills up once. That is the approximation of Che, Tung and Wang ("Hierarchical Web Caching
//! Systems", IEEE JSAC 20(7), 2002, section III) for LRU. Fricker, Robert and Roberts (ITC 24, 2012) show why it is
//! near from a few dozen blocks on; Martina, Garetto and Leonardi ("A unified approach to the performance analysis
//! of caching systems", INFOCOM 2014, section IV) have it for FIFO, where a block stays t from when it came in, and
//! nothing renews it.
//!
//! Time counts in requests: a block with the share p is asked for p·t times in t.

use catalog::Choice;

use crate::popularity::Popularity;

/// Rounds of bisection: more than a double has bits.
const ROUNDS: u32 = 100;

/// How a cache chooses what it gives up, where a form is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// What was not asked for longest.
    Lru,
    /// What came in first.
    Fifo,
}

impl Eviction {
    /// The rule of a cache of the catalog; `None` where no form is known.
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

    /// The share of hits among requests `from` to `to`, counted from when requests of this law began, in a cache that
    /// held so many blocks `before`, any of all: none where it was empty.
    ///
    /// From an empty cache only the first request for a block misses, Σ 1 − e^(−p·n) of n, until as many different
    /// blocks were asked for as it holds; then it misses as in the long run. Of B blocks that were in a full cache
    /// of C for other reasons, each as likely, those still help that are asked for before they go. A block that was
    /// used x blocks ago goes when x + D − x·D/B ≥ C, where D different ones were asked for since; so the next
    /// different one is a miss with the chance 1 − (C − D)/(B − D), and all of the first D together miss
    /// (B − C)·ln(B/(B − D)) times.
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

    /// The share of hits of requests that go through all `keys` keys in their order, from the first again after the
    /// last, where `keys_per_block` neighbours share a block: one pass misses each block once, which is 1 − 1/K
    /// whatever the size of the cache. Later passes find nothing, unless all blocks are held.
    pub fn hit_rate_in_turn(keys: f64, keys_per_block: f64, held: f64, requests: f64) -> f64 {
        let blocks = keys / keys_per_block;
        let passed = if held >= blocks { requests.min(keys) } else { requests };
        if requests > 0.0 { (1.0 - passed / keys_per_block / requests).max(0.0) } else { 0.0 }
    }

    /// The chance that a block is held.
    fn held(self, share: f64, time: f64) -> f64 {
        match self {
            Self::Lru => -(-share * time).exp_m1(),
            Self::Fifo => share * time / (1.0 + share * time),
        }
    }

    /// The time in which so many blocks come to be held; `None` where all there are fit.
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
