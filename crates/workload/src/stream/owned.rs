//! A sampler of keys for one thread, if several threads write to the same set of keys. The sampler repeats a draw
//! until the key belongs to the thread.

use crate::keys::KeySampler;
use crate::random::Random;

/// Number of keys that one call of the sampler draws.
const BLOCK: usize = 64;

/// Maximum number of successive blocks of draws without a key of the thread. After this number, the sampler uses a
/// neighboring key, because the distribution almost always draws keys of other threads.
const MOST_BLOCKS: usize = 64;

/// Sampler of the keys that belong to one thread. The sampler repeats a draw until the key belongs to the thread. The
/// relative popularity of the keys of the thread therefore stays the same.
pub(super) struct OwnedKeys {
    sampler: Box<dyn KeySampler>,
    random: Random,
    drawn: Vec<u64>,
    thread: u64,
    threads: u64,
}

impl OwnedKeys {
    pub(super) fn new(sampler: Box<dyn KeySampler>, random: Random, thread: u32, threads: u32) -> Self {
        Self { sampler, random, drawn: Vec::new(), thread: u64::from(thread), threads: u64::from(threads) }
    }

    /// Returns `key` if `key` belongs to the thread. Otherwise, draws another key that belongs to the thread. At least
    /// as many keys as threads must exist.
    #[inline]
    pub(super) fn own(&mut self, key: u64, existing: u64) -> u64 {
        if key % self.threads == self.thread { key } else { self.draw(key, existing) }
    }

    #[cold]
    fn draw(&mut self, key: u64, existing: u64) -> u64 {
        for _ in 0..MOST_BLOCKS {
            while let Some(other) = self.drawn.pop() {
                if other % self.threads == self.thread {
                    return other;
                }
            }
            self.drawn.resize(BLOCK, 0);
            self.sampler.fill(&mut self.random, existing, &mut self.drawn);
        }
        self.neighbour(key, existing)
    }

    /// Returns the key closest to `key` that belongs to the thread of this sampler.
    fn neighbour(&self, key: u64, existing: u64) -> u64 {
        let near = key - key % self.threads + self.thread;
        if near < existing { near } else { near - self.threads }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::keys::{CATALOG, Scope};

    /// Tests that the returned key always belongs to the thread, even for a distribution that almost never draws
    /// such a key.
    #[test]
    fn every_key_is_the_threads_own() {
        let steep = CATALOG.choose(&"zipfian(theta=40)".into()).unwrap();
        for choice in CATALOG.variants().iter().map(|variant| variant.default_choice()).chain([steep]) {
            let distribution = CATALOG.build(&choice).unwrap();
            for (thread, threads, existing) in [(0, 2, 2), (3, 4, 5), (6, 7, 1000), (0, 1, 1)] {
                let scope =
                    Scope { keys: existing, planned: existing, inserts: 0, popularity: 1, thread, threads };
                let sampler = distribution.sampler(&scope);
                let mut owned = OwnedKeys::new(sampler, Random::new(1), thread, threads);
                for key in 0..existing {
                    let own = owned.own(key, existing);
                    assert!(own < existing && own % u64::from(threads) == u64::from(thread), "{choice}");
                }
            }
        }
    }
}
