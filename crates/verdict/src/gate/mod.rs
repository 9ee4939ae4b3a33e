//! The gate of a CI run: counters exactly against goldens in git, times against another build in the same session, and
//! configurations of one run against its baseline.

mod against;
mod golden;
mod rule;

pub use against::{Against, against};
pub use golden::{Goldens, check_goldens};
pub use rule::{FailOn, GateRule, Tolerance};
pub(crate) use rule::{GateOutcome, Tally};
