//! Searches for the best design among the designs of an experiment, and confirms the result with a run.
//!
//! 1. **Theory** ranks all configurations of the sweep.
//! 2. **Simulation** computes the counters of the best of these configurations, without data.
//! 3. **Counted runs** measure the counters of the best simulated configurations, with data.
//! 4. **Timed runs** measure the best counted configurations in rounds, if the objective is a time.
//! 5. **Confirmation** compares the best design with the default design and a textbook design, and prints a verdict.
//!
//! Each [`Layer`] begins with the candidates that the previous layer has selected. From layer to layer, the number of
//! candidates falls, and the cost per candidate rises. Everything except timed runs is deterministic for a seed.
//!
//! Engines other than `lsmbench` have no models. The search for such an engine begins with timed runs of all its
//! configurations.
//!
//! [`tune`] returns the [`Advice`] for the [`Settings`] of a search. The crate is above [`simulation`] and [`run`]. In
//! this example, `run` contains the options of `lsmbench run`, and the search ends after the simulation:
//!
//! ```
//! # use run::{Console, RunOptions};
//! use experiment::{Experiment, Overrides};
//! use lsmbench_tune::{Settings, tune};
//!
//! # let folder = run::scratch(None)?;
//! # let file = folder.path().join("policies.toml");
//! # let run = RunOptions {
//! #     out: folder.path().into(),
//! #     plots: folder.path().into(),
//! #     has_page: false,
//! #     part: None,
//! #     resume: false,
//! #     allow_debug: true,
//! #     has_profile: false,
//! #     verbose: false,
//! #     markdown: None,
//! #     overrides: Overrides::default(),
//! #     console: Console { line: |_| {}, print: |_| Ok(()) },
//! #     build: results::BuildInfo::default(),
//! # };
//! std::fs::write(&file, r#"
//!     question = "Which policy writes least?"
//!     phase    = [{ name = "load", insert = 20_000, order = "random" }]
//!     sweep    = { "design.compaction" = ["leveled", "tiered"] }
//!     tune     = { minimise = "write_amp", count = 0, confirm = false }
//!     design   = { memtable = { capacity = "64KiB" } }
//! "#)?;
//! let experiment = Experiment::load(&file, &Overrides::default())?;
//! let spec = experiment.tune.as_ref().ok_or("the file has no table `tune`")?;
//! let advice = tune(&Settings { experiment: &experiment, spec, device: "nvme", run })?;
//! assert_eq!(advice.design().label, "tiered");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advice;
mod candidate;
mod closed_forms;
mod confirmation;
mod derived;
mod evaluate;
mod factors;
mod front;
mod goal;
mod layers;
mod maps;
mod settings;
mod space;
mod textbook;

pub use advice::Advice;
pub use candidate::{Candidate, DesignScore, EngineDesign, Layer};
pub use closed_forms::rows as predicted_rows;
pub use confirmation::Confirmation;
pub use goal::{Constraint, Goal, GoalMetric, Objectives};
pub use layers::tune;
pub use settings::Settings;
