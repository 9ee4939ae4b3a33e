//! The locks of keys. The number of locks is fixed, and each lock serves many keys.

use std::hash::{BuildHasher, RandomState};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The number of locks. The number is so large that writes of different clients seldom need the same lock.
const STRIPES: usize = 1 << 10;

/// How a batch of writes uses its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The batch only sets names. Such batches need not exclude each other, because the tree orders them.
    Blind,
    /// The batch reads some names and writes a value that depends on them.
    Exclusive,
}

/// The locks of all keys. A batch takes the locks of its keys in ascending order, so that no two batches wait for each
/// other.
#[derive(Debug)]
pub(crate) struct Stripes {
    locks: Box<[RwLock<()>]>,
    hasher: RandomState,
}

/// The locks that a batch holds. Dropping the value releases them.
#[derive(Default)]
pub(crate) struct Held<'a> {
    _shared: Vec<RwLockReadGuard<'a, ()>>,
    _exclusive: Vec<RwLockWriteGuard<'a, ()>>,
}

impl Stripes {
    pub(crate) fn new() -> Self {
        Self { locks: (0..STRIPES).map(|_| RwLock::new(())).collect(), hasher: RandomState::new() }
    }

    /// The lock of a key, by its number.
    pub(crate) fn of(&self, key: &[u8]) -> usize {
        self.hasher.hash_one(key) as usize % STRIPES
    }

    /// Takes locks by their numbers, which are sorted for that.
    pub(crate) fn lock(&self, numbers: &mut Vec<usize>, access: Access) -> Held<'_> {
        numbers.sort_unstable();
        numbers.dedup();
        let locks = numbers.iter().map(|number| &self.locks[*number]);
        match access {
            Access::Blind => Held { _shared: locks.map(RwLock::read).collect(), ..Held::default() },
            Access::Exclusive => Held { _exclusive: locks.map(RwLock::write).collect(), ..Held::default() },
        }
    }

    /// Takes all locks. No client can write until they are released.
    pub(crate) fn lock_all(&self) -> Held<'_> {
        Held { _exclusive: self.locks.iter().map(RwLock::write).collect(), ..Held::default() }
    }
}
