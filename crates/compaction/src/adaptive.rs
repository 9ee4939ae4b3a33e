//! A policy that adapts the size ratio and the numbers of runs to the operations that the tree receives.
//!
//! The policy compacts like [`fluid`](crate::fluid), which has the parameters T, K and Z. A setting is a combination of
//! values for these parameters. The policy observes the operations in a window over the latest `window` flushes (see
//! [`OperationWindow`](crate::OperationWindow)). For these operations, a cost model computes the cost of every setting
//! (see [`costs`](self::costs)). The policy changes its setting only if the predicted saving is larger than the cost of
//! the change:
//!
//! > cost(new) + bytes of the change ≤ (1 − margin) · cost(current)
//!
//! The cost model assumes that the observed operations repeat for `horizon` windows. The bytes of the change are the
//! bytes that compactions write until the tree fits the new setting. If keys are distinct, these bytes are exact,
//! because the policy simulates the compactions on the sizes of the runs. If the new setting allows more runs at an
//! equal size ratio, no compaction is necessary, so the change costs nothing. If the new setting allows fewer runs,
//! runs must be merged. The policy changes its setting only when the tree needs no other job. A second kind of change
//! is a read-triggered compaction, which keeps the setting and merges the newest runs into one run.
//!
//! In a phase without writes, the window becomes longer. The predicted saving for reads then grows until the saving
//! exceeds the cost of the merges, as in the ski-rental problem. The total bytes of all changes are therefore at most
//! the total predicted saving. Because of the margin of 5 %, the policy does not switch between settings with almost
//! equal costs.
//!
//! Gets and scans can also trigger compactions. The tree calls the policy again after some thousand gets and after
//! some dozens of scans.
//!
//! Until the policy has observed operations, its setting is tiering with T = `largest_ratio`. This setting allows the
//! most runs per level. If a tree was built with another setting and is opened again, the policy therefore keeps most
//! of the runs at first.
//!
//! # Sources
//! The settings and their costs: Dayan, Idreos, "Dostoevsky: Better Space-Time Trade-Offs for LSM-Tree Based Key-Value
//! Stores via Adaptive Removal of Superfluous Merging" (SIGMOD 2018), sections 4.3 and 4.4; Huynh, Chaudhari, Terzi,
//! Athanassoulis, "Endure" (VLDB 2022), section 3. Transitions at run time: Mo, Chen, Luo, Shan, "Learning to
//! Optimize LSM-trees" (`RusKey`, SIGMOD 2023), whose flexible transition also keeps existing runs unchanged if a
//! setting allows more runs. The rule when a change is worth its cost: Karlin, Manasse, Rudolph, Sleator,
//! "Competitive Snoopy Caching" (Algorithmica 3, 1988). Unlike `RusKey`, this policy trains no model, so its
//! decisions depend only on the sequence of operations.

mod costs;
mod plan;

use catalog::{Build, ByteSize, Variant};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use self::costs::{CostModel, Setting, Sizes};
use self::plan::{after_merge, merge_newest, transition_bytes};
use crate::fluid::Fluid;
use crate::gathered::Gathered;
use crate::job::Job;
use crate::operations::{self, Operations};
use crate::outline::Outline;
use crate::policy::CompactionPolicy;
use crate::shape::Shape;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Adaptive>(
    "adaptive",
    "\"fluid\" whose size ratio and numbers of runs adapt to the observed mix of writes, gets and scans",
    "# Number of latest flushes whose operations determine the size ratio and the numbers of runs, 1 to\n\
     # 1000. With more flushes, the policy changes these numbers later and less often.\n\
     window = 8\n\
     # Number of windows for which the observed mix is assumed to last, 0.01 to 1000. With a larger number,\n\
     # the policy changes the tree even if the change costs more writes.\n\
     horizon = 1\n\
     # Largest size ratio between a level and the level above that the policy chooses, 2 to 64.\n\
     largest_ratio = 10\n\
     # Cost of a data block that a get or a scan reads, as a number of bytes that compactions write. With a\n\
     # higher cost, the policy merges more for the same reads. With 0 B, reads have no effect.\n\
     read_price = \"4KiB\"\n\
     # False-positive rate of the filters that the cost model assumes, 0 to 1. Use 1 for a tree without\n\
     # filters.\n\
     fpr = 0.01\n",
);

/// The minimum fraction of the current cost that a change must save. The cost of the change itself is first subtracted
/// from the saving.
const MARGIN: f64 = 0.05;

/// The size ratios between levels from which the policy chooses.
const RATIOS: [u64; 15] = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64];

/// The policy `adaptive` with its parameters and its current setting (a size ratio and two limits for numbers of runs).
struct Adaptive {
    window: usize,
    model: CostModel,
    /// All settings from which the policy chooses. The first setting is tiering with the largest size ratio.
    settings: Vec<Setting>,
    /// The index of the current setting in `settings`.
    current: Mutex<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    window: u64,
    horizon: f64,
    largest_ratio: u64,
    read_price: ByteSize,
    fpr: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { window: 8, horizon: 1.0, largest_ratio: 10, read_price: ByteSize(4096), fpr: 0.01 }
    }
}

