//! Reads experiment files, and returns the configurations that a run measures.
//!
//! [`Experiment::load`] reads a file and all files to which it refers. The loader applies the [`Overrides`] of the
//! command line, and expands the sweep into [`Cell`]s. If an experiment cannot run, the error contains the file, the
//! line and the key. [`Experiment::facts`] returns the facts on which verdicts depend. This crate runs no experiment.
//! The crates `run`, `simulation` and `tune` use its configurations.
//!
//! ```
//! use lsmbench_experiment::{Experiment, Overrides};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("filters.toml");
//! let experiment = r#"
//!     question = "Which filter needs the fewest block reads?"
//!     phase    = [{ name = "load", insert = 1000 }, { name = "lookup", operations = 1000, mix = { get = 1 } }]
//!     sweep    = { "design.bloom" = ["none", "blocked"], "design.bloom.bits_per_key" = [8, 12] }
//! "#;
//! std::fs::write(&file, experiment)?;
//!
//! let experiment = Experiment::load(&file, &Overrides::default())?;
//! let labels: Vec<&str> = experiment.cells.iter().map(|cell| cell.label.as_str()).collect();
//! // The filter "none" stores no bits, so it is one configuration.
//! assert_eq!(labels, ["none", "blocked(bits_per_key=8)", "blocked(bits_per_key=12)"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod labels;
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
pub use cell::{Cell, SkippedCell, absences, row_text};
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
