//! A table of the leading bits of heads (8-byte prefixes). A search reads only the few heads that share their
//! leading bits with the key.
//!
//! All heads have some first bits in common. The bits after these shared bits select an entry of the table. The entry
//! is the number of heads with smaller leading bits. The selected entry and the next entry are the bounds of the
//! search. With evenly spread keys, one or two heads are between the bounds. A lookup then costs two cache misses for
//! any number of separators: one in the table, and one among the heads. If many heads share their leading bits, the
//! search between the bounds is a binary search. The binary search between the bounds never has more steps than a
//! binary search over all heads. Source: the radix table of Kipf et al., "`RadixSpline`: A Single-Pass Learned Index"
//! (aiDM 2020), applied directly to the heads.
//!
//! Memory: 8 bytes per separator for the head, 1 to 4 bytes per separator for the table, and the bytes after the
//! heads if heads do not suffice to compare separators.

use catalog::Variant;
use prefetch::large;

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::heads::{HeadFence, HeadIndex};
use crate::stored;
use crate::suffixes::Bound;

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::plain(
    "radix",
    "a table of the leading bits of separators; two cache misses per search if keys are evenly spread",
    || Box::new(Radix),
);

const TAG: stored::Tag = *b"frdx";

/// A policy that builds fences with sorted heads (8-byte prefixes of separators) and a table of their leading bits.
struct Radix;

impl FencePolicy for Radix {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        stored::encode(TAG, input.separators)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        HeadFence::open(TAG, table, Table::of)
    }
}

/// The heads (8-byte prefixes) of the separators in sorted order, and the table of their leading bits.
struct Table {
    heads: Vec<u64>,
    /// The smallest head (8-byte prefix of a separator), whose leading bits select the first entry of the table.
    least: u64,
    /// The number of low bits of a head that do not select the entry of the table.
    shift: u32,
    /// The table: for each value of the leading bits, the number of heads with smaller leading bits. The last entry is
    /// the number of all heads.
    counts: Vec<u32>,
}

impl Table {
    fn of(heads: Vec<u64>) -> Self {
        let (least, greatest) = (heads.first().copied().unwrap_or(0), heads.last().copied().unwrap_or(0));
        // If heads are evenly spread, the table has one entry per one to four heads.
        let table_bits = heads.len().max(1).ilog2();
        // The heads of a corrupt fence may be out of order.
        let width = greatest.saturating_sub(least);
        let shift = (u64::BITS - width.leading_zeros()).saturating_sub(table_bits);
        let entries = (width >> shift) + 1;
        let mut counts = large::with_room(entries as usize + 1);
        let mut below = 0;
        for entry in 0..entries {
            below += heads[below..].partition_point(|head| head.saturating_sub(least) >> shift < entry);
            counts.push(below as u32);
        }
        counts.push(heads.len() as u32);
        Self { heads, least, shift, counts }
    }

    /// Returns the number of heads below `head`. The second result is the number of heads among which the search was
    /// necessary.
    #[inline]
    fn search(&self, head: u64) -> (usize, usize) {
        let Some(above) = head.checked_sub(self.least) else { return (0, 0) };
        let entry = (above >> self.shift) as usize;
        let Some([low, high]) = self.counts.get(entry..entry.saturating_add(2)) else {
            return (self.heads.len(), 0);
        };
        let (low, high) = (*low as usize, *high as usize);
        (low + self.heads[low..high].partition_point(|other| *other < head), high - low)
    }
}

impl HeadIndex for Table {
    #[inline]
    fn lower_bound(&self, head: u64) -> Bound {
        Bound::at(&self.heads, self.search(head).0, head)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.heads) + size_of_val(&*self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heads::check_index;

    #[test]
    fn bounds_are_those_of_the_sorted_heads() {
        check_index(&[1000, 5000], Table::of);
    }

    /// Tests the number of heads between the bounds. With evenly spread heads, a few heads are between the bounds,
    /// whatever the smallest head is. In the worst case, all heads are between the bounds.
    #[test]
    fn evenly_spread_heads_leave_a_few_to_search() {
        let most = |heads: Vec<u64>| {
            let probes: Vec<u64> = heads.iter().flat_map(|head| [head.saturating_sub(1), *head]).collect();
            let table = Table::of(heads);
            assert!(table.counts.len() <= table.heads.len() + 2);
            probes.into_iter().map(|probe| table.search(probe).1).max().unwrap()
        };
        assert!(most((0..10_000).map(|i| i << 30).collect()) <= 2);
        assert!(most((0..10_000).map(|i| (1 << 63) + i * 77).collect()) <= 2);
        assert_eq!(most([vec![0], vec![7; 1 << 12], vec![u64::MAX]].concat()), (1 << 12) + 1);
        assert_eq!(most(vec![5]), 1);
    }
}
