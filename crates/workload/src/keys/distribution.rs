//! The seam of the key axis: from random numbers to key indexes.

use crate::random::Random;

/// What the threads of a phase draw their keys from.
///
/// A law of its own: [`share`](Self::share) is what the samplers do, within sampling error.
pub trait KeyDistribution: Send + Sync {
    /// The sampler of one thread.
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler>;

    /// The share of accesses that go to the `hottest` most popular of `keys` keys, while no key is added;
    /// `None` where there is no closed form for it.
    ///
    /// `hottest` is at least 1 and at most `keys`.
    fn share(&self, keys: u64, hottest: u64) -> Option<f64>;

    /// [`share`](Self::share) at several numbers of keys, which grow.
    fn shares(&self, keys: u64, hottest: &[u64]) -> Option<Vec<f64>> {
        hottest.iter().map(|hottest| self.share(keys, *hottest)).collect()
    }

    /// Where the popular keys stand among all.
    fn standing(&self) -> Standing {
        Standing::Scattered
    }
}

/// Where the popular keys of a law stand, by their indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Anywhere.
    Scattered,
    /// Side by side.
    Together,
    /// None is more popular: each is asked for when its neighbour was.
    InTurn,
}

/// What a sampler knows of its phase and thread.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The keys that exist when the phase starts.
    pub keys: u64,
    /// The keys that are expected when it ends: more than at its start where it adds some.
    pub planned: u64,
    /// The seed of what is popular, the same for all threads and phases of a run.
    pub popularity: u64,
    /// The number of this thread.
    pub thread: u32,
    /// The number of threads.
    pub threads: u32,
}

/// Draws key indexes for one thread.
///
/// Laws:
/// 1. Every index is below the number of keys that exist.
/// 2. The same random numbers give the same indexes.
/// 3. Keys that are drawn in several calls are those that one call would have drawn.
/// 4. Keys are added between calls, never removed: `existing` does not fall.
pub trait KeySampler: Send {
    /// Fills `keys` with indexes of keys, of which `existing` exist; it is at least 1.
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]);
}

impl Scope {
    /// How many keys to make room for when `existing` exist: those that are planned, but never more than
    /// twice those that exist, so that at most every other draw meets a key that is yet to come.
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
