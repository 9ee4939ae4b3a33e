//! Searches the designs of an experiment for the best design, and confirms the best design by a run.
//!
//! 1. **Theory** ranks all configurations of the sweep.
//! 2. **Simulation** counts the operations of the best of these configurations without data.
//! 3. **Counted runs** count the operations of the best simulated configurations, with data.
//! 4. **Measured runs** measure the best counted configurations in rounds, if the objective is a time.
//! 5. **Confirmation** compares the winner with the default and a textbook design, with the usual verdict.
//!
//! Each layer begins with the candidates that the previous layer selected. The number of candidates falls, and the cost
//! of each candidate rises. Everything except measured runs is deterministic for a seed.
//!
//! For other engines than `lsmbench`, no models exist. The search for other engines begins with measured runs of all
//! their configurations.

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
