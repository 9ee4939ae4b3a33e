//! The gate of a CI run: counters exactly against goldens in git, times against another build in the same session.

mod against;
mod golden;

pub use against::{Against, against};
pub use golden::{Goldens, check_goldens};
