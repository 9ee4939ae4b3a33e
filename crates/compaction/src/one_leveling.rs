//! 1-leveling: the first level collects T runs. Every other level is one run and is compacted table by table.
//!
//! Source: Sarkar, Staratzis, Zhu, Athanassoulis, "Constructing and Analyzing the LSM Compaction Design Space" (VLDB
//! 2021), section 3.2, where it represents the shape of `RocksDB`. The first level is tiered, so that flushes are
//! cheap. The other levels are leveled, and the table with the least overlap is compacted.
//!
//! The policy is [`leveled-partial`](crate::leveled_partial), except that level 0 counts as the first level of T
//! buffers. Level i takes T^(i+1) buffers. Level 0 costs no writes, and its data arrive in level 1 T buffers at a time,
//! so level 1 is rewritten as often as any level. With tables as large as runs, the closed form of
//! [`leveled`](crate::leveled) applies, with `level0_runs` = T and capacities of T^(i+1). Lookups and short scans
//! search up to T more runs than with `leveled`. Space is equal.

use catalog::{Build, Variant};

use crate::leveled_partial::LeveledPartial;
use crate::picker::Picker;
use crate::policy::CompactionPolicy;
use crate::size_ratio::RunRatioParams;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<OneLeveling>(
    "one-leveling",
    "the first level collects size_ratio runs; other levels have one run, compacted table by table",
    "# Number of runs in level 0, and size ratio between levels, 2 to 1000000. A larger number gives\n\
     # fewer levels, but more runs in level 0.\n\
     size_ratio = 10\n",
);

/// Builder of [`LeveledPartial`] with a first level of T runs.
struct OneLeveling;

impl Build<dyn CompactionPolicy> for OneLeveling {
    type Params = RunRatioParams;

    fn build(params: RunRatioParams) -> Result<Box<dyn CompactionPolicy>, String> {
        let level0_runs = params.runs()?;
        Ok(Box::new(LeveledPartial {
            size_ratio: level0_runs as f64,
            level0_runs,
            level1_exponent: 2,
            tables_per_job: 1,
            picker: Picker::LeastOverlap,
            deletes: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    #[test]
    fn the_first_level_holds_one_buffer_less_than_t() {
        let policy = OneLeveling::build(RunRatioParams { size_ratio: 3 }).unwrap();
        assert_eq!(policy.pick(&shape(&[&[1, 1], &[8]])), None);
        assert_eq!(policy.pick(&shape(&[&[1, 1, 1], &[6]])).unwrap().inputs, [1, 2, 3, 4]);
        assert_eq!(policy.pick(&shape(&[&[1, 1], &[9], &[26]])).unwrap().inputs, [3, 4]);
    }
}
