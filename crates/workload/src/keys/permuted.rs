//! Popularity ranks dealt out to keys, scattered or in order: what the zipfian and the hotspot distribution share.

use super::distribution::{KeySampler, Scope};
use crate::permutation::Permutation;
use crate::random::Random;

/// A law over popularity ranks, the most popular first.
pub(crate) trait Ranks: Send {
    /// The same law over `ranks` ranks; there will be no more than `room`.
    fn resize(&mut self, ranks: u64, room: u64);

    /// A rank, counted from 0.
    fn draw(&self, random: &mut Random) -> u64;
}

/// Deals the ranks of a law out to keys by a bijection, so that popular keys stand anywhere and no two ranks
/// share a key.
///
/// A key that is added takes the place of some rank, whose key becomes the least popular: popular keys stay
/// popular while others join. Only where more keys join than were planned is all popularity dealt out anew.
pub(crate) struct Permuted<R> {
    ranks: R,
    places: Permutation,
    existing: u64,
    room: u64,
    scope: Scope,
}

impl<R: Ranks> Permuted<R> {
    /// The law `ranks`, which is resized, for the keys of `scope`.
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

/// Leaves the ranks of a law in the order of the keys: the first key is the most popular, and keys that are added are
/// the least.
pub(crate) struct InOrder<R> {
    ranks: R,
    existing: u64,
    room: u64,
    scope: Scope,
}

impl<R: Ranks> InOrder<R> {
    /// The law `ranks`, which is resized, for the keys of `scope`.
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
