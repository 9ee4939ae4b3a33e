//! Unified compaction. One parameter per level selects tiering, leveling, or a compromise between tiering and
//! leveling.
//!
//! Source: the `UnifiedCompactionStrategy` of Apache Cassandra 5 (CEP-26), according to its documentation. Each level
//! has a scaling parameter W, which determines the threshold T and the fan factor F of the level:
//!
//! | W | spelling | T | F |
//! |---|---|---|---|
//! | below 0 | `L` and F | 2 | 2 − W |
//! | 0 | `N` | 2 | 2 |
//! | above 0 | `T` and T | 2 + W | 2 + W |
//!
//! The size of a run determines its level. Level i has runs of less than F(0)·F(1)·…·F(i) full memtables. When a
//! level has T runs, all these runs are merged into one run. If the merged run is too large for the level, the run
//! goes to the next level. A smaller run remains in the level. T = 2 is leveling, because each arriving run is merged
//! at once with the single run of its level. The last parameter applies to all deeper levels.
//!
//! This policy differs from Cassandra in two ways. The tree divides runs into SSTables by size, while Cassandra uses
//! shards. The level of an output run depends on the size of its inputs, while Cassandra uses the size of the output.
//!
//! # Costs
//! Assume that all levels have the same parameter and that keys are distinct. The writes and runs then exactly equal
//! those of [`tiered`](crate::tiered) with T, or of [`leveled`](crate::leveled) with F. Different parameters per
//! level correspond to a K-LSM. For example, `T4, L10` writes few bytes in the small levels, and has one run in each
//! large level.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::policy::CompactionPolicy;
use crate::shape::Shape;
use crate::whole;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Unified>(
    "unified",
    "one scaling parameter per level selects tiering or leveling, as in Cassandra's unified strategy",
    "# Scaling parameters of the levels, separated by commas. \"T4\" is tiering with 4 runs, \"L10\" is\n\
     # leveling with size ratio 10, and \"N\" is the same as \"T2\" and \"L2\". A plain number is\n\
     # Cassandra's parameter W. The last parameter applies to all deeper levels.\n\
     scaling_parameters = \"T4\"\n",
);

/// The policy `unified`, with the scaling parameter W of each level, which selects tiering or leveling. The list is not
/// empty.
struct Unified {
    scaling: Vec<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    scaling_parameters: String,
}

impl Default for Params {
    fn default() -> Self {
        Self { scaling_parameters: "T4".to_owned() }
    }
}

impl Build<dyn CompactionPolicy> for Unified {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let scaling = params.scaling_parameters.split(',').map(|text| parse(text.trim()));
        Ok(Box::new(Self { scaling: scaling.collect::<Result<_, _>>()? }))
    }
}

/// The largest valid fan factor F, which is the factor between the run sizes of two levels.
const MOST_FAN: i64 = 1_000_000;

/// Parses the scaling parameter of a level, such as `T4`, and returns its number W.
///
/// # Errors
/// The text is not a scaling parameter, or is out of range.
fn parse(text: &str) -> Result<i64, String> {
    let number = |digits: &str| digits.parse::<i64>().ok();
    let scaling = match text.split_at_checked(1) {
        Some(("N", "")) => Some(0),
        Some(("T", fan)) => number(fan).and_then(|fan| fan.checked_sub(2)).filter(|scaling| *scaling >= 0),
        Some(("L", fan)) => number(fan).and_then(|fan| 2i64.checked_sub(fan)).filter(|scaling| *scaling <= 0),
        _ => number(text),
    };
    scaling.filter(|scaling| (2 - MOST_FAN..=MOST_FAN - 2).contains(scaling)).ok_or_else(|| {
        format!(
            "scaling_parameters has \"{text}\"; each must be T2 to T{MOST_FAN}, L2 to L{MOST_FAN}, N, or a value of \
             W from {} to {}",
            2 - MOST_FAN,
            MOST_FAN - 2
        )
    })
}

impl Unified {
    fn scaling(&self, level: usize) -> i64 {
        self.scaling[level.min(self.scaling.len() - 1)]
    }

    /// Returns the number of runs that triggers the compaction of a level (T).
    fn threshold(&self, level: usize) -> i64 {
        2 + self.scaling(level).max(0)
    }

