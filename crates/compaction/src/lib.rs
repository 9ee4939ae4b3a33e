//! Compaction policies. A [`CompactionPolicy`] receives the [`Shape`] of the tree and returns the next compaction
//! [`Job`], both as plain data. A policy uses no files or threads, so the [`Simulator`] and the tree can run the same
//! policy. [`CATALOG`] lists all policies.
//!
//! A job changes no lookup result, with one exception. A policy that declares [`catalog::Limit::DropsData`] may drop
//! complete runs, beginning with the oldest run.
//!
//! ```
//! use lsmbench_compaction::{CATALOG, SimulatedLoad, SimulatedWrites, simulate};
//!
//! let load =
//!     SimulatedLoad { writes_per_flush: 1000, entry_bytes: 100, entries_per_table: 1000, distinct_keys: None };
//! let after_99_flushes = |policy: &str| -> Result<SimulatedWrites, Box<dyn std::error::Error>> {
//!     let policy = CATALOG.build(&CATALOG.choose(&policy.into())?)?;
//!     Ok(simulate(&*policy, load, 99)?)
//! };
//! let (leveled, tiered) = (after_99_flushes("leveled")?, after_99_flushes("tiered")?);
//! assert!(leveled.write_amp() > 2.0 * tiered.write_amp(), "leveled compaction writes more");
//! assert!(leveled.runs() < tiered.runs(), "but a lookup searches fewer sorted runs");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive;
mod binary_counter;
pub mod conformance;
mod descent;
mod external;
mod fifo;
mod fluid;
mod gathered;
mod golden;
mod groups;
mod guards;
mod horizontal;
mod incremental;
mod job;
mod l0_tiered;
mod lazy_leveled;
mod leveled;
mod leveled_partial;
mod merge_all;
mod moose;
mod multi_level;
mod none;
mod one_leveling;
mod operations;
mod outline;
mod partial;
mod partitioned;
mod picker;
mod policy;
mod seek;
mod shape;
mod simulate;
mod size_ratio;
mod spooky;
mod tables;
#[cfg(test)]
mod testing;
mod tiered;
mod time_window;
mod unified;
mod universal;
mod whole;

use catalog::{Catalog, CatalogHandle, Choice, Seam};

pub use external::answer_without_jobs;
pub use job::{Action, InvalidJob, Job, MAX_LEVEL};
pub use operations::{OperationWindow, Operations, picks_after_gets, picks_after_scan};
pub use policy::CompactionPolicy;
pub use seek::{RangeWork, merge_down_to, worth_merging};
pub use shape::{InvalidEdit, Level, Levels, OutputRun, Placed, Run, RunId, Shape, TableId, TableShape};
pub use simulate::{
    Contents, ExactEntry, ExactKeys, FlushedWrites, KeyClass, LevelReport, MergeTerms, SimulatedLoad,
    SimulatedWrites, SimulationError, Simulator, Spread, Written, simulate,
};

/// The catalog of all compaction policies. The first policy is the baseline, and has the lowest possible write
/// amplification.
pub static CATALOG: Catalog<dyn CompactionPolicy> = Catalog::new(
    catalog::origin!(),
    "compaction",
    "the policy that decides which runs are compacted, when, and into which level",
    &[
        none::VARIANT,
        leveled::VARIANT,
        leveled_partial::VARIANT,
        spooky::VARIANT,
        multi_level::VARIANT,
        tiered::VARIANT,
        guards::VARIANT,
        lazy_leveled::VARIANT,
        fluid::VARIANT,
        moose::VARIANT,
        unified::VARIANT,
        adaptive::VARIANT,
        l0_tiered::VARIANT,
        one_leveling::VARIANT,
        universal::VARIANT,
        binary_counter::VARIANT,
        horizontal::VARIANT,
        merge_all::VARIANT,
        partial::VARIANT,
        golden::VARIANT,
        time_window::VARIANT,
        fifo::VARIANT,
        partitioned::VARIANT,
        external::variant::<Policies>(),
    ],
);

/// The type that names [`CATALOG`], so that the variant `external` can build the policies of the catalog.
enum Policies {}

impl CatalogHandle<dyn CompactionPolicy> for Policies {
    fn catalog() -> &'static Catalog<dyn CompactionPolicy> {
        &CATALOG
    }
}

/// Prepares a measurement of the time that the variant `external` needs to exchange a shape and a job as JSON. Returns
/// `None` for all other variants, and if the process cannot be started.
///
/// If the parameter `command` of `choice` is empty, the overhead is only that of the encoding. Otherwise, the function
/// starts the command `without_jobs` in place of the policy, so the overhead also includes the communication with a
/// process. The started program must call [`answer_without_jobs`], which picks no jobs, so the time of a policy is not
/// included.
pub fn seam(choice: &Choice, without_jobs: &[String]) -> Option<Seam> {
    external::seam(&CATALOG, choice, without_jobs)
}