impl Build<dyn CompactionPolicy> for Adaptive {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let Params { window, horizon, largest_ratio, read_price, fpr } = params;
        let window = operations::window_flushes("window", window)?;
        if window == 0 {
            return Err(
                "window is 0; it must be from 1 to 1000 flushes, because the policy observes the operations between \
                 flushes".to_owned()
            );
        }
        if !(0.01..=1000.0).contains(&horizon) {
            return Err(format!("horizon is {horizon}; it must be from 0.01 to 1000 windows"));
        }
        if !(2..=RATIOS[RATIOS.len() - 1]).contains(&largest_ratio) {
            return Err(format!("largest_ratio is {largest_ratio}; it must be from 2 to 64"));
        }
        if !(0.0..=1.0).contains(&fpr) {
            return Err(format!("fpr is {fpr}; it must be a false-positive rate from 0 to 1"));
        }
        let model = CostModel { horizon, read_price: read_price.0 as f64, fpr };
        Ok(Box::new(Self { window, model, settings: settings(largest_ratio), current: Mutex::new(0) }))
    }
}

/// A change that may lower the cost of the observed operations: another setting, or a merge of the newest runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// The policy uses the setting with this index in `Adaptive::settings` from now on.
    Setting(usize),
    /// A merge of the newest `runs` runs into one run.
    Merge { runs: usize },
}

impl Adaptive {
    /// Returns the change that lowers the predicted cost of the observed operations most, including the cost of the
    /// change. Returns `None` if no change saves at least the fraction [`MARGIN`], or if no operation was observed.
    fn better(&self, outline: &Outline, operations: Operations, current: usize) -> Option<Change> {
        if operations.is_empty() {
            return None;
        }
        let now = &self.settings[current];
        let sizes = Sizes::of(outline, operations);
        let mut least = self.model.cost(&sizes, now) * (1.0 - MARGIN);
        let mut better = None;
        // The total cost of a change, if the total cost is below `least`.
        let total = |after: (&Outline, &Sizes), bytes: u64, setting: &Setting, least: f64| {
            let (outline, sizes) = after;
            let cost = self.model.cost(sizes, setting) + bytes as f64;
            if cost >= least {
                return None;
            }
            let is_too_much = |bytes| cost + bytes as f64 >= least;
            let bytes = transition_bytes(outline, setting.fluid, is_too_much)?;
            Some(cost + bytes as f64).filter(|total| *total < least)
        };
        for (at, setting) in self.settings.iter().enumerate().filter(|(at, _)| *at != current) {
            if let Some(total) = total((outline, &sizes), 0, setting, least) {
                (least, better) = (total, Some(Change::Setting(at)));
            }
        }
        if operations.has_reads() {
            for runs in 2..=outline.runs().len() {
                // A merge writes at least the bytes of its runs, so a merge of even more runs cannot cost less than
                // `least` either.
                if outline.bytes(0..runs) as f64 >= least {
                    break;
                }
                let (after, bytes) = after_merge(outline, runs, now.fluid.size_ratio);
                let sizes = Sizes::of(&after, operations);
                if let Some(total) = total((&after, &sizes), bytes, now, least) {
                    (least, better) = (total, Some(Change::Merge { runs }));
                }
            }
        }
        better
    }
}

impl CompactionPolicy for Adaptive {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let (mut current, outline) = (self.current.lock(), Outline::of(shape));
        let job = |setting: usize| Gathered(self.settings[setting].fluid).next_job(&outline);
        let job = match job(*current) {
            Some(job) => job,
            None => match self.better(&outline, shape.operations, *current)? {
                Change::Setting(setting) => {
                    *current = setting;
                    job(setting)?
                }
                Change::Merge { runs } => {
                    merge_newest(&outline, runs, self.settings[*current].fluid.size_ratio)
                }
            },
        };
        Some(job.on(shape))
    }

    fn observed_flushes(&self) -> usize {
        self.window
    }
}

/// Returns all settings whose size ratio is at most `largest_ratio`. The first setting is tiering with the largest
/// ratio.
fn settings(largest_ratio: u64) -> Vec<Setting> {
    let mut settings = Vec::new();
    let smaller = RATIOS.into_iter().rev().filter(|ratio| *ratio < largest_ratio);
    for size_ratio in std::iter::once(largest_ratio).chain(smaller) {
        // Tiering, leveling, and powers of two between them.
        let powers = (0..6).rev().map(|exponent| 1u64 << exponent).filter(|runs| *runs < size_ratio - 1);
        for upper_runs in std::iter::once(size_ratio - 1).chain(powers) {
            settings.push(Setting::new(Fluid { size_ratio, upper_runs, largest_runs: upper_runs }));
            if upper_runs > 1 {
                settings.push(Setting::new(Fluid { size_ratio, upper_runs, largest_runs: 1 }));
            }
        }
    }
    settings
}

#[cfg(test)]
mod tests;
