//! The gate of a CI run. The gate compares three things: counters with golden files in git (exactly), times with
//! another build in the same session, and configurations of one run with the baseline.

mod against;
mod golden;
mod rule;

pub use against::{Against, against};
pub use golden::{Goldens, check_goldens};
pub use rule::{FailOn, GateRule, Tolerance};
pub(crate) use rule::{GateOutcome, Tally};
