//! Implements the locks of names (Redis keys). The number of locks is fixed, so each lock (a stripe) serves many names.

use std::hash::{BuildHasher, RandomState};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The number of stripes, which are locks that serve many names (Redis keys) each.
const STRIPES: usize = 1 << 10;

/// How a batch of writes accesses its names (Redis keys). The access determines whether its locks are shared or
/// exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The batch sets names without reading them. Such batches share locks, because the tree orders their writes.
    Blind,
    /// The batch also reads names. Other batches that write these names must wait.
    Exclusive,
}

/// The locks of all names (Redis keys). Each lock, a stripe, serves many names. A batch locks its stripes in ascending
/// order to prevent deadlocks.
#[derive(Debug)]
pub(crate) struct Stripes {
    locks: Box<[RwLock<()>]>,
    hasher: RandomState,
}

/// The locked stripes (locks of names) of a batch. They are unlocked when this value is dropped.
#[derive(Default)]
pub(crate) struct Held<'a> {
    _shared: Vec<RwLockReadGuard<'a, ()>>,
    _exclusive: Vec<RwLockWriteGuard<'a, ()>>,
}

impl Stripes {
    pub(crate) fn new() -> Self {
        Self { locks: (0..STRIPES).map(|_| RwLock::new(())).collect(), hasher: RandomState::new() }
    }

    /// Returns the number of the stripe (lock) that serves the name `key`.
    pub(crate) fn of(&self, key: &[u8]) -> usize {
        self.hasher.hash_one(key) as usize % STRIPES
    }

    /// Sorts the numbers of stripes, removes duplicates, and locks these stripes.
    pub(crate) fn lock(&self, numbers: &mut Vec<usize>, access: Access) -> Held<'_> {
        numbers.sort_unstable();
        numbers.dedup();
        let locks = numbers.iter().map(|number| &self.locks[*number]);
        match access {
            Access::Blind => Held { _shared: locks.map(RwLock::read).collect(), ..Held::default() },
            Access::Exclusive => Held { _exclusive: locks.map(RwLock::write).collect(), ..Held::default() },
        }
    }

    /// Locks all stripes, so that no client can write until they are unlocked.
    pub(crate) fn lock_all(&self) -> Held<'_> {
        Held { _exclusive: self.locks.iter().map(RwLock::write).collect(), ..Held::default() }
    }
}
