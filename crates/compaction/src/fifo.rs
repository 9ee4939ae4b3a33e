//! FIFO compaction merges no runs, and drops the oldest runs when the tree exceeds `capacity`.
//!
//! Source: the FIFO compaction style of `RocksDB` (`FIFOCompactionPicker::PickSizeCompaction`). FIFO compaction is
//! for data with limited lifetime, such as logs, metrics and caches. A store with this policy keeps only the newest
//! writes. The policy drops complete runs, the oldest run first, until the remaining runs fit into `capacity`. A
//! lookup therefore does not find a key that was written long ago. A lookup never returns an old value, because a
//! tombstone is dropped only together with all older data. The newest run always remains, even if it is larger than
//! `capacity`.
//!
//! `RocksDB` can also drop data that is older than a given time. A policy of this crate has no clock, so this policy
//! measures the age of data in bytes that were written later. A manual compaction merges all data into one run. The
//! policy later drops this run as a whole, when the run no longer fits into `capacity`.
//!
//! # Costs
//! Write amplification is exactly 1 if all keys are different, because only the flush writes each byte. A lookup
//! searches up to C + 1 runs, where C is `capacity` divided by the size of a memtable. An overwritten entry remains
//! in the tree until its run is dropped. The tree takes at most `capacity` plus the size of one flush.

use catalog::{Build, ByteSize, Limit, Variant};
use serde::{Deserialize, Serialize};

use crate::job::{Action, Job};
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape};

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Fifo>(
    "fifo",
    "no compaction; if the tree exceeds a capacity, it deletes its oldest runs, so only the newest writes remain",
    "# Maximum size of all keys and values, including the overhead of entries. Above this size, the tree\n\
     # deletes its oldest runs.\n\
     capacity = \"1GiB\"\n",
)
.limited(&[Limit::DropsData]);

/// The policy `fifo`, with the capacity above which it drops the oldest runs.
struct Fifo {
    capacity: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    capacity: ByteSize,
}

impl Default for Params {
    fn default() -> Self {
        Self { capacity: ByteSize(1 << 30) }
    }
}

impl Build<dyn CompactionPolicy> for Fifo {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        match params.capacity.0 {
            0 => Err("capacity is 0; it must be at least 1B, the size that the store may keep".to_owned()),
            capacity => Ok(Box::new(Self { capacity })),
        }
    }
}

impl CompactionPolicy for Fifo {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let mut bytes: u64 = shape.levels.runs().map(|(_, run)| run.bytes()).sum();
        let mut dropped: Vec<(usize, &Run<_>)> = Vec::new();
        for (level, run) in shape.levels.runs().skip(1).collect::<Vec<_>>().into_iter().rev() {
            if bytes <= self.capacity {
                break;
            }
            bytes -= run.bytes();
            dropped.push((level, run));
        }
        let (level, _) = *dropped.last()?;
        let inputs = dropped.iter().flat_map(|(_, run)| &run.tables).map(|table| table.id).collect();
        Some(Job { inputs, level, run: None, action: Action::Drop })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    fn dropped(capacity: u64, levels: &[&[u64]]) -> Option<Vec<u64>> {
        let job = Fifo { capacity }.pick(&shape(levels))?;
        assert_eq!((job.action, job.run), (Action::Drop, None));
        assert_eq!(job.validate(&shape(levels).levels), Ok(()));
        Some(job.inputs)
    }

    #[test]
    fn the_oldest_runs_go_until_the_rest_fits() {
        assert_eq!(dropped(5, &[&[1, 2, 2]]), None);
        assert_eq!(dropped(4, &[&[1, 2, 2]]), Some(vec![3]));
        assert_eq!(dropped(2, &[&[1, 2, 2]]), Some(vec![3, 2]));
        assert_eq!(dropped(5, &[&[1, 1], &[], &[2, 3]]), Some(vec![4]));
        assert_eq!(dropped(1, &[&[1, 1], &[], &[2, 3]]), Some(vec![4, 3, 2]));
    }

    #[test]
    fn the_newest_run_stays_however_large() {
        assert_eq!(dropped(1, &[&[9, 1]]), Some(vec![2]));
        assert_eq!(dropped(1, &[&[9]]), None);
        assert_eq!(dropped(1, &[]), None);
    }
}
