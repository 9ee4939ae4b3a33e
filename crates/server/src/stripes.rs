//! Implements the locks of names. The number of locks is fixed, and each lock (a stripe) serves many names.

use std::hash::{BuildHasher, RandomState};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The number of stripes. A stripe is a lock that serves many names (Redis keys). Writes of different clients seldom
/// need the same stripe, because there are many stripes.
const STRIPES: usize = 1 << 10;

/// The way in which a batch of writes accesses the names (Redis keys) that it writes. The access determines the locks
/// of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The batch sets names without reading them. Such batches do not wait for each other, because the tree orders
    /// their writes.
    Blind,
    /// The batch reads names, and writes values that depend on them. Other batches that write these names must wait.
    Exclusive,
}

/// The locks of all names (Redis keys). Each lock, a stripe, serves many names. A batch locks its stripes in ascending
/// order, which prevents deadlocks.
#[derive(Debug)]
pub(crate) struct Stripes {
    locks: Box<[RwLock<()>]>,
    hasher: RandomState,
}

/// The stripes (locks of names) that a batch has locked. When this value is dropped, the stripes are unlocked.
#[derive(Default)]
pub(crate) struct Held<'a> {
    _shared: Vec<RwLockReadGuard<'a, ()>>,
    _exclusive: Vec<RwLockWriteGuard<'a, ()>>,
}

impl Stripes {
    pub(crate) fn new() -> Self {
        Self { locks: (0..STRIPES).map(|_| RwLock::new(())).collect(), hasher: RandomState::new() }
    }

    /// Returns the number of the stripe that serves the name `key`.
    pub(crate) fn of(&self, key: &[u8]) -> usize {
        self.hasher.hash_one(key) as usize % STRIPES
    }

    /// Sorts the stripe numbers and removes duplicates, and then locks these stripes.
    pub(crate) fn lock(&self, numbers: &mut Vec<usize>, access: Access) -> Held<'_> {
        numbers.sort_unstable();
        numbers.dedup();
        let locks = numbers.iter().map(|number| &self.locks[*number]);
        match access {
            Access::Blind => Held { _shared: locks.map(RwLock::read).collect(), ..Held::default() },
            Access::Exclusive => Held { _exclusive: locks.map(RwLock::write).collect(), ..Held::default() },
        }
    }

    /// Locks all stripes. No client can write until the stripes are unlocked.
    pub(crate) fn lock_all(&self) -> Held<'_> {
        Held { _exclusive: self.locks.iter().map(RwLock::write).collect(), ..Held::default() }
    }
}
