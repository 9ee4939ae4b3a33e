//! The shards of a [shared arena](crate::shared_arena). A shard is a group of threads that allocate memory from the
//! same block of the arena, through the cursor of the shard.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};

/// A group of threads that allocate memory from the same block of an arena. The cursor marks the free units of the
/// block. A unit is 8 bytes of the arena.
///
/// The cursors of different shards are in different cache lines. No block is used twice, so an outdated cursor word
/// never equals a current cursor word.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Shard {
    /// The cursor word. Its upper half is the end of the block, and its lower half is the number of the first free unit
    /// (8 bytes) of the block.
    cursor: AtomicU64,
    /// The number of versions that the threads of the shard have appended.
    versions: AtomicUsize,
    refill: Mutex<()>,
}

/// Returns the cursor word for a block of the arena whose free units (8 bytes each) are `left`.
#[inline]
fn cursor(left: Range<u32>) -> u64 {
    u64::from(left.end) << 32 | u64::from(left.start)
}

/// Returns the free units of the block that the cursor word `cursor` describes. The range is empty if the cursor is
/// after the end of the block.
#[inline]
fn left(cursor: u64) -> Range<u32> {
    cursor as u32..(cursor >> 32) as u32
}

impl Shard {
    /// Takes `units` units of 8 bytes from the current block of the shard. Returns the first of them, or `None` if the
    /// block has too few free units.
    ///
    /// A failed call moves the cursor beyond the end of the block. All later calls also fail until the shard gets its
    /// next block.
    #[inline]
    pub(crate) fn bump(&self, units: u32) -> Option<u32> {
        let left = left(self.cursor.fetch_add(u64::from(units), Ordering::Acquire));
        (left.len() >= units as usize).then_some(left.start)
    }

    /// Takes at least `least` and at most `most` units of 8 bytes from the current block of the shard. Returns these
    /// units and the end of the block, or `None` if the block has too few free units.
    pub(crate) fn bump_some(&self, least: u32, most: u32) -> Option<(Range<u32>, u32)> {
        let mut before = self.cursor.load(Ordering::Relaxed);
        loop {
            let left = left(before);
            if left.len() < least as usize {
                return None;
            }
            let taken = left.start..left.start + most.min(left.len() as u32);
            let after = cursor(taken.end..left.end);
            match self.cursor.compare_exchange_weak(before, after, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some((taken, left.end)),
                Err(now) => before = now,
            }
        }
    }

    /// Gives unused units (8 bytes each) back to the block that ends at `block_end`, so that the next call of `bump`
    /// can take them. If this block is no longer the current block, or if other units were taken after these units,
    /// they remain unused.
    pub(crate) fn give_back(&self, units: Range<u32>, block_end: u32) {
        let (before, after) = (cursor(units.end..block_end), cursor(units.start..block_end));
        let _ = self.cursor.compare_exchange(before, after, Ordering::Release, Ordering::Relaxed);
    }

    /// Returns the free units of the current block of the shard.
    pub(crate) fn left(&self) -> Range<u32> {
        left(self.cursor.load(Ordering::Relaxed))
    }

    /// Locks the assignment of blocks to this shard. A thread takes this lock before it assigns another block.
    pub(crate) fn lock(&self) -> MutexGuard<'_, ()> {
        self.refill.lock()
    }

    /// Makes `block` the current block of the shard, from which its threads allocate.
    pub(crate) fn begin(&self, block: Range<u32>) {
        self.cursor.store(cursor(block), Ordering::Release);
    }

    /// Adds `versions` to the number of versions that the threads of the shard have appended.
    #[inline]
    pub(crate) fn count(&self, versions: usize) {
        self.versions.fetch_add(versions, Ordering::Relaxed);
    }

    /// Returns the number of versions that the threads of the shard have appended.
    pub(crate) fn versions(&self) -> usize {
        self.versions.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_gives_what_it_has_and_no_more() {
        let shard = Shard::default();
        assert_eq!((shard.bump(1), shard.bump_some(1, 9)), (None, None));
        shard.begin(100..120);
        assert_eq!(shard.bump(5), Some(100));
        assert_eq!(shard.bump_some(3, 10), Some((105..115, 120)));
        assert_eq!(shard.bump_some(6, 10), None, "five are left");
        assert_eq!(shard.bump_some(2, 10), Some((115..120, 120)));
        assert_eq!(shard.bump_some(1, 10), None);
        shard.begin(200..210);
        assert_eq!((shard.bump(11), shard.bump(1)), (None, None), "who asked for too much ends the block");
        assert!(shard.left().is_empty());
    }

    #[test]
    fn only_the_last_units_of_the_block_come_back() {
        let shard = Shard::default();
        shard.begin(100..120);
        let (taken, end) = shard.bump_some(1, 8).unwrap();
        shard.give_back(taken.start + 2..taken.end, end);
        assert_eq!(shard.left(), 102..120);
        let (taken, end) = shard.bump_some(1, 8).unwrap();
        assert_eq!(shard.bump(4), Some(110));
        shard.give_back(taken, end);
        assert_eq!(shard.left(), 114..120, "others were taken behind them");
        let (taken, end) = shard.bump_some(6, 8).unwrap();
        // The next block may begin right after the end of the previous block.
        shard.begin(120..140);
        shard.give_back(taken, end);
        assert_eq!(shard.left(), 120..140, "they are of another block");
    }
}
