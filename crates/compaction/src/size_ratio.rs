//! Checks the parameter `size_ratio` (T) of policies. Depending on the policy, T is the factor between the sizes of
//! two levels, or the number of runs that triggers a merge. The module also checks the number of runs that triggers
//! the compaction of level 0.

use serde::{Deserialize, Serialize};

/// The parameters of a policy whose only parameter is T, the number of runs that are merged into one run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RunRatioParams {
    pub(crate) size_ratio: u64,
}

impl Default for RunRatioParams {
    fn default() -> Self {
        Self { size_ratio: 10 }
    }
}

/// The TOML keys of [`LeveledParams`] with their defaults and explanations, for the reference pages.
pub(crate) const LEVELED_REFERENCE: &str = "# Size ratio between a level and the level above, 1.1 to 1000000. A larger ratio gives fewer levels,\n\
     # but more writes per level.\n\
     size_ratio = 10\n\
     # Number of level-0 runs that triggers their compaction into level 1, at least 1. With more level-0\n\
     # runs, the tree writes less, but lookups read more runs.\n\
     level0_runs = 1\n";

/// The parameters of a leveled policy, which has one run in each level from level 1 on.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LeveledParams {
    pub(crate) size_ratio: f64,
    pub(crate) level0_runs: u64,
}

impl Default for LeveledParams {
    fn default() -> Self {
        Self { size_ratio: 10.0, level0_runs: 1 }
    }
}

impl RunRatioParams {
    /// Checks `size_ratio`, and returns the number of runs that are merged into one run.
    ///
    /// # Errors
    /// The number is not from 2 to 1,000,000.
    pub(crate) fn runs(&self) -> Result<usize, String> {
        runs("size_ratio", self.size_ratio)
    }
}

/// Checks the parameter `name`, whose value `ratio` is the size ratio between a level and the level above.
///
/// With a ratio below 1.1, levels have almost equal sizes, and the data of every flush would pass through dozens of
/// levels.
pub(crate) fn factor(name: &str, ratio: f64) -> Result<f64, String> {
    if (1.1..=1e6).contains(&ratio) {
        return Ok(ratio);
    }
    Err(format!("{name} is {ratio}; the size ratio between two levels must be from 1.1 to 1000000"))
}

/// Checks the parameter `name`, whose value `runs` is the number of runs that triggers a compaction.
pub(crate) fn runs(name: &str, runs: u64) -> Result<usize, String> {
    if (2..=1_000_000).contains(&runs) {
        return Ok(runs as usize);
    }
    Err(format!("{name} is {runs}; the number of runs that are merged into one must be from 2 to 1000000"))
}

/// Checks the parameter `level0_runs`, the number of runs that triggers the compaction of level 0.
pub(crate) fn level0_runs(runs: u64) -> Result<usize, String> {
    match runs {
        0 => Err("level0_runs is 0; it must be at least 1, because every flush writes a run".to_owned()),
        _ => Ok(runs as usize),
    }
}

/// Returns `buffer_bytes` · `ratio`^`exponent`, from which policies compute the capacities of levels. The function uses
/// only multiplications, because `powf` gives different results on different machines.
pub(crate) fn grown_bytes(buffer_bytes: u64, ratio: f64, exponent: usize) -> f64 {
    (0..exponent).fold(buffer_bytes.max(1) as f64, |bytes, _| bytes * ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_that_make_no_levels_are_refused() {
        for bad in [-1.0, 0.0, 1.0, 1.05, 1e7, f64::NAN, f64::INFINITY] {
            assert!(factor("growth", bad).unwrap_err().starts_with("growth is "), "{bad}");
        }
        assert_eq!(factor("growth", 1.618), Ok(1.618));
        for bad in [0, 1, 1_000_001] {
            let error = runs("runs", bad).unwrap_err();
            assert!(error.starts_with(&format!("runs is {bad}; the number of runs ")), "{error}");
        }
        assert_eq!(runs("runs", 2), Ok(2));
    }

    #[test]
    fn levels_grow_by_the_ratio() {
        assert_eq!(grown_bytes(100, 10.0, 0).to_bits(), 100f64.to_bits());
        assert_eq!(grown_bytes(100, 10.0, 3).to_bits(), 100_000f64.to_bits());
        assert_eq!(grown_bytes(0, 1.5, 2).to_bits(), 2.25f64.to_bits());
    }
}
