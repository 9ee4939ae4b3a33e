//! A cost model for the policy `adaptive`. A setting is a combination of values for the size ratio T and the run limits
//! K and Z (see [`fluid`](crate::fluid)). A window contains the operations of the latest flushes. For a given setting,
//! the model predicts the cost of the operations of a window. The unit of cost is one byte that a compaction writes.
//!
//! Sizes are in buffers, where a buffer is one full memtable. Level i receives runs of T^i buffers, called arrivals. A
//! run collects up to s = ⌈(T−1)/K⌉ arrivals. An arrival is merged with the newest run of its level if this run has
//! fewer than s arrivals. Otherwise, the arrival becomes a new run. In a cycle of T arrivals, the j-th arrival is the
//! p(j)-th arrival of its run, with p(j) = ((j−1) mod s) + 1. The following two sums are over j = 1 … T. In every level
//! except the last level, an entry is written Σ p(j) / T times. The level has Σ ⌈j/s⌉ / T runs on average. Both sums
//! are exact for [`fluid`](crate::fluid) and distinct keys. In the last level, the cost of an arrival depends on the
//! actual size of the newest run.
//!
//! A get of a missing key reads a block of each run whose filter has a false positive. A get of a present key also
//! reads a block for each false positive in a newer run. The block with the key is not counted, because every setting
//! reads this block. A scan reads a block of each run. The expected number of runs of a level is a weighted mean of two
//! numbers. The first number is the actual number of runs, limited to the maximum of the setting. The second number is
//! the mean number of runs over a cycle. The weight of the second number is a / (a + T/2), where a is the number of
//! arrivals in the window.
//!
//! The computation uses only basic arithmetic, so that every machine gets an equal result.

use crate::fluid::Fluid;
use crate::gathered::largest_level;
use crate::operations::Operations;
use crate::outline::Outline;

/// The mean costs of one level for given parameters of the policy `adaptive`: how often compactions write an entry, and
/// how many sorted runs the level has. The means are over the time in which T runs arrive at the level.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LevelForm {
    /// The number of times that compactions write an entry in one level (not level 0) before the entry moves to the
    /// next level.
    writes: f64,
    /// The number of times that compactions within level 0 write an entry. The write by the flush is not included.
    first_writes: f64,
    /// The mean number of sorted runs in the level over the time in which T runs arrive.
    runs: f64,
    /// The number of arriving runs that together form a full run of the level.
    run_arrivals: f64,
}

impl LevelForm {
    fn new(size_ratio: u64, runs: u64) -> Self {
        let run_arrivals = (size_ratio - 1).div_ceil(runs.min(size_ratio - 1));
        let place = |arrival: u64| (arrival - 1) % run_arrivals + 1;
        let in_first =
            |arrival: u64| if arrival == size_ratio || place(arrival) == 1 { 0 } else { place(arrival) };
        let mean = |sum: u64| sum as f64 / size_ratio as f64;
        Self {
            writes: mean((1..=size_ratio).map(place).sum()),
            first_writes: mean((1..=size_ratio).map(in_first).sum()),
            runs: mean((0..size_ratio).map(|arrivals| arrivals.div_ceil(run_arrivals)).sum()),
            run_arrivals: run_arrivals as f64,
        }
    }
}

/// A setting of the policy `adaptive`: the size ratio T and the run limits K and Z. A setting also contains the mean
/// costs of an upper level and of the largest level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) fluid: Fluid,
    upper: LevelForm,
    largest: LevelForm,
}

impl Setting {
    pub(super) fn new(fluid: Fluid) -> Self {
        let form = |runs| LevelForm::new(fluid.size_ratio, runs);
        Self { fluid, upper: form(fluid.upper_runs), largest: form(fluid.largest_runs) }
    }
}

/// The sizes of all levels of a tree, from which the cost model predicts costs. They are computed only once, because a
/// decision compares many settings on one tree.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// For each level of the tree, its size in bytes and its number of runs.
    levels: Vec<(u64, usize)>,
    /// The total size of all levels of the tree, in bytes.
    bytes: f64,
    buffer_bytes: f64,
    largest_level: usize,
    operations: Operations,
}

