//! Upper bounds for trees without due compactions. The bounds of each built-in policy follow from its published
//! rules.

use catalog::laws::ensure;

use super::super::invariants::{History, Subject, play};
use super::super::store::Store;
use crate::{Action, Job, Shape};

/// The bounds on the number and size of runs in a tree for which the policy has no job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Promise {
    /// The policy has no bounds.
    Nothing,
    /// Level 0 has fewer than `level0_runs` runs. Level 1 has at most one run of less than `level1_buffers` full
    /// memtables. The bound of each deeper level is T times the bound of the level above.
    Leveled { size_ratio: f64, level0_runs: usize, level1_buffers: f64 },
    /// Every level has fewer than T runs.
    Tiered { size_ratio: usize },
    /// Level 0 has fewer than T runs. In every other level, fewer than T SSTables overlap at any key.
    Fragments { size_ratio: usize },
    /// Level 0 has fewer than `level0_runs` runs. Level 1 has fewer than `partition_runs` runs, and is the last level.
    Partitions { partition_runs: usize, level0_runs: usize },
    /// Every level has fewer than T runs. The largest level i has one run of less than T^(i+1) full memtables.
    LazyLeveled { size_ratio: usize },
    /// Level i has at most K runs with a total size of less than T^(i+1) full memtables. The largest level has at
    /// most Z runs.
    Fluid { size_ratio: usize, upper_runs: usize, largest_runs: usize },
    /// The whole tree has at most `most` runs.
    Runs { most: usize },
    /// The size of level 0 is less than `buffers` full memtables.
    Window { buffers: usize },
    /// The whole tree has at most `bytes` bytes, or a single run.
    Capacity { bytes: u64 },
}

impl Promise {
    /// Returns the bounds of a policy with one run per level. Level 1 has a capacity of `level1_buffers` full
    /// memtables, and each deeper level has T times the capacity of the level above.
    pub(crate) fn leveled(size_ratio: f64, level0_runs: usize, level1_buffers: f64) -> Self {
        Self::Leveled { size_ratio, level0_runs, level1_buffers }
    }

    /// Checks the bounds whenever no compaction is due. Also checks that a policy that drops SSTables drops no more
    /// than necessary.
    pub(crate) fn check(self, subject: &Subject, history: &History) -> Result<(), String> {
        let drops = |store: &Store, job: &Job| match self {
            _ if job.action != Action::Drop => Ok(()),
            Self::Capacity { bytes } => only_what_does_not_fit_goes(&store.shape(), job, bytes),
            _ => Err(format!("{job:?} drops, and nothing says above which capacity")),
        };
        play(subject, history, drops, |shape| self.check_at_rest(shape))
    }

    fn check_at_rest(self, shape: &Shape) -> Result<(), String> {
        let last = shape.last_level();
        for level in 0..=last {
            let (runs, bytes) = (shape.runs_of(level).len(), shape.bytes_of(level));
            let capacity =
                |ratio: f64, exponent: usize| shape.buffer_bytes as f64 * ratio.powf(exponent as f64);
            let below = |ratio: f64, exponent: usize| (bytes as f64) < capacity(ratio, exponent);
            let kept = match self {
                Self::Nothing => true,
                Self::Leveled { level0_runs, .. } if level == 0 => runs < level0_runs,
                Self::Leveled { size_ratio, level1_buffers, .. } => {
                    runs <= 1 && (bytes as f64) < level1_buffers * capacity(size_ratio, level - 1)
                }
                Self::Fragments { size_ratio } if level > 0 => most_overlapping(shape, level) < size_ratio,
                Self::Partitions { level0_runs, .. } if level == 0 => runs < level0_runs,
                Self::Partitions { partition_runs, .. } => level == 1 && runs < partition_runs,
                Self::LazyLeveled { size_ratio } if level == last && level > 0 => {
                    runs == 1 && below(size_ratio as f64, level + 1)
                }
                Self::Fluid { size_ratio, upper_runs, largest_runs } => {
                    let most = if level == last.max(1) { largest_runs } else { upper_runs };
                    runs <= most.min(size_ratio - 1) && below(size_ratio as f64, level + 1)
                }
                Self::Runs { most } => shape.levels.runs().count() <= most,
                Self::Capacity { bytes: most } => {
                    let runs: Vec<u64> = shape.levels.runs().map(|(_, run)| run.bytes()).collect();
                    runs.len() == 1 || runs.iter().sum::<u64>() <= most
                }
                Self::Window { buffers } => level > 0 || below(buffers as f64, 1),
                Self::Tiered { size_ratio }
                | Self::Fragments { size_ratio }
                | Self::LazyLeveled { size_ratio } => runs < size_ratio,
            };
            ensure(kept, || format!("level {level} of 0 to {last} has {runs} runs and {bytes} bytes"))?;
        }
        Ok(())
    }
}

/// Returns the largest number of SSTables of a level whose key ranges include one common key.
fn most_overlapping(shape: &Shape, level: usize) -> usize {
    let tables = || shape.runs_of(level).iter().flat_map(|run| &run.tables);
    let at = |key: &[u8]| tables().filter(|table| *table.smallest <= *key && *key <= *table.largest).count();
    tables().map(|table| at(&table.smallest)).max().unwrap_or(0)
}

/// Checks that the remaining SSTables together with the newest dropped run exceed the capacity.
fn only_what_does_not_fit_goes(shape: &Shape, job: &Job, capacity: u64) -> Result<(), String> {
    let mut with_the_newest_dropped = 0;
    for (_, run) in shape.levels.runs() {
        with_the_newest_dropped += run.bytes();
        if run.tables.iter().all(|table| job.inputs.contains(&table.id)) {
            break;
        }
    }
    ensure(with_the_newest_dropped > capacity, || format!("{job:?} takes what would fit"))
}
