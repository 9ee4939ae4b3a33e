//! Golden-ratio compaction uses a size ratio of φ ≈ 1.618 between levels. A job compacts a few SSTables of a level into
//! the next level.
//!
//! Source: the document of the published system byron, section 1.2(D): "when level i grows to φ times level i−1, a
//! small number of tables, usually two, is compacted into level i+1", so that compactions are many and small. This
//! policy compares the size of a level with its capacity, which is φ^i full memtables. With a comparison of level i and
//! level i−1, the policy would request jobs without end, because level i−1 is empty right after its compaction. The
//! SSTables are picked round-robin in key order. Level 0 is compacted when it has two runs.
//!
//! The policy equals [`leveled-partial`](crate::leveled_partial) with other parameters. The ratio has its own parameter
//! `growth`, so that a `size_ratio` for another policy is not applied by mistake. The tree has about 4.8 times as many
//! levels as with T = 10. Lookups search all these levels, and each entry passes through all these levels. If complete
//! levels are compacted, the number of writes is proportional to T/(2·log₂ T). This expression is lowest near T = e,
//! where its value is 0.94. Its value is 1.17 at T = φ, and 1.00 at T = 2 and at T = 4. The advantage of the policy is
//! that each of its compactions is short.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::leveled_partial::LeveledPartial;
use crate::picker::Picker;
use crate::policy::CompactionPolicy;
use crate::size_ratio;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Golden>(
    "golden",
    "leveled with size ratio 1.618, compacted two SSTables at a time; many levels and many small compactions",
    "# Size ratio between a level and the level above, 1.1 to 1000000. A larger ratio gives fewer levels,\n\
     # but more writes per level.\n\
     growth = 1.618\n\
     # Number of adjacent SSTables per compaction, at least 1. With more SSTables, compactions are fewer\n\
     # but longer.\n\
     tables_per_job = 2\n",
);

/// The number of level-0 runs that triggers their compaction into level 1.
const LEVEL0_RUNS: usize = 2;

/// Builds the policy `golden`, which is [`LeveledPartial`] with the golden ratio as its size ratio.
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
                "tables_per_job is 0; it must be at least 1, because a job needs input SSTables".to_owned()
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
        // The last compaction into the next level ended at key 12, so round-robin continues with the first SSTable.
        assert_eq!(policy.pick(&shape).unwrap().inputs, [1, 2, 3]);
        let shape = cut_shape(&[(1, 0, &tables), (2, 0, &[(5, 9)])]);
        assert_eq!(policy.pick(&shape).unwrap().inputs, [2, 3]);
    }
}
