//! Mappings of popularity ranks to keys. The first mapping scatters the popular keys. The second mapping keeps the
//! order of the ranks. The Zipfian and the hotspot distribution use these mappings.

use super::distribution::{KeySampler, Scope};
use crate::permutation::Permutation;
use crate::random::Random;

/// A distribution over popularity ranks. Rank 0 is the rank of the most popular key.
pub(crate) trait Ranks: Send {
    /// Changes the number of ranks to `ranks`. `room` is the largest number of ranks that later calls may set, so the
    /// distribution can build its tables for `room` ranks.
    fn resize(&mut self, ranks: u64, room: u64);

    /// Draws a popularity rank from the distribution. Rank 0 belongs to the most popular key.
    fn draw(&self, random: &mut Random) -> u64;
}

/// Maps the ranks of a distribution to keys by a bijection. The bijection scatters the popular keys over all indexes,
/// and maps each rank to a different key.
///
/// An added key takes the rank of an existing key, and that existing key becomes the least popular key. Popular keys
/// therefore stay popular while keys are added. If more keys are added than planned, all keys get new ranks.
pub(crate) struct Permuted<R> {
    ranks: R,
    places: Permutation,
    existing: u64,
    room: u64,
    scope: Scope,
}

impl<R: Ranks> Permuted<R> {
    /// Creates the mapping from the ranks of the distribution `ranks` to the keys of the phase that `scope` describes.
    /// The function also sets the number of ranks to the number of existing keys.
    pub(crate) fn new(mut ranks: R, scope: &Scope) -> Self {
        let existing = scope.keys.max(1);
        let room = scope.room(existing);
        ranks.resize(existing, room);
        let places = Permutation::with_room(existing, room, scope.popularity);
        Self { ranks, places, existing, room, scope: *scope }
    }

    #[cold]
    fn grow(&mut self, existing: u64) {
        if existing > self.room {
            self.room = self.scope.room(existing);
            self.places = Permutation::with_room(existing, self.room, self.scope.popularity);
        } else {
            self.places.grow(existing);
        }
        self.ranks.resize(existing, self.room);
        self.existing = existing;
    }
}

impl<R: Ranks> KeySampler for Permuted<R> {
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]) {
        if existing > self.existing {
            self.grow(existing);
        }
        for key in keys.iter_mut() {
            *key = self.ranks.draw(random);
        }
        self.places.apply_all(keys);
    }
}

/// Maps popularity ranks to keys in key order: the first key is the most popular key, and added keys are the least
/// popular keys.
pub(crate) struct InOrder<R> {
    ranks: R,
    existing: u64,
    room: u64,
    scope: Scope,
}

impl<R: Ranks> InOrder<R> {
    /// Creates the mapping from the ranks of the distribution `ranks` to the keys of the phase that `scope` describes.
    /// The function also sets the number of ranks to the number of existing keys.
    pub(crate) fn new(mut ranks: R, scope: &Scope) -> Self {
        let existing = scope.keys.max(1);
        let room = scope.room(existing);
        ranks.resize(existing, room);
        Self { ranks, existing, room, scope: *scope }
    }
}

impl<R: Ranks> KeySampler for InOrder<R> {
    fn fill(&mut self, random: &mut Random, existing: u64, keys: &mut [u64]) {
        if existing > self.existing {
            if existing > self.room {
                self.room = self.scope.room(existing);
            }
            self.ranks.resize(existing, self.room);
            self.existing = existing;
        }
        for key in keys {
            *key = self.ranks.draw(random);
        }
    }
}
