//! The compaction policy Moose gives each level its own size ratio r and about √r runs. The policy chooses the ratios
//! for the expected final size of the tree.
//!
//! Source: Liu, Wang, Mo, Luo, "Structural Designs Meet Optimality: Exploring Optimized LSM-tree Structures in a
//! Colossal Configuration Space" (SIGMOD 2024). The paper has two results. First, point lookups need a large last
//! level. Second, the cost of writes and scans in a level with ratio r is lowest with n ≈ √r runs. As in the
//! published program of the authors, n is √r, rounded. With b entries per data block, the level costs
//!
//! > n + 16/b + (r − 1)/(b·n)
//!
//! for one scan and one write. A dynamic program over the sizes of levels, in full memtables, finds the ratios with
//! the lowest sum of costs. The product of the ratios is at least `flushes`, and the last ratio is at least
//! `last_ratio`. If the tree grows larger and needs deeper levels, these levels have the last ratio too.
//!
//! The policy picks jobs by the rules of [`fluid`](crate::fluid). However, each level has its own size ratio and its
//! own limit on runs, while `fluid` has one size ratio and two limits for the whole tree.
//!
//! # Costs
//! There is no closed formula for the costs, but the simulator computes them. In a level with n runs, an entry is
//! written about (r − 1)/n times. A lookup searches at most Σ n runs.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::gathered::{Gathered, Limits};
use crate::outline::Outline;
use crate::policy::CompactionPolicy;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Moose>(
    "moose",
    "each level has its own size ratio r and about √r runs; optimal if the size of the tree is known",
    "# Number of flushed memtables for which the structure of the tree is optimal, 2 to 1000000.\n\
     flushes = 1000\n\
     # Number of entries per data block that the cost model assumes, at least 1. With more entries, the\n\
     # model gives more weight to scans and less weight to writes.\n\
     entries_per_block = 32\n\
     # Minimum size ratio between the last level and the level above, 2 to 1000000.\n\
     last_ratio = 10\n",
);

/// The largest valid value of `flushes` and of `last_ratio`.
const MOST_FLUSHES: u64 = 1_000_000;

/// The part of the cost of a level that depends neither on its size ratio nor on its number of runs. The unit is the
/// cost of one entry that a scan reads.
const LEVEL_ENTRIES: f64 = 16.0;

/// The policy `moose` with the planned levels of the tree, from level 0 on. The list is not empty. Deeper levels are
/// like the last level of the list.
struct Moose {
    levels: Vec<Step>,
}

/// A planned level of the tree: its size ratio to the level above, and its number of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    size_ratio: u64,
    runs: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    flushes: u64,
    entries_per_block: u64,
    last_ratio: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { flushes: 1000, entries_per_block: 32, last_ratio: 10 }
    }
}

impl Build<dyn CompactionPolicy> for Moose {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let Params { flushes, entries_per_block, last_ratio } = params;
        for (name, value) in [("flushes", flushes), ("last_ratio", last_ratio)] {
            if !(2..=MOST_FLUSHES).contains(&value) {
                return Err(format!("{name} is {value}; it must be from 2 to {MOST_FLUSHES}"));
            }
        }
        if entries_per_block == 0 {
            return Err("entries_per_block is 0; it must be at least 1 entry".to_owned());
        }
        Ok(Box::new(Gathered(Self { levels: structure(flushes, entries_per_block as f64, last_ratio) })))
    }
}

impl Moose {
    fn step(&self, level: usize) -> Step {
        self.levels[level.min(self.levels.len() - 1)]
    }
}

impl Limits for Moose {
    fn size_ratio(&self, level: usize) -> u64 {
        self.step(level).size_ratio
    }

    fn most_runs(&self, _: &Outline, level: usize) -> u64 {
        self.step(level).runs
    }
}

impl Step {
    fn new(size_ratio: u64) -> Self {
        let runs = (size_ratio as f64).sqrt().round() as u64;
        Self { size_ratio, runs: runs.clamp(1, size_ratio - 1) }
    }

    fn cost(self, entries_per_block: f64) -> f64 {
        let runs = self.runs as f64;
        runs + (LEVEL_ENTRIES + (self.size_ratio - 1) as f64 / runs) / entries_per_block
    }
}

/// The cheapest sequence of levels for a tree of a given size, as the dynamic program stores it: the total cost and the
/// last level of the sequence.
#[derive(Clone, Copy)]
struct Way {
    cost: f64,
    /// The size of the tree without the last level of the sequence. 0 if the sequence has no level.
    from: usize,
    ratio: u64,
}