impl Sizes {
    pub(super) fn of(outline: &Outline, operations: Operations) -> Self {
        let mut levels = vec![(0, 0); outline.last_level() + 1];
        for run in outline.runs() {
            let (bytes, runs) = &mut levels[run.level];
            *bytes += run.bytes;
            *runs += 1;
        }
        Self {
            bytes: levels.iter().map(|(bytes, _)| *bytes as f64).sum(),
            levels,
            buffer_bytes: outline.buffer_bytes.max(1) as f64,
            largest_level: largest_level(outline),
            operations,
        }
    }

    /// Returns the size of a level in bytes, and its number of runs. Both are 0 for a level without data.
    fn level(&self, level: usize) -> (u64, usize) {
        self.levels.get(level).copied().unwrap_or_default()
    }
}

/// The parameters of the cost model of the policy `adaptive`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CostModel {
    /// The number of times that the observed operations are expected to occur again.
    pub(super) horizon: f64,
    /// The cost of one block read by a get or a scan. The unit is one byte that a compaction writes.
    pub(super) read_price: f64,
    /// The false-positive rate that the model assumes for all filters, from 0 to 1.
    pub(super) fpr: f64,
}

/// The expected numbers of runs in the tree, if the next operations are like the observed operations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ExpectedRuns {
    /// The expected number of runs in all levels of the tree except the largest level.
    upper: f64,
    /// The expected number of runs in the largest level of the tree.
    largest: f64,
}

impl CostModel {
    /// Returns the predicted cost of the expected operations, for a tree with the sizes `sizes` and the setting
    /// `setting`. The unit is a byte that a compaction writes. The cost of changing to this setting is not included.
    pub(super) fn cost(&self, sizes: &Sizes, setting: &Setting) -> f64 {
        let flushed = sizes.operations.flushes as f64 * sizes.buffer_bytes * self.horizon;
        let (writes, runs) = writes_and_runs(sizes, setting, flushed);
        flushed * writes + self.horizon * self.read_price * self.blocks(&sizes.operations, runs)
    }

    /// Returns the number of blocks that the gets and scans of one window are expected to read. The block that contains
    /// the key of a get is not counted, because every setting reads it.
    fn blocks(&self, operations: &Operations, runs: ExpectedRuns) -> f64 {
        let all = runs.upper + runs.largest;
        let newer = runs.upper + (runs.largest - 1.0).max(0.0) / 2.0;
        operations.scans as f64 * all
            + self.fpr * (operations.gets_missing as f64 * all + operations.gets_found as f64 * newer)
    }
}

/// Predicts two values for a period in which flushes write `flushed` bytes. The first value is the number of times that
/// an entry is written until it is in the largest level, including its flush. The second value is the number of runs.
fn writes_and_runs(sizes: &Sizes, setting: &Setting, flushed: f64) -> (f64, ExpectedRuns) {
    let ratio = setting.fluid.size_ratio as f64;
    let Sizes { bytes, largest_level: deepest, .. } = *sizes;
    let (mut level, mut writes, mut runs) = (0, 1.0, ExpectedRuns::default());
    let mut arrival = sizes.buffer_bytes;
    loop {
        // Level 0 is never the largest level. If a level has room for all data, the levels below it receive nothing.
        let is_reached = level <= 1 || arrival <= bytes;
        let has_room = level > 0 && arrival * ratio > bytes;
        let is_largest = has_room && level >= deepest;
        let (form, most) = match is_largest {
            true => (&setting.largest, setting.fluid.largest_runs),
            false => (&setting.upper, setting.fluid.upper_runs),
        };
        let most = most.min(setting.fluid.size_ratio - 1) as f64;
        let (bytes_of_level, runs_of_level) = sizes.level(level);
        let held = (runs_of_level as f64).min(most);
        if is_reached {
            writes += match level {
                0 => form.first_writes,
                _ if is_largest => last_writes(form, bytes_of_level as f64 / arrival, held),
                _ => form.writes,
            };
        }
        // The weight of the mean number of runs. A cycle has T arrivals, and half of a cycle is left on average.
        let renewed = flushed / (flushed + arrival * ratio / 2.0);
        let expected = held + renewed * (form.runs - held);
        if is_largest {
            return (writes, ExpectedRuns { largest: expected, ..runs });
        }
        runs.upper += expected;
        (level, arrival) = (level + 1, arrival * ratio);
    }
}

