//! Which writes can be read: all up to a number, in the order of their numbers.

use types::SequenceNumber;

use crate::sync::{AtomicU64, Ordering, sized};

/// Sequence numbers that commits may be ahead of what is visible before the next one waits.
const AHEAD: usize = sized(4096, 4);

/// The number up to which every write can be read, and the commits behind it that are done.
///
/// Commits end in any order. Whoever ends first notes that it is done; whoever ends the gap makes all that
/// follow it visible too. So a thread that lost its core in the middle of a commit holds the others up once,
/// not every time it is its turn.
pub(crate) struct Visible {
    last: AtomicU64,
    /// For the commit whose first number falls on a place, its last number once it is done. What an earlier
    /// commit left there is no greater than `last`, since none is more than [`AHEAD`] numbers ahead.
    done: Box<[AtomicU64]>,
}

impl Visible {
    /// Everything up to `last` can be read.
    pub(crate) fn new(last: SequenceNumber) -> Self {
        Self { last: AtomicU64::new(last), done: (0..AHEAD).map(|_| AtomicU64::new(0)).collect() }
    }

    /// The number up to which every write can be read.
    #[inline]
    pub(crate) fn last(&self) -> SequenceNumber {
        self.last.load(Ordering::Acquire)
    }

    /// Makes everything up to `last` visible while nobody writes.
    pub(crate) fn reset(&self, last: SequenceNumber) {
        self.last.store(last, Ordering::Release);
    }

    /// Whether the commit that begins with `first` may note that it is done.
    #[inline]
    pub(crate) fn has_room(&self, first: SequenceNumber) -> bool {
        first - self.last() <= AHEAD as u64
    }

    /// Notes that the writes `first..=last` are done; there must be room.
    #[inline]
    pub(crate) fn done(&self, first: SequenceNumber, last: SequenceNumber) {
        self.place(first).store(last, Ordering::Release);
    }

    /// Makes the commits visible that are done and follow what is visible; returns the number they end with.
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
