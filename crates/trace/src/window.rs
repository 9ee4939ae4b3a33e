//! The working set over time: the number of distinct keys per window of accesses. The windows of all lengths are
//! counted in one pass.
//!
//! An access at position p adds a key to its window of 2^s accesses if the last access to the key was in an earlier
//! window. The last access was in an earlier window if its position and p differ in bit s or in a higher bit. The
//! counts for every length are therefore exact after one pass, although the length of the trace is not known in
//! advance.

use crate::summary::WorkingSet;

/// The maximum number of windows in the result. The windows are as short as this number permits.
const MOST_WINDOWS: usize = 64;

/// The windows of one length. A window is a part of the trace with successive accesses.
#[derive(Clone, Debug, Default)]
struct Level {
    /// For each window, the number of distinct keys, and the number of keys that were never accessed before.
    windows: Vec<(f64, f64)>,
}

/// The working set of a trace: the numbers of distinct keys in windows of several lengths.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// The binary logarithm of the shortest length of a window.
    first: u32,
    levels: Vec<Level>,
    accesses: u64,
}

impl Default for Windows {
    fn default() -> Self {
        Self { first: 4, levels: vec![Level::default(); 40], accesses: 0 }
    }
}

impl Windows {
    /// Counts an access to a sampled key in the windows of all lengths. `last` is the position of the last access to
    /// the key. `weight` is the number of keys that the sampled key represents.
    pub(crate) fn add(&mut self, last: Option<u64>, weight: f64) {
        let position = self.accesses;
        // The positions of the two accesses differ only in this number of low bits. The last access was in an earlier
        // window of 2^s accesses if s is less than this number.
        let differ = last.map_or(u64::BITS, |last| u64::BITS - (last ^ position).leading_zeros());
        for (shift, level) in (self.first..).zip(&mut self.levels) {
            let window = (position >> shift) as usize;
            level.windows.resize(level.windows.len().max(window + 1), (0.0, 0.0));
            let (distinct, new) = &mut level.windows[window];
            *distinct += if differ > shift { weight } else { 0.0 };
            *new += if last.is_none() { weight } else { 0.0 };
        }
    }

    /// Moves to the next access of the trace. Call this function after each access, also if the key of the access is
    /// not sampled.
    pub(crate) fn advance(&mut self) {
        self.accesses += 1;
        if self.accesses >> self.first > MOST_WINDOWS as u64 {
            self.levels.remove(0);
            self.first += 1;
        }
    }

    /// Returns the windows of the shortest length for which the trace has at most 64 windows.
    pub(crate) fn summary(&self) -> Vec<WorkingSet> {
        let length = 1 << self.first;
        let windows = self.levels.first().map_or(&[][..], |level| &level.windows);
        let mut seen = 0.0;
        let window = |(number, (distinct, new)): (u64, &(f64, f64))| {
            seen += new;
            let first = number * length;
            WorkingSet {
                first,
                accesses: length.min(self.accesses - first),
                keys: distinct.round() as u64,
                new_keys: new.round() as u64,
                keys_so_far: f64::round(seen) as u64,
            }
        };
        (0..).zip(windows).map(window).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn windows_are_those_of_sets() {
        let keys: Vec<u64> = (0..5000u64).map(|at| types::avalanche(at) % (1 + at / 3)).collect();
        let (mut windows, mut last) = (Windows::default(), HashMap::new());
        for (at, key) in (0..).zip(&keys) {
            windows.add(last.insert(*key, at), 1.0);
            windows.advance();
        }
        let summary = windows.summary();
        assert!((32..=64).contains(&summary.len()), "{}", summary.len());
        let mut seen: HashSet<u64> = HashSet::new();
        for window in &summary {
            let keys = &keys[window.first as usize..][..window.accesses as usize];
            let distinct: HashSet<u64> = keys.iter().copied().collect();
            let before = seen.len();
            seen.extend(&distinct);
            assert_eq!(window.keys, distinct.len() as u64);
            assert_eq!(
                (window.new_keys, window.keys_so_far),
                ((seen.len() - before) as u64, seen.len() as u64)
            );
        }
        assert_eq!(summary.iter().map(|window| window.accesses).sum::<u64>(), 5000);
    }
}
