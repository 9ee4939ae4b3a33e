//! Sorted heads (8-byte prefixes) in several lanes, which are lists of heads. The lowest lane has all heads. With the
//! default `stride` of 4, the next lane has every 4th head, the lane above it every 16th head, and so on. A search
//! begins in the lane with the fewest heads.
//!
//! In each lane, the search passes at most `stride` − 1 heads that are below the key's head. Then the search continues
//! at the corresponding position in the next lower lane. The lanes correspond to a skip list in which every 4th node
//! reaches the next level. Source: the document cs265, section 3.4.2, `FastLane`. In the document, the lanes contain
//! positions of heads. In lsmbench, the lanes themselves contain the heads, so each step of a search reads only memory
//! of its lane.
//!
//! Memory: 8 bytes per separator for the lowest lane, and 8 / (`stride` − 1) bytes for all other lanes. With the
//! default stride, heads and lanes take 10.7 bytes per separator. If heads do not suffice to compare separators, the
//! bytes after the heads take additional memory. A search reads one or two cache lines per lane. For n separators, the
//! number of lanes is the logarithm of n to the base `stride`.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::heads::{HeadFence, HeadIndex};
use crate::stored;
use crate::suffixes::Bound;

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::new::<Lanes>(
    "lanes",
    "a skip list of fixed lanes over 8-byte separator prefixes: every 4th prefix, every 16th prefix, and so on",
    "# Ratio of the lengths of two successive lanes, 2 to 64. With a larger ratio there are fewer lanes,\n\
     # but more steps per lane.\n\
     stride = 4\n",
);

const TAG: stored::Tag = *b"flan";

/// A policy that builds fences with lanes: sorted lists of heads (8-byte prefixes of separators), each with fewer heads
/// than the list before.
struct Lanes {
    stride: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    stride: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self { stride: 4 }
    }
}

impl Build<dyn FencePolicy> for Lanes {
    type Params = Params;

    fn build(Params { stride }: Params) -> Result<Box<dyn FencePolicy>, String> {
        if !(2..=64).contains(&stride) {
            return Err(format!("stride is {stride}; it must be 2 to 64"));
        }
        Ok(Box::new(Self { stride }))
    }
}

impl FencePolicy for Lanes {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        stored::encode(TAG, input.separators)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        HeadFence::open(TAG, table, |heads| HeadLanes::new(heads, self.stride))
    }
}

/// The heads (8-byte prefixes) of the separators, with lanes that skip most heads.
struct HeadLanes {
    stride: usize,
    /// The lanes, which are sorted lists of heads (8-byte prefixes of separators). Lane 0 contains all heads. Each
    /// further lane contains every `stride`-th head of the lane before.
    lanes: Vec<Vec<u64>>,
}

impl HeadLanes {
    fn new(heads: Vec<u64>, stride: usize) -> Self {
        let mut lanes = vec![heads];
        while lanes[lanes.len() - 1].len() > stride {
            lanes.push(lanes[lanes.len() - 1].iter().step_by(stride).copied().collect());
        }
        Self { stride, lanes }
    }
}

impl HeadIndex for HeadLanes {
    #[inline]
    fn lower_bound(&self, head: u64) -> Bound {
        let count = |heads: &[u64]| heads.iter().filter(|other| **other < head).count();
        let (top, lanes) = self.lanes.split_last().expect("a fence with lanes must have lane 0");
        let mut below = count(top);
        for lane in lanes.iter().rev() {
            if below == 0 {
                break;
            }
            // The head before `first` is the last smaller head of the higher lane. The next head of the higher lane
            // is not smaller.
            let first = (below - 1) * self.stride + 1;
            below = first + count(&lane[first..lane.len().min(below * self.stride)]);
        }
        Bound::at(&self.lanes[0], below, head)
    }

    fn memory_bytes(&self) -> usize {
        self.lanes.iter().map(|lane| size_of_val(&**lane)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heads::check_index;

    #[test]
    fn bounds_are_those_of_the_sorted_heads() {
        for stride in [2, 3, 4, 16, 64] {
            check_index(&[1000, 4096, 5000], |heads| HeadLanes::new(heads, stride));
        }
    }

    #[test]
    fn lanes_hold_every_fourth_and_sixteenth() {
        let lanes = HeadLanes::new((0..100).collect(), 4).lanes;
        let lengths: Vec<usize> = lanes.iter().map(Vec::len).collect();
        assert_eq!(lengths, [100, 25, 7, 2]);
        assert_eq!(lanes[2], [0, 16, 32, 48, 64, 80, 96]);
    }

    #[test]
    fn impossible_strides_are_refused() {
        for stride in [0, 1, 65] {
            assert!(<Lanes as Build<_>>::build(Params { stride }).err().unwrap().contains("2 to 64"));
        }
    }
}
