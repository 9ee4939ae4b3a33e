//! The sequential distribution. Operations access all keys in index order, and then start again at the first key.

use catalog::Variant;

use super::distribution::{KeyDistribution, KeySampler, PopularKeys, Scope};
use crate::random::Random;

pub(crate) const VARIANT: Variant<dyn KeyDistribution> =
    Variant::plain("sequential", "all keys in index order, again and again from the first key", || {
        Box::new(Sequential)
    });

struct Sequential;

impl KeyDistribution for Sequential {
    fn sampler(&self, scope: &Scope) -> Box<dyn KeySampler> {
        let first = u64::from(scope.thread);
        Box::new(Cursor { next: first, first, step: u64::from(scope.threads) })
    }

    fn share(&self, keys: u64, hottest: u64) -> Option<f64> {
        Some(hottest as f64 / keys as f64)
    }

    fn standing(&self) -> PopularKeys {
        PopularKeys::InTurn
    }
}

/// The position of one thread in the sequence of keys. Thread t of T threads visits the keys t, t + T, t + 2 T …, so
/// all threads together visit each key once per pass.
struct Cursor {
    next: u64,
    first: u64,
    step: u64,
}

impl KeySampler for Cursor {
    fn fill(&mut self, _: &mut Random, existing: u64, keys: &mut [u64]) {
        for key in keys {
            if self.next >= existing {
                // With fewer keys than threads, several threads visit the same key.
                self.next = self.first % existing;
            }
            *key = self.next;
            self.next += self.step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_the_keys_and_wrap() {
        let mut visits = vec![0; 10];
        for thread in 0..3 {
            let scope = Scope { keys: 10, planned: 10, inserts: 0, popularity: 0, thread, threads: 3 };
            let mut keys = vec![0; [8, 6, 6][thread as usize]];
            Sequential.sampler(&scope).fill(&mut Random::new(0), 10, &mut keys);
            for key in keys {
                visits[key as usize] += 1;
            }
        }
        assert_eq!(visits, [2; 10]);
    }
}
