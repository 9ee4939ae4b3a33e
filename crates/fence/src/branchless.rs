//! Binary search over sorted heads (8-byte prefixes), with conditional moves instead of branches.
//!
//! An ordinary binary search mispredicts half of its branches. This search has no branch that depends on the key. The
//! number of steps depends only on the SSTable, so the CPU can execute searches for several keys at the same time.
//! With `prefetch`, each step prefetches both positions that the next step may read. If the heads are in the CPU
//! caches, prefetching makes a search slower. If the heads do not fit into the CPU caches, prefetching makes a search
//! faster. Source: Khuong & Morin, "Array layouts for comparison-based searching" (2015), section 3.
//!
//! Memory: 8 bytes per separator for the head. If heads do not suffice to compare separators, the bytes after the
//! heads take additional memory. A search reads log2(n) heads. The last three heads are on one cache line.

use std::hint::select_unpredictable;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::heads::{HeadFence, HeadIndex};
use crate::stored;
use crate::suffixes::Bound;
use prefetch::prefetch;

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::new::<Branchless>(
    "branchless",
    "binary search over 8-byte separator prefixes, without unpredictable branches",
    "# Whether each step prefetches both cache lines that the next step can read. Prefetching helps if\n\
     # the separator heads exceed the CPU caches.\n\
     prefetch = false\n",
);

const TAG: stored::Tag = *b"fbrl";

/// A policy that builds fences with a branchless binary search over sorted heads (8-byte prefixes of separators).
struct Branchless {
    prefetch: bool,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    prefetch: bool,
}

impl Build<dyn FencePolicy> for Branchless {
    type Params = Params;

    fn build(Params { prefetch }: Params) -> Result<Box<dyn FencePolicy>, String> {
        Ok(Box::new(Self { prefetch }))
    }
}

impl FencePolicy for Branchless {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        stored::encode(TAG, input.separators)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        match self.prefetch {
            true => HeadFence::open(TAG, table, |heads| Sorted::<true> { heads }),
            false => HeadFence::open(TAG, table, |heads| Sorted::<false> { heads }),
        }
    }
}

/// The heads (8-byte prefixes) of the separators in sorted order. The search has no branches.
struct Sorted<const PREFETCH: bool> {
    heads: Vec<u64>,
}

impl<const PREFETCH: bool> HeadIndex for Sorted<PREFETCH> {
    #[inline]
    fn lower_bound(&self, head: u64) -> Bound {
        let heads = self.heads.as_slice();
        // The bound is at the position `first`, or at one of the `count` positions after it.
        let (mut first, mut count) = (0, heads.len());
        while count > 1 {
            let half = count / 2;
            count -= half;
            if PREFETCH {
                prefetch(heads, first + count / 2);
                prefetch(heads, first + half + count / 2);
            }
            first = select_unpredictable(heads[first + half - 1] < head, first + half, first);
        }
        let rank = first + usize::from(count == 1 && heads[first] < head);
        Bound::at(heads, rank, head)
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
        check_index(&[1000, 5000], |heads| Sorted::<false> { heads });
        check_index(&[1000, 5000], |heads| Sorted::<true> { heads });
    }
}
