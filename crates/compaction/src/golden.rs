//! Golden-ratio compaction: levels grow by φ ≈ 1.618 and compact a few tables at a time into the next level.
//!
//! Source: the report of byron, section 1.2(D): "when level i grows to φ times level i−1, a small number of tables,
//! usually two, is compacted into level i+1", so that compactions are many and small. Here, the compared sizes are the
//! capacities of the levels, φ^i buffers. With the current sizes of the levels, the rule would never rest: the level
//! above is empty right after its compaction, and every size is at least φ times zero. The tables are picked
//! round-robin in key order. Level 0 is compacted when it has two runs.
//!
//! The policy is [`leveled-partial`](crate::leveled_partial) with other numbers. The ratio is the separate parameter
//! `growth`, so that a `size_ratio` set for another policy is not applied by mistake. The tree has about 4.8 times as
//! many levels as with T = 10. Lookups search all of them, and data pass through all of them. Whole-level leveling with
//! T writes in proportion to T/(2·log₂ T). This term is lowest near T = e (0.94), and it is 1.17 at φ, against 1.00 at
//! 2 and at 4. The advantage of the policy is that its longest compaction is short.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::leveled_partial::LeveledPartial;
use crate::picker::Picker;
use crate::policy::CompactionPolicy;
use crate::size_ratio;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Golden>(
    "golden",
    "levels grow by 1.618 and compact two SSTables at once; many levels and many small compactions",
    "# Size ratio between a level and the level above, 1.1 to 1000000. A larger ratio gives fewer levels,\n\
     # but more writes per level.\n\
     growth = 1.618\n\
     # Number of adjacent SSTables per compaction, at least 1. A larger number gives fewer but longer\n\
     # compactions.\n\
     tables_per_job = 2\n",
);

/// Runs of level 0 that are compacted into level 1.
const LEVEL0_RUNS: usize = 2;

/// Builder of [`LeveledPartial`] with a small ratio.
struct Golden;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    growth: f64,
    tables_per_job: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { growth: 1.618, tables_per_job: 2 }
    }
}

impl Build<dyn CompactionPolicy> for Golden {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        if params.tables_per_job == 0 {
            return Err(
                "tables_per_job is 0; it must be at least 1, because a job needs input tables".to_owned()
            );
        }
        Ok(Box::new(LeveledPartial {
            size_ratio: size_ratio::factor("growth", params.growth)?,
            level0_runs: LEVEL0_RUNS,
            level1_exponent: 1,
            tables_per_job: usize::try_from(params.tables_per_job).unwrap_or(usize::MAX),
            picker: Picker::RoundRobin,
            deletes: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cut_shape;

    #[test]
    fn two_tables_go_down_at_a_time() {
        let policy = Golden::build(Params::default()).unwrap();
        let tables = [(0, 9), (10, 19), (20, 29)];
        assert_eq!(policy.pick(&cut_shape(&[(1, 0, &tables[..1])])), None);
        let shape = cut_shape(&[(1, 0, &tables[..2]), (2, 0, &[(5, 12)])]);
        // The last compaction into the level below ended at 12, so the round-robin starts again from the first table.
        assert_eq!(policy.pick(&shape).unwrap().inputs, [1, 2, 3]);
        let shape = cut_shape(&[(1, 0, &tables), (2, 0, &[(5, 9)])]);
        assert_eq!(policy.pick(&shape).unwrap().inputs, [2, 3]);
    }
}
