//! Unified compaction: one number per level selects tiering, leveling, or a policy in between.
//!
//! Source: the `UnifiedCompactionStrategy` of Apache Cassandra 5 (CEP-26), as its documentation describes it. A level
//! has a scaling parameter W, which determines its threshold T and its fan factor F:
//!
//! | W | spelling | T | F |
//! |---|---|---|---|
//! | below 0 | `L` and F | 2 | 2 − W |
//! | 0 | `N` | 2 | 2 |
//! | above 0 | `T` and T | 2 + W | 2 + W |
//!
//! The size of a run decides its level: level i ends at F(0)·F(1)·…·F(i) buffers. When a level has T runs, all of them
//! become one run. If this run reaches the end of the level, it goes to the next level; otherwise it stays. T = 2 is
//! leveling: each arrival is merged at once with the one run of its level. Levels beyond the last parameter use that
//! parameter.
//!
//! Two parts of the strategy are left to the tree. The tree cuts runs into SSTables by size, where Cassandra has
//! shards. The level of a result depends on the size of its inputs, where Cassandra measures the result.
//!
//! # What it costs
//! With equal parameters and distinct keys, the writes and runs are exactly those of [`tiered`](crate::tiered) with T
//! or of [`leveled`](crate::leveled) with F. Different parameters per level are a K-LSM in the notation that operators
//! know. `T4, L10` writes little in the small levels and keeps each large level in one run.

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
     # leveling with size ratio 10, and \"N\" is both with 2. A plain number is Cassandra's parameter W.\n\
     # The last parameter applies to all deeper levels.\n\
     scaling_parameters = \"T4\"\n",
);

/// The unified policy with W for each level, at least one.
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

/// The largest fan factor.
const MOST_FAN: i64 = 1_000_000;

/// Returns the scaling parameter W of its spelling.
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
            "scaling_parameters has \"{text}\"; each must be T2 to T{MOST_FAN}, L2 to L{MOST_FAN}, N, or a number \
             from {} to {}",
            2 - MOST_FAN,
            MOST_FAN - 2
        )
    })
}

impl Unified {
    fn scaling(&self, level: usize) -> i64 {
        self.scaling[level.min(self.scaling.len() - 1)]
    }

    /// Returns the number of runs at which a level is compacted, T.
    fn threshold(&self, level: usize) -> i64 {
        2 + self.scaling(level).max(0)
    }

    /// Returns the size in bytes from which a run belongs to a deeper level: the buffer times F of each level down to
    /// this level.
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
        // Level 1 is leveled up to 12 buffers, and so is level 2 up to 48.
        assert_eq!(pick("T3, L4", &[&[1], &[3, 6]]), Some((vec![2, 3], 1)));
        assert_eq!(pick("T3, L4", &[&[1], &[3, 9]]), Some((vec![2, 3], 2)));
        assert_eq!(pick("T3, L4", &[&[], &[], &[12, 30]]), Some((vec![1, 2], 2)));
        assert_eq!(pick("T3, L4", &[&[], &[], &[12, 36]]), Some((vec![1, 2], 3)));
        // Overwritten keys: three runs that do not reach the end of the level stay in it.
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
