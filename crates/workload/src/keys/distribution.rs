//! The traits of key distributions. A key distribution converts random numbers to key indexes.

use crate::random::Random;

/// Distribution from which the threads of a phase draw their keys.
///
/// Invariant: the samplers draw popular keys with the frequency that [`share`](Self::share) returns, up to sampling
/// error.
pub trait KeyDistribution: Send + Sync {
    /// Returns a sampler that draws the keys of one thread of a phase.
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler>;

    /// Returns the fraction of accesses that go to the `hottest` most popular keys, if `keys` keys exist and the phase
    /// adds no keys. Returns `None` if no formula can compute the fraction.
    ///
    /// `hottest` is at least 1 and at most `keys`.
    fn share(&self, keys: u64, hottest: u64) -> Option<f64>;

    /// Returns the result of [`share`](Self::share) for each element of `hottest`, which must be in ascending order.
    fn shares(&self, keys: u64, hottest: &[u64]) -> Option<Vec<f64>> {
        hottest.iter().map(|hottest| self.share(keys, *hottest)).collect()
    }

    /// Returns where the popular keys are among all keys: scattered, adjacent, or nowhere because no key is popular.
    fn standing(&self) -> PopularKeys {
        PopularKeys::Scattered
    }
}

/// Where the popular keys are among all keys, in the order of indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopularKeys {
    /// The popular keys are scattered over all indexes.
    Scattered,
    /// The popular keys have adjacent indexes.
    Together,
    /// All keys are equally popular, and are accessed one after the other.
    InTurn,
}

/// The properties of a phase and of one of its threads. The sampler of this thread needs these properties to draw keys.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// Number of existing keys at the start of the phase.
    pub keys: u64,
    /// Expected number of keys at the end of the phase, including the keys that the phase adds.
    pub planned: u64,
    /// Expected number of inserts in the phase. 0 if the phase has no inserts, or if its end is unknown.
    pub inserts: u64,
    /// Seed that determines which keys are popular. All threads and phases of a run use the same seed, so the same keys
    /// stay popular.
    pub popularity: u64,
    /// The number of the thread that uses the sampler, from 0.
    pub thread: u32,
    /// The number of threads of the phase.
    pub threads: u32,
}

/// Sampler of key indexes for one thread.
///
/// Invariants:
/// 1. Every index is below the number of existing keys.
/// 2. Equal random numbers give equal indexes.
/// 3. A call for many keys returns the same keys as several calls for fewer keys.
/// 4. Keys are added between calls, but never removed. The caller must therefore not decrease `existing`.
pub trait KeySampler: Send {
    /// Fills `keys` with the indexes of drawn keys. All drawn indexes are below `existing`, the number of existing
    /// keys, which is at least 1.
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]);
}

impl Scope {
    /// Returns the number of keys for which a sampler builds its tables: the planned number of keys, but at most twice
    /// the number of existing keys. While keys are added, larger tables last longer, but more draws select a key that
    /// does not exist yet and are repeated.
    pub(crate) fn room(&self, existing: u64) -> u64 {
        if existing < self.planned {
            self.planned.min(existing.saturating_mul(2))
        } else if self.planned > self.keys {
            existing + existing / 4 + 1
        } else {
            existing
        }
    }
}
