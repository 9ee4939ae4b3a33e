//! The recent operations of a tree, which a policy can read in [`Shape`](crate::Shape).
//!
//! A window covers the operations from an earlier flush to the current operation. The length of a window is a number
//! of flushes and not a time, so its counts depend only on the sequence of operations. In a phase without writes, the
//! window grows, and the fraction of reads in the window rises.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The number of gets after which a tree calls its compaction policy again, if the policy observes operations.
const GETS_BETWEEN_PICKS: u64 = 4096;

/// The number of scans after which a tree calls its compaction policy again, if the policy observes operations. The
/// number is smaller than for gets, because a scan costs more than a get.
const SCANS_BETWEEN_PICKS: u64 = 64;

/// The largest number of flushes in a window, for policies that observe the operations of a tree.
const MOST_FLUSHES: u64 = 1000;

/// Counts of the flushes, lookups and scans of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operations {
    /// The number of flushes.
    pub flushes: u64,
    /// The number of lookups that found a value.
    pub gets_found: u64,
    /// The number of lookups that found no value.
    pub gets_missing: u64,
    /// The number of scans.
    pub scans: u64,
}

impl Operations {
    /// Returns how much each count has increased since the state `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            flushes: self.flushes.saturating_sub(earlier.flushes),
            gets_found: self.gets_found.saturating_sub(earlier.gets_found),
            gets_missing: self.gets_missing.saturating_sub(earlier.gets_missing),
            scans: self.scans.saturating_sub(earlier.scans),
        }
    }

    /// Returns whether the counts include a lookup or a scan.
    pub fn has_reads(&self) -> bool {
        self.gets_found + self.gets_missing + self.scans > 0
    }

    /// Returns whether all counts are 0.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A window over the operations of a tree, from one of its latest flushes to the current operation.
#[derive(Clone, Debug)]
pub struct OperationWindow {
    flushes: usize,
    /// The counts of the operations at the start of the window, and after each of its flushes, oldest first.
    marks: VecDeque<Operations>,
}

impl OperationWindow {
    /// Creates a window that covers the latest `flushes` flushes and the operations between them. Before the tree has
    /// had so many flushes, the window begins with the first operation of the tree. A window of 0 flushes contains no
    /// operations.
    pub fn new(flushes: usize) -> Self {
        Self { flushes, marks: VecDeque::from([Operations::default()]) }
    }

    /// Returns whether this window counts operations. A window of 0 flushes counts none.
    #[inline]
    pub fn is_observed(&self) -> bool {
        self.flushes > 0
    }

    /// Adds a flush to the window, and drops the oldest flush if the window would otherwise have too many. `now`
    /// contains the counts since the tree was opened, including this flush.
    pub fn note_flush(&mut self, now: Operations) {
        if self.is_observed() {
            self.marks.push_back(now);
            if self.marks.len() > self.flushes + 1 {
                self.marks.pop_front();
            }
        }
    }

    /// Returns how many operations this window contains. `now` contains the counts of operations since the tree was
    /// opened.
    pub fn operations(&self, now: &Operations) -> Operations {
        match self.marks.front() {
            Some(start) if self.is_observed() => now.since(start),
            _ => Operations::default(),
        }
    }
}

/// Checks the parameter `name` of a policy, whose value is a number of flushes in a window, and returns the value.
///
/// # Errors
/// The number is above [`MOST_FLUSHES`].
pub(crate) fn window_flushes(name: &str, flushes: u64) -> Result<usize, String> {
    match flushes {
        0..=MOST_FLUSHES => Ok(flushes as usize),
        _ => Err(format!("{name} is {flushes}; it must be at most {MOST_FLUSHES} flushes")),
    }
}

/// Returns whether the tree must call its policy again because of the last `added` gets. `gets` is the number of all
/// gets so far, including these gets.
#[inline]
pub fn picks_after_gets(gets: u64, added: u64) -> bool {
    gets / GETS_BETWEEN_PICKS != (gets - added) / GETS_BETWEEN_PICKS
}

/// Returns whether the tree must call its policy again after a scan. `scans` is the number of all scans so far,
/// including this scan.
#[inline]
pub fn picks_after_scan(scans: u64) -> bool {
    scans.is_multiple_of(SCANS_BETWEEN_PICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(flushes: u64, scans: u64) -> Operations {
        Operations { flushes, scans, ..Operations::default() }
    }

    #[test]
    fn a_window_begins_some_flushes_ago() {
        let mut window = OperationWindow::new(2);
        assert_eq!(window.operations(&at(0, 5)), at(0, 5));
        window.note_flush(at(1, 10));
        window.note_flush(at(2, 30));
        assert_eq!(window.operations(&at(2, 35)), at(2, 35));
        window.note_flush(at(3, 60));
        assert_eq!(window.operations(&at(3, 61)), at(2, 51));
        // Without flushes, the window becomes longer.
        assert_eq!(window.operations(&at(3, 1061)), at(2, 1051));
        let mut unobserved = OperationWindow::new(0);
        unobserved.note_flush(at(1, 10));
        assert!(unobserved.operations(&at(1, 20)).is_empty() && !unobserved.is_observed());
    }

    #[test]
    fn picks_come_at_equal_numbers_of_reads() {
        assert!(picks_after_gets(4096, 1) && !picks_after_gets(4097, 1) && !picks_after_gets(4095, 4095));
        assert!(picks_after_gets(4100, 20) && picks_after_scan(64) && !picks_after_scan(65));
    }
}
