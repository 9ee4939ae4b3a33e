//! The gate of a CI run. A gate makes one of three comparisons: counters with the golden files in git, times with the
//! times of another build in the same session, or the configurations of a run with their baseline.

mod against;
mod golden;
mod rule;

pub use against::{Against, against};
pub use golden::{Goldens, check_goldens};
pub use rule::{FailOn, GateRule, Tolerance};
pub(crate) use rule::{GateOutcome, Tally};
