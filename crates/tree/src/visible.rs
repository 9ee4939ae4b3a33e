//! Tracks the sequence number up to which all writes are visible to readers.
//!
//! If a thread is preempted during its commit, the other threads wait once, until this commit finishes. All their
//! commits then become visible at the same time.

use types::SequenceNumber;

use crate::sync::{AtomicU64, Ordering, sized};

/// The maximum distance, in sequence numbers, between a finished commit and the last visible write. A commit that is
/// farther ahead must wait.
const AHEAD: usize = sized(4096, 4);

/// The sequence number up to which every write is visible to readers, and the finished commits after this number.
///
/// Commits finish in any order. A commit that finishes before an older commit only records its completion. When the
/// older commit finishes, all later finished commits become visible too.
pub(crate) struct Visible {
    last: AtomicU64,
    /// A ring buffer of slots that records the finished commits after `last`. The first sequence number of a commit,
    /// modulo [`AHEAD`], selects its slot. When the commit finishes, it stores its last sequence number in this slot. A
    /// slot may still contain the number of an older commit. Such a number is at most `last`, because no commit is more
    /// than [`AHEAD`] numbers ahead of `last`.
    done: Box<[AtomicU64]>,
}

impl Visible {
    /// Creates the record of visible writes for a tree in which all writes up to `last` are visible.
    pub(crate) fn new(last: SequenceNumber) -> Self {
        Self { last: AtomicU64::new(last), done: (0..AHEAD).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Returns the sequence number up to which every write is visible to readers.
    #[inline]
    pub(crate) fn last(&self) -> SequenceNumber {
        self.last.load(Ordering::Acquire)
    }

    /// Makes all writes up to `last` visible to readers. No other thread may write during this call.
    pub(crate) fn reset(&self, last: SequenceNumber) {
        self.last.store(last, Ordering::Release);
    }

    /// Returns whether the finished commit with the first sequence number `first` may be recorded. A commit that is
    /// more than [`AHEAD`] numbers ahead of the last visible write must wait.
    #[inline]
    pub(crate) fn has_room(&self, first: SequenceNumber) -> bool {
        first - self.last() <= AHEAD as u64
    }

    /// Records that the commit with the sequence numbers from `first` to `last` has finished.
    #[inline]
    pub(crate) fn done(&self, first: SequenceNumber, last: SequenceNumber) {
        self.place(first).store(last, Ordering::Release);
    }

    /// Makes finished commits visible to readers, up to the first unfinished commit. Returns the last visible sequence
    /// number.
    #[inline]
    pub(crate) fn advance(&self) -> SequenceNumber {
        let mut visible = self.last();
        loop {
            let next = self.place(visible + 1).load(Ordering::Acquire);
            if next <= visible {
                return visible;
            }
            visible = match self.last.compare_exchange(visible, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => next,
                Err(further) => further,
            };
        }
    }

    fn place(&self, first: SequenceNumber) -> &AtomicU64 {
        &self.done[first as usize % AHEAD]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn commits_become_visible_in_the_order_of_their_numbers() {
        let visible = Visible::new(10);
        visible.done(14, 14);
        assert_eq!(visible.advance(), 10);
        visible.done(12, 13);
        assert_eq!(visible.advance(), 10);
        visible.done(11, 11);
        assert_eq!((visible.advance(), visible.last()), (14, 14));
    }

    #[test]
    fn a_commit_that_is_far_ahead_has_no_room() {
        let visible = Visible::new(3);
        assert!(visible.has_room(3 + AHEAD as u64));
        assert!(!visible.has_room(4 + AHEAD as u64));
        visible.done(4, 5 + 2 * AHEAD as u64);
        assert_eq!(visible.advance(), 5 + 2 * AHEAD as u64);
        assert!(visible.has_room(4 + 3 * AHEAD as u64));
    }

    #[test]
    fn nothing_is_visible_before_it_is_done_by_any_number_of_threads() {
        const COMMITS: u64 = 5_000;
        let (visible, next) = (Visible::new(0), Mutex::new(1u64));
        let written: Vec<AtomicU64> = (0..4 * 4 * COMMITS).map(|_| AtomicU64::new(0)).collect();
        let take = |count: u64| {
            let mut next = next.lock().unwrap();
            *next += count;
            *next - count
        };
        let commit_all = |thread: u64| {
            let mut checked = 1;
            for commit in 0..COMMITS {
                let count = 1 + (thread + commit) % 4;
                let first = take(count);
                let last = first + count - 1;
                written[first as usize..=last as usize]
                    .iter()
                    .for_each(|one| one.store(1, Ordering::Relaxed));
                while !visible.has_room(first) {
                    std::thread::yield_now();
                }
                visible.done(first, last);
                while visible.advance() < last {
                    std::thread::yield_now();
                }
                let seen = visible.last();
                let mut range = written[checked as usize..=seen as usize].iter();
                assert!(range.all(|one| one.load(Ordering::Relaxed) == 1), "{checked} to {seen}");
                checked = seen;
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|thread| drop(scope.spawn(move || commit_all(thread))));
        });
        assert_eq!(visible.last() + 1, *next.lock().unwrap());
    }
}