/// Returns the levels that have the lowest total cost of scans and writes. The product of their size ratios is at least
/// `flushes`, and the last ratio is at least `last_ratio`.
fn structure(flushes: u64, entries_per_block: f64, last_ratio: u64) -> Vec<Step> {
    let cost = |ratio: u64| Step::new(ratio).cost(entries_per_block);
    // The levels above the last level need no size larger than `most`, so each larger size is treated as `most`.
    let most = flushes.div_ceil(last_ratio) as usize;
    let mut ways = vec![Way { cost: f64::INFINITY, from: 0, ratio: 0 }; most + 1];
    ways[1].cost = 0.0;
    for from in 1..most {
        for ratio in 2..=most.div_ceil(from) as u64 {
            let way = Way { cost: ways[from].cost + cost(ratio), from, ratio };
            let reached = &mut ways[(from * ratio as usize).min(most)];
            if way.cost < reached.cost {
                *reached = way;
            }
        }
    }
    let last = |size: usize| last_ratio.max(flushes.div_ceil(size as u64));
    let total = |size: &usize| ways[*size].cost + cost(last(*size));
    let mut size = (1..=most).min_by(|one, other| total(one).total_cmp(&total(other))).unwrap_or(1);
    let mut levels = vec![Step::new(last(size))];
    while ways[size].from > 0 {
        levels.push(Step::new(ways[size].ratio));
        size = ways[size].from;
    }
    levels.reverse();
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{SimulatedLoad, simulate};

    fn ratios(flushes: u64, entries_per_block: f64, last_ratio: u64) -> Vec<u64> {
        structure(flushes, entries_per_block, last_ratio).iter().map(|step| step.size_ratio).collect()
    }

    /// Returns the lowest cost of ratios whose product reaches `flushes`. The function tries all ratios.
    fn least_cost(size: u64, flushes: u64, entries_per_block: f64, last_ratio: u64) -> f64 {
        let cost = |ratio: u64| Step::new(ratio).cost(entries_per_block);
        let last = cost(last_ratio.max(flushes.div_ceil(size)));
        let more = (2..=flushes.div_ceil(size * last_ratio))
            .map(|ratio| cost(ratio) + least_cost(size * ratio, flushes, entries_per_block, last_ratio));
        more.fold(last, f64::min)
    }

    #[test]
    fn no_other_structure_costs_less() {
        for (flushes, entries_per_block) in [(2, 4.0), (64, 4.0), (100, 32.0), (500, 4.0), (600, 1.0)] {
            for last_ratio in [2, 10] {
                let levels = structure(flushes, entries_per_block, last_ratio);
                let cost: f64 = levels.iter().map(|step| step.cost(entries_per_block)).sum();
                let least = least_cost(1, flushes, entries_per_block, last_ratio);
                assert!(
                    (cost - least).abs() < 1e-9,
                    "{flushes} flushes: {levels:?} costs {cost}, not {least}"
                );
                assert!(levels.iter().map(|step| step.size_ratio).product::<u64>() >= flushes);
                assert!(levels[levels.len() - 1].size_ratio >= last_ratio);
            }
        }
    }

    #[test]
    fn levels_have_the_square_root_of_their_ratio_as_runs() {
        assert_eq!([2, 3, 6, 7, 12, 13, 100].map(|ratio| Step::new(ratio).runs), [1, 2, 2, 3, 3, 4, 10]);
        // A ratio of 6 with two runs is the cheapest ratio. The last level has the smallest allowed ratio.
        assert_eq!(ratios(360, 32.0, 10), [6, 6, 10]);
    }

    #[test]
    fn the_tree_has_no_more_runs_than_its_levels_may() {
        let policy = Moose::build(Params { flushes: 360, ..Params::default() }).ok().unwrap();
        let load = SimulatedLoad {
            writes_per_flush: 100,
            entry_bytes: 10,
            entries_per_table: u64::MAX,
            distinct_keys: None,
        };
        for flushes in [5, 35, 59, 359, 1000] {
            let report = simulate(&*policy, load, flushes).unwrap();
            let runs: Vec<usize> = report.levels.iter().map(|level| level.runs).collect();
            assert!(runs.iter().zip([2, 2, 3, 3]).all(|(runs, most)| *runs <= most), "{flushes}: {runs:?}");
        }
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let build = |params| Moose::build(params).err().unwrap();
        assert!(build(Params { flushes: 1, ..Params::default() }).starts_with("flushes is 1"));
        assert!(build(Params { last_ratio: 1, ..Params::default() }).starts_with("last_ratio is 1"));
        assert!(
            build(Params { entries_per_block: 0, ..Params::default() }).starts_with("entries_per_block is 0")
        );
    }
}
