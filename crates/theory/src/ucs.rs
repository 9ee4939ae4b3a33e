//! Converts Cassandra's scaling parameters of unified compaction (UCS) to a size ratio and a number of runs.
//!
//! Source: Apache Cassandra, "Unified Compaction Strategy". A number W describes each level, and the fan is the size
//! ratio of the level. If W is below 0, the level is leveled: its fan is 2 − W, and a compaction merges two runs. If W
//! is above 0, the level is tiered: its fan is 2 + W, and a compaction merges as many runs as the fan. W can also be
//! written as `L` or `T` with the fan, or as `N` for 0. For example, `L10` is −8 and `T4` is 2.

use crate::Fluid;

/// Cassandra's scaling parameter W of a level. Negative numbers mean leveled, and positive numbers mean tiered
/// compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UcsScaling(pub i32);

impl UcsScaling {
    /// Parses a scaling parameter, written as `L10`, `T4`, `N` or a number. Returns `None` for any other text.
    pub fn read(text: &str) -> Option<Self> {
        let fan = |digits: &str| digits.parse::<i32>().ok().filter(|fan| (2..=1000).contains(fan));
        match text.trim().split_at_checked(1)? {
            ("N", "") => Some(Self(0)),
            ("L", digits) => Some(Self(2 - fan(digits)?)),
            ("T", digits) => Some(Self(fan(digits)? - 2)),
            _ => text.trim().parse().ok().filter(|scaling| (-998..=998).contains(scaling)).map(Self),
        }
    }

    /// Returns the size ratio of a level with this scaling parameter, which Cassandra calls its fan.
    pub fn fan(self) -> u32 {
        2 + self.0.unsigned_abs()
    }

    /// Returns the number of runs at which a compaction of a level with this scaling parameter is due.
    pub fn threshold(self) -> u32 {
        if self.0 > 0 { self.fan() } else { 2 }
    }

    /// Returns the cost model of a tree in which all levels have this scaling parameter. The number of runs in a level
    /// is at most the compaction threshold minus 1.
    pub fn fluid(self) -> Fluid {
        let runs = f64::from(self.threshold() - 1);
        Fluid { size_ratio: f64::from(self.fan()), upper_runs: runs, largest_runs: runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_read_back() {
        for (text, scaling, fan, threshold) in
            [("L10", -8, 10, 2), ("T4", 2, 4, 4), ("N", 0, 2, 2), ("-8", -8, 10, 2), ("T2", 0, 2, 2)]
        {
            let read = UcsScaling::read(text).unwrap();
            assert_eq!((read, read.fan(), read.threshold()), (UcsScaling(scaling), fan, threshold), "{text}");
        }
        for text in ["", "L", "L1", "X3", "T2000", "-9999", "é"] {
            assert_eq!(UcsScaling::read(text), None, "{text}");
        }
    }
}
