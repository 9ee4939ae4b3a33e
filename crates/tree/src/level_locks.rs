//! One lock for each level. Readers hold the lock of a level in shared mode. A flush or a compaction that changes the
//! level holds the lock in exclusive mode.
//!
//! Source: the document cs265, sections 2.4 and 3.5.1. The locks exist only to measure their cost. The tree is correct
//! without them, because each reader has an immutable version of all levels.

use crossbeam_utils::CachePadded;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::stats::Counters;

/// The number of locks of levels. All levels from `LOCKS` − 1 on share the last lock.
const LOCKS: usize = 16;

/// One lock for each level of a tree. A thread that takes several locks begins with the lock of level 0.
#[derive(Default)]
pub(crate) struct LevelLocks([CachePadded<RwLock<()>>; LOCKS]);

impl LevelLocks {
    /// Locks a level in shared mode, after waiting for a flush or a compaction that changes the level. While the guard
    /// exists, no flush or compaction changes the level.
    #[inline]
    pub(crate) fn share(&self, level: usize, counters: &Counters) -> RwLockReadGuard<'_, ()> {
        counters.level_locks.bump();
        self.0[level.min(LOCKS - 1)].read()
    }

    /// Locks the first `levels` levels in shared mode. No flush or compaction changes these levels until the guards are
    /// dropped.
    pub(crate) fn share_all(&self, levels: usize, counters: &Counters) -> Vec<RwLockReadGuard<'_, ()>> {
        (0..levels.min(LOCKS)).map(|level| self.share(level, counters)).collect()
    }

    /// Locks some levels in exclusive mode. Waits for the readers of these levels, and keeps readers out until the
    /// guards are dropped.
    pub(crate) fn exclude(&self, levels: impl Iterator<Item = usize>) -> Vec<RwLockWriteGuard<'_, ()>> {
        let mut locks: Vec<usize> = levels.map(|level| level.min(LOCKS - 1)).collect();
        locks.sort_unstable();
        locks.dedup();
        locks.into_iter().map(|lock| self.0[lock].write()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_a_level_and_a_change_excludes_them() {
        let (locks, counters) = (LevelLocks::default(), Counters::default());
        let readers = [locks.share(1, &counters), locks.share(1, &counters)];
        assert!(locks.0[1].try_write().is_none());
        drop(readers);
        let changes = locks.exclude([1, 3, 1, 99].into_iter());
        assert_eq!(changes.len(), 3);
        assert!(locks.0[1].try_read().is_none() && locks.0[LOCKS - 1].try_read().is_none());
        assert!(locks.0[0].try_read().is_some());
        drop(changes);
        assert_eq!(locks.share_all(99, &counters).len(), LOCKS);
        assert_eq!(counters.level_locks.get(), 2 + LOCKS as u64);
    }
}
