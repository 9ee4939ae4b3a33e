//! Reads experiment files, and returns the configurations that a run measures.
//!
//! [`Experiment::load`] reads a file and all files to which it refers. The loader applies the [`Overrides`] of the
//! command line, and expands the sweep into [`Cell`]s. If an experiment cannot run, the error contains the file, the
//! line and the key. [`Experiment::facts`] returns the facts on which verdicts depend. This crate runs no experiment.

mod answers;
mod cell;
mod compared;
mod deprecations;
mod design_file;
mod difference;
mod engine;
mod equal_memory;
mod estimate;
mod expand;
mod facts;
mod families;
mod file;
mod fits;
mod fixture;
mod inherited;
mod instructions;
mod load;
mod measurable;
mod outside;
mod overrides;
mod paths;
mod presentation;
mod reading;
pub mod reference;
mod resolved;
mod side_by_side;
mod sweep;
mod trials;
mod tune_spec;
mod verdict_spec;
mod wording;

pub use answers::AnswerFile;
pub use cell::{Cell, SkippedCell, absences};
pub use design_file::{extended_tables, read_design, set_design};
pub use engine::{Absence, ENGINE, engine, engine_label, read_engine};
pub use estimate::{Estimate, in_memory};
pub use facts::catalog_order;
pub use outside::files_outside;
pub use overrides::Overrides;
pub use resolved::Experiment;
pub use trials::{DEFAULT_INTERVAL_NS, TIMED_TRIAL_KEYS, Trials};
pub use tune_spec::TuneSpec;
pub use verdict_spec::THRESHOLDS;
