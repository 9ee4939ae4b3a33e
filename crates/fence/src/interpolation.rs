//! Interpolation search over sorted heads (8-byte prefixes), with a limit on the number of steps for keys that are
//! not evenly spread.
//!
//! A step assumes that the heads between the current bounds are evenly spread. The step reads the head at the position
//! where the searched head would be. With evenly spread keys, a search takes log2(log2(n)) steps. With other keys,
//! interpolation alone may take many more steps. If a step removes less than half of the remaining heads, the next step
//! therefore reads the middle. Because of these middle reads, a search takes at most 2 log2(n) steps. The last few
//! heads are read one after another. Sources: Perl, Itai & Avni, "Interpolation search: a log log n search" (1978); Van
//! Sandt, Chronis & Patel, "Efficiently searching in-memory sorted arrays: revenge of the interpolation search?"
//! (2019), section 3, for the limit on the number of steps, and for reading the last heads one after another.
//!
//! Memory: 8 bytes per separator for the head. If heads do not suffice to compare separators, the bytes after the
//! heads take additional memory.

use catalog::Variant;

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::heads::{HeadFence, HeadIndex};
use crate::stored;
use crate::suffixes::Bound;

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::plain(
    "interpolation",
    "interpolation search over 8-byte prefixes; few steps if keys are evenly spread, at most twice the \
     steps of \"binary\"",
    || Box::new(Interpolation),
);

const TAG: stored::Tag = *b"fint";

/// The number of heads (8-byte prefixes of separators) that are read one after another at the end of a search. These
/// heads fill two cache lines.
const SCANNED: usize = 16;

/// A policy that builds fences with an interpolation search over sorted heads (8-byte prefixes of separators).
struct Interpolation;

impl FencePolicy for Interpolation {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        stored::encode(TAG, input.separators)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        HeadFence::open(TAG, table, |heads| Sorted { heads })
    }
}

/// Heads (8-byte prefixes of separators) in sorted order, for an interpolation search.
struct Sorted {
    heads: Vec<u64>,
}

impl Sorted {
    /// Returns the number of heads (8-byte prefixes of separators) below `head`, and the number of interpolation steps
    /// of the search.
    #[inline]
    fn search(&self, head: u64) -> (usize, u32) {
        let heads = self.heads.as_slice();
        // All heads before `low` are below `head`, and all heads from `high` on are at or above `head`.
        let (mut low, mut high, mut steps) = (0, heads.len(), 0);
        let mut is_slow = false;
        while high - low > SCANNED {
            let at = if is_slow { low.midpoint(high) } else { guess(heads, low, high, head) };
            let before = high - low;
            if heads[at] < head {
                low = at + 1;
            } else {
                high = at;
            }
            is_slow = !is_slow && high - low > before / 2;
            steps += 1;
        }
        (low + heads[low..high].iter().filter(|other| **other < head).count(), steps)
    }
}

/// Estimates the position of `head` between the positions `low` and `high`, as if the heads between them were evenly
/// spread. The difference of `high` and `low` must be at least two.
#[inline]
fn guess(heads: &[u64], low: usize, high: usize, head: u64) -> usize {
    let (first, last) = (heads[low], heads[high - 1]);
    if head <= first {
        return low;
    }
    if head >= last {
        return high - 1;
    }
    // Because `first < head < last`, the fraction is below 1. Rounding may make it 1.
    let share = (head - first) as f64 / (last - first) as f64;
    low + ((share * (high - 1 - low) as f64) as usize).min(high - 1 - low)
}

impl HeadIndex for Sorted {
    #[inline]
    fn lower_bound(&self, head: u64) -> Bound {
        Bound::at(&self.heads, self.search(head).0, head)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.heads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heads::check_index;

    #[test]
    fn bounds_are_those_of_the_sorted_heads() {
        check_index(&[1000, 5000], |heads| Sorted { heads });
    }

    /// Tests the number of steps. With evenly spread heads, a search takes a few steps. Two other cases take at most
    /// twice as many steps as a binary search: each head is twice the previous head, or all heads except two are
    /// equal.
    #[test]
    fn uneven_heads_cost_no_more_than_two_binary_searches() {
        let most = |heads: Vec<u64>| {
            let probes: Vec<u64> = heads.iter().flat_map(|head| [head.saturating_sub(1), *head]).collect();
            let sorted = Sorted { heads };
            probes.into_iter().map(|probe| sorted.search(probe).1).max().unwrap()
        };
        assert!(most((0..1 << 16).map(|i| i << 40).collect()) <= 3);
        let doubling = (0..63).flat_map(|bit| (0..1 << 10).map(move |i| (1u64 << bit) + i)).collect();
        let mut sorted: Vec<u64> = doubling;
        sorted.sort_unstable();
        assert!(most(sorted) <= 2 * 17);
        let equal = [vec![0], vec![7; 1 << 16], vec![u64::MAX]].concat();
        assert!(most(equal) <= 2 * 17);
    }
}