    /// Returns the exclusive upper limit for the size of a run of the level, in bytes. The limit is the memtable size
    /// times the product of the fan factors F from level 0 to this level. A larger run belongs to a deeper level.
    fn end(&self, shape: &Shape, level: usize) -> f64 {
        let fans = (0..=level).map(|level| (2 + self.scaling(level).abs()) as f64);
        fans.fold(shape.buffer_bytes.max(1) as f64, |bytes, fan| bytes * fan)
    }
}

impl CompactionPolicy for Unified {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let fullness = |level: usize| shape.runs_of(level).len() as f64 / self.threshold(level) as f64;
        let level = whole::fullest(shape, fullness)?;
        Some(match shape.bytes_of(level) as f64 >= self.end(shape, level) {
            true => whole::merge_down(shape, level),
            false => whole::merge_within(shape, level),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{SimulatedLoad, simulate};
    use crate::testing::shape;

    fn policy(scaling_parameters: &str) -> Box<dyn CompactionPolicy> {
        Unified::build(Params { scaling_parameters: scaling_parameters.to_owned() }).ok().unwrap()
    }

    fn pick(scaling: &str, levels: &[&[u64]]) -> Option<(Vec<u64>, usize)> {
        let job = policy(scaling).pick(&shape(levels))?;
        assert_eq!(job.run, None);
        Some((job.inputs, job.level))
    }

    #[test]
    fn the_spellings_of_cassandra_are_read() {
        let read = ["N", "T2", "L2", "0", "T4", "2", "L10", "-8"].map(|text| parse(text).unwrap());
        assert_eq!(read, [0, 0, 0, 0, 2, 2, -8, -8]);
        for bad in ["", "T", "T1", "L1", "T-3", "X4", "N4", "4.5", "T1000001", "-1000000", "é"] {
            let error = parse(bad).unwrap_err();
            assert!(error.starts_with("scaling_parameters has ") && error.contains("must be"), "{error}");
        }
    }

    #[test]
    fn each_level_has_its_own_threshold_and_end() {
        assert_eq!(pick("T3, L4", &[&[1, 1]]), None);
        assert_eq!(pick("T3, L4", &[&[1, 1, 1]]), Some((vec![1, 2, 3], 1)));
        // Level 1 is leveled with runs of up to 12 buffers, and level 2 is leveled with runs of up to 48 buffers.
        assert_eq!(pick("T3, L4", &[&[1], &[3, 6]]), Some((vec![2, 3], 1)));
        assert_eq!(pick("T3, L4", &[&[1], &[3, 9]]), Some((vec![2, 3], 2)));
        assert_eq!(pick("T3, L4", &[&[], &[], &[12, 30]]), Some((vec![1, 2], 2)));
        assert_eq!(pick("T3, L4", &[&[], &[], &[12, 36]]), Some((vec![1, 2], 3)));
        // Keys were overwritten, so the merge of three runs is too small for the next level and remains in its level.
        assert_eq!(pick("T3", &[&[], &[2, 2, 2]]), Some((vec![1, 2, 3], 1)));
    }

    #[test]
    fn equal_parameters_are_tiering_and_leveling() {
        let load = SimulatedLoad {
            writes_per_flush: 100,
            entry_bytes: 10,
            entries_per_table: u64::MAX,
            distinct_keys: None,
        };
        let built =
            |label: &str| crate::CATALOG.build(&crate::CATALOG.choose(&label.into()).unwrap()).unwrap();
        for (scaling, same) in [
            ("T4", "tiered(size_ratio=4)"),
            ("8", "tiered(size_ratio=10)"),
            ("N", "binary-counter"),
            ("L10", "leveled(size_ratio=10)"),
            ("-2", "leveled(size_ratio=4)"),
        ] {
            for flushes in [1, 7, 64, 100, 1000] {
                let unified = simulate(&*policy(scaling), load, flushes).unwrap();
                let same = simulate(&*built(same), load, flushes).unwrap();
                let written =
                    |report: &crate::SimulatedWrites| (report.compaction_bytes_written, report.runs());
                assert_eq!(written(&unified), written(&same), "{scaling}, {flushes} flushes");
            }
        }
    }
}
