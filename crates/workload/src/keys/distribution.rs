//! The traits of the key axis, which convert random numbers to key indexes.

use crate::random::Random;

/// Distribution from which the threads of a phase draw their keys.
///
/// Invariant: [`share`](Self::share) equals the frequency with which the samplers draw the keys, up to sampling
/// error.
pub trait KeyDistribution: Send + Sync {
    /// Returns the sampler of one thread of a phase.
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler>;

    /// Returns the fraction of accesses that the `hottest` most popular of `keys` keys get while no key is added.
    /// `None` if the distribution has no closed form.
    ///
    /// `hottest` is at least 1 and at most `keys`.
    fn share(&self, keys: u64, hottest: u64) -> Option<f64>;

    /// Returns [`share`](Self::share) at several ascending values of `hottest`.
    fn shares(&self, keys: u64, hottest: &[u64]) -> Option<Vec<f64>> {
        hottest.iter().map(|hottest| self.share(keys, *hottest)).collect()
    }

    /// Returns the positions of the popular keys among all keys.
    fn standing(&self) -> PopularKeys {
        PopularKeys::Scattered
    }
}

/// Positions of the popular keys of a distribution, in the order of indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopularKeys {
    /// Scattered over all indexes.
    Scattered,
    /// Adjacent to each other.
    Together,
    /// No key is more popular than another. The keys are accessed one after the other.
    InTurn,
}

/// Properties of the phase and the thread for which a sampler draws keys.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// Number of existing keys at the start of the phase.
    pub keys: u64,
    /// Expected number of keys at the end of the phase. If the phase adds keys, this number exceeds the number of
    /// keys at the start.
    pub planned: u64,
    /// Expected number of inserts of the phase; 0 if the phase has no inserts or no known end.
    pub inserts: u64,
    /// Seed that selects the popular keys. All threads and phases of a run share the seed.
    pub popularity: u64,
    /// The number of the sampler's thread, from 0.
    pub thread: u32,
    /// The number of threads of the phase.
    pub threads: u32,
}

/// Sampler of key indexes for one thread.
///
/// Invariants:
/// 1. Every index is below the number of existing keys.
/// 2. Equal random numbers give equal indexes.
/// 3. Several calls draw the same keys as one call for all of the keys.
/// 4. Keys are added between calls, but never removed. Therefore `existing` does not decrease.
pub trait KeySampler: Send {
    /// Fills `keys` with indexes below `existing`. `existing` is the number of existing keys, at least 1.
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]);
}

impl Scope {
    /// Returns the number of keys for which a sampler reserves room if `existing` keys exist. The result is the
    /// planned number, but at most twice `existing`. Then at most every second draw selects a key that does not
    /// exist yet.
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
