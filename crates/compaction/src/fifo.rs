//! FIFO: nothing is merged, and once there is more than `capacity`, the oldest runs go.
//!
//! Source: the FIFO compaction style of `RocksDB` (`FIFOCompactionPicker::PickSizeCompaction`), for data that are
//! of no use after a while: logs, metrics, caches. A store with it is a window over the newest writes. What goes
//! is the oldest run, whole, with all that is in it, then the next one, until the rest fits; so a key that was
//! written long ago is found no more, and what is found is always the newest version: a tombstone goes only with
//! all that is older. The newest run stays, however large.
//!
//! The style's other rule, to drop what is older than a time, needs a clock, which no policy has; here age is
//! counted in what was written since. A compaction asked for by hand makes one run of all, which goes in one
//! piece once it is the oldest and no longer fits.
//!
//! # What it costs
//! Write amplification is exactly 1 for keys that are all different: each byte is written by its flush, and
//! never again. A lookup sees up to C + 1 runs, C = `capacity` in buffers, and stale data stay until they are
//! the oldest. Space is bounded by `capacity` and one flush.

use catalog::{Build, ByteSize, Limit, Variant};
use serde::{Deserialize, Serialize};

use crate::job::{Action, Job};
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape};

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Fifo>(
    "fifo",
    "nothing is merged, and the oldest runs are dropped above a capacity: a window over the newest writes",
    "# Bytes of keys and values, with the overhead of entries, above which the oldest runs are dropped.\n\
     capacity = \"1GiB\"\n",
)
.limited(&[Limit::DropsData]);

/// The policy.
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
            0 => Err("capacity is 0; it must be at least 1B: what is kept of a store".to_owned()),
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