/// Predicts how many times compactions write an entry in the largest level. `arrivals` is the size of this level
/// divided by the size of an arriving run, and `runs` is its number of runs. The result is 1 if the newest run is full,
/// because the arriving run then becomes a new run.
fn last_writes(form: &LevelForm, arrivals: f64, runs: f64) -> f64 {
    let newest = arrivals / runs.max(1.0);
    if newest + 1.0 <= form.run_arrivals { newest + 1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gathered::Gathered;
    use crate::simulate::{SimulatedLoad, Simulator};
    use crate::testing::shape;

    fn fluid(size_ratio: u64, upper_runs: u64, largest_runs: u64) -> Fluid {
        Fluid { size_ratio, upper_runs, largest_runs }
    }

    /// Tests that the computed costs of a level equal the measured costs of the policy in a simulation with distinct
    /// keys.
    #[test]
    fn the_forms_are_those_of_the_policy() {
        const CYCLES: u64 = 2;
        let load = SimulatedLoad {
            writes_per_flush: 100,
            entry_bytes: 10,
            entries_per_table: u64::MAX,
            distinct_keys: None,
        };
        for (size_ratio, upper_runs) in [(4, 1), (4, 2), (4, 3), (6, 2), (10, 3), (10, 9)] {
            let policy = Gathered(fluid(size_ratio, upper_runs, size_ratio - 1));
            let mut simulator = Simulator::new(&policy, load).unwrap();
            // Level 2 is then the largest level, so levels 0 and 1 are upper levels.
            for _ in 0..size_ratio.pow(2) {
                simulator.flush().unwrap();
            }
            let cycle = size_ratio.pow(2);
            let (before, mut runs) = (simulator.report(), [0, 0]);
            for _ in 0..cycle * CYCLES {
                let levels = simulator.report().levels;
                runs.iter_mut().zip(&levels).for_each(|(sum, level)| *sum += level.runs);
                simulator.flush().unwrap();
            }
            let written = simulator.report().compaction_bytes_written - before.compaction_bytes_written;
            let writes = written as f64 / (cycle * CYCLES * 1000) as f64;
            let form = LevelForm::new(size_ratio, upper_runs);
            // Level 2 has one arrival per run, so it writes each entry once.
            let expected = form.first_writes + form.writes + 1.0;
            assert!(
                (writes - expected).abs() < 1e-9,
                "T = {size_ratio}, K = {upper_runs}: {writes} {expected}"
            );
            for sum in runs {
                let mean = sum as f64 / (cycle * CYCLES) as f64;
                assert!((mean - form.runs).abs() < 1e-9, "T = {size_ratio}, K = {upper_runs}: {mean}");
            }
        }
    }

    #[test]
    fn reads_cost_more_with_more_runs_and_writes_with_fewer() {
        let model = CostModel { horizon: 1.0, read_price: 4096.0, fpr: 0.01 };
        let cost = |runs: u64, operations: Operations| {
            let tree = Outline::of(&shape(&[&[1], &[4], &[16]]));
            model.cost(&Sizes::of(&tree, operations), &Setting::new(fluid(4, runs, runs)))
        };
        let writes = Operations { flushes: 8, ..Operations::default() };
        assert!(cost(3, writes) < cost(2, writes) && cost(2, writes) < cost(1, writes));
        for reads in [
            Operations { gets_missing: 1000, ..writes },
            Operations { gets_found: 1000, ..writes },
            Operations { scans: 10, ..writes },
        ] {
            assert!(cost(3, reads) > cost(1, reads), "{reads:?}");
        }
        let missing = cost(3, Operations { gets_missing: 1000, ..writes });
        assert!(missing > cost(3, Operations { gets_found: 1000, ..writes }));
    }
}
