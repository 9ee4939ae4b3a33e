//! 1-leveling collects T runs in the first level. Every other level has one run, and a compaction takes one SSTable
//! of this run.
//!
//! Source: Sarkar, Staratzis, Zhu, Athanassoulis, "Constructing and Analyzing the LSM Compaction Design Space" (VLDB
//! 2021), section 3.2, where 1-leveling stands for the levels of `RocksDB`. The first level is tiered, so that
//! flushes cause few writes. All other levels are leveled, and a compaction takes the SSTable with the least overlap.
//!
//! The policy equals [`leveled-partial`](crate::leveled_partial), except that level 0 has a capacity of T full
//! memtables, like the first level of the paper. The capacity of level i is T^(i+1) full memtables. Compaction writes
//! no data in level 0. Each compaction of level 0 writes T memtables into level 1, so level 1 is rewritten as often
//! as any other level. If each run is one SSTable, the formula of [`leveled`](crate::leveled) applies, with
//! `level0_runs` = T and capacities of T^(i+1). Lookups and short scans search up to T more runs than with `leveled`.
//! Both policies need the same amount of space.

use catalog::{Build, Variant};

use crate::leveled_partial::LeveledPartial;
use crate::picker::Picker;
use crate::policy::CompactionPolicy;
use crate::size_ratio::RunRatioParams;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<OneLeveling>(
    "one-leveling",
    "the first level collects size_ratio runs; other levels have one run, compacted one SSTable at a time",
    "# Number of runs in level 0, and size ratio between levels, 2 to 1000000. With more runs in level 0,\n\
     # the tree has fewer levels, but lookups read more runs.\n\
     size_ratio = 10\n",
);

/// Builds the policy `one-leveling`, which is [`LeveledPartial`] with T runs in level 0.
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
