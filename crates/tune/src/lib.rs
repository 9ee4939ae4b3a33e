//! Searches for the best design among the designs of an experiment, and confirms the result with a run.
//!
//! 1. **Theory** ranks all configurations of the sweep.
//! 2. **Simulation** computes the counters of the best of these configurations, without data.
//! 3. **Counted runs** measure the counters of the best simulated configurations, with data.
//! 4. **Timed runs** measure the best counted configurations in rounds, if the objective is a time.
//! 5. **Confirmation** compares the best design with the default design and a textbook design, and prints a verdict.
//!
//! Each layer begins with the candidates that the previous layer has selected. From layer to layer, the number of
//! candidates falls, and the cost per candidate rises. Everything except timed runs is deterministic for a seed.
//!
//! Engines other than `lsmbench` have no models. The search for such an engine begins with timed runs of all its
//! configurations.

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
