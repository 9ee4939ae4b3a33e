//! The compaction axis: a plain-data picture of the tree in, the next job as data out. No bytes, no files,
//! no threads: the simulator and the tree run the same code.
//!
//! Every job leaves every answer as it is, but for those of policies that declare that they drop data
//! ([`catalog::Limit::DropsData`]): these may give up the oldest runs, whole.

mod binary_counter;
pub mod conformance;
mod descent;
mod external;
mod fifo;
mod fluid;
mod golden;
mod job;
mod l0_tiered;
mod lazy_leveled;
mod leveled;
mod leveled_partial;
mod merge_all;
mod none;
mod one_leveling;
mod partial;
mod picker;
mod policy;
mod seek;
mod shape;
mod simulate;
mod size_ratio;
mod tables;
#[cfg(test)]
mod testing;
mod tiered;
mod time_window;
mod universal;
mod whole;

use catalog::{Catalog, CatalogHandle, Choice, Seam};

pub use external::answer_without_jobs;
pub use job::{Action, InvalidJob, Job, MAX_LEVEL};
pub use policy::CompactionPolicy;
pub use seek::{RangeWork, merge_down_to, worth_merging};
pub use shape::{InvalidEdit, Level, Levels, OutputRun, Placed, Run, RunId, Shape, TableId, TableShape};
pub use simulate::{LevelReport, Load, Report, SimulationError, Simulator, simulate};

/// All policies. The first is the baseline and the oracle of write amplification.
pub static CATALOG: Catalog<dyn CompactionPolicy> = Catalog::new(
    catalog::origin!(),
    "compaction",
    "which runs are merged, when, and into which level",
    &[
        none::VARIANT,
        leveled::VARIANT,
        leveled_partial::VARIANT,
        tiered::VARIANT,
        lazy_leveled::VARIANT,
        fluid::VARIANT,
        l0_tiered::VARIANT,
        one_leveling::VARIANT,
        universal::VARIANT,
        binary_counter::VARIANT,
        merge_all::VARIANT,
        partial::VARIANT,
        golden::VARIANT,
        time_window::VARIANT,
        fifo::VARIANT,
        external::variant::<Policies>(),
    ],
);

/// The handle of [`CATALOG`].
enum Policies {}

impl CatalogHandle<dyn CompactionPolicy> for Policies {
    fn catalog() -> &'static Catalog<dyn CompactionPolicy> {
        &CATALOG
    }
}

/// The seam of a policy in another process: a shape of 100 tables and the answer to it. Where the choice has a command,
/// `without_jobs` runs at the other end of the pipes instead, so that the time of the policy is not in the result: a
/// command that does what [`answer_without_jobs`] does. `None` for other policies.
pub fn seam(choice: &Choice, without_jobs: &[String]) -> Option<Seam> {
    external::seam(&CATALOG, choice, without_jobs)
}
