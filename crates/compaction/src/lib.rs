//! The compaction axis: a plain-data picture of the tree in, the next job as data out. No bytes, no files,
//! no threads: the simulator and the tree run the same code.

mod job;
mod l0_tiered;
mod lazy_leveled;
mod leveled;
mod none;
mod policy;
mod shape;
mod simulate;
mod size_ratio;
#[cfg(test)]
mod testing;
mod tiered;
mod whole;

use catalog::Catalog;

pub use job::{Action, InvalidJob, Job};
pub use policy::CompactionPolicy;
pub use shape::{InvalidEdit, Level, Levels, Place, Placed, Run, RunId, Shape, TableId, TableShape};
pub use simulate::{LevelReport, Load, Report, SimulationError, Simulator, simulate};

/// All policies. The first is the baseline and the oracle of write amplification.
pub static CATALOG: Catalog<dyn CompactionPolicy> = Catalog {
    axis: "compaction",
    summary: "which runs are merged, when, and into which level",
    variants: &[none::VARIANT, leveled::VARIANT, tiered::VARIANT, lazy_leveled::VARIANT, l0_tiered::VARIANT],
};
