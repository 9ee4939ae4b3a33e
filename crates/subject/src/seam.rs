//! The interface of component tests, which are called subjects. A subject tests a single component without a tree.

use std::path::Path;

use catalog::ChoiceError;
use results::{Metric, RunMode};
use tree::Design;

use crate::bench::Bench;
use crate::fault::Fault;

/// A test of the components of one axis of a design, with its own parameters.
///
/// Invariants:
/// 1. [`run`](Self::run) reports each of the [`phases`](Self::phases), in their order, for every variant.
/// 2. Timed code neither prepares data nor checks answers. Answers are checked while the clock is stopped.
/// 3. Equal seeds give equal operations for every variant.
pub trait Subject: Send + Sync {
    /// Returns the name of the design axis whose components this test measures, such as `bloom`.
    fn axis(&self) -> &'static str;

    /// Returns the names of the phases of a trial, in the order in which they run.
    fn phases(&self) -> &'static [&'static str];

    /// Returns the run modes (timed or counted) that this component test supports. The mode `counted` is included if
    /// the test measures a counter.
    fn modes(&self) -> &'static [RunMode];

    /// Returns the keys of `[design]` that the component test uses, in addition to the key of the tested axis.
    fn reads(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the name of the phase and the column that a verdict compares by default.
    fn verdict(&self) -> (&'static str, &'static Metric);

    /// Returns the column with the cost of a component other than time, which is usually its memory.
    fn price(&self) -> &'static Metric;

    /// Returns the column with the quality of a component, such as its false-positive rate. Returns `None` if all
    /// components have equal quality. A verdict compares two components only if their quality or their cost is similar.
    fn quality(&self) -> Option<&'static Metric> {
        None
    }

    /// Returns the estimated memory, storage and time of a trial.
    fn cost(&self) -> Cost;

    /// Returns the number of threads that the phases use.
    fn threads(&self) -> u32 {
        1
    }

    /// Returns the reason why this test cannot measure the component of a design. Returns `None` if it can.
    fn refusal(&self, _design: &Design) -> Option<String> {
        None
    }

    /// Checks the files that the parameters name. Relative paths are relative to `base`.
    ///
    /// # Errors
    /// A file is missing or invalid. The error contains the name of the parameter and the problem of its file.
    fn check_files(&self, _base: &Path) -> Result<(), ChoiceError> {
        Ok(())
    }

    /// Runs a trial.
    ///
    /// # Errors
    /// The component cannot be measured. A wrong answer is no error, because the bench records it.
    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault>;
}

/// The estimated memory, storage and time of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// The memory that a trial needs, in bytes.
    pub memory_bytes: f64,
    /// The storage that a trial needs, in bytes.
    pub storage_bytes: f64,
    /// Estimated seconds of each phase, including preparation and checks.
    pub phase_seconds: Vec<f64>,
}

/// Returns an error if the count of parameter `name` is 0 or above `most`.
pub(crate) fn check_count(name: &str, count: u64, most: u64) -> Result<(), String> {
    match count {
        0 => Err(format!("{name} is 0; it must be at least 1")),
        count if count > most => Err(format!("{name} is {count}; the maximum is {most}")),
        _ => Ok(()),
    }
}
