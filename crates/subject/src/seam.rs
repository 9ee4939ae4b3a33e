//! The interface of subjects: how a single component is tested.

use std::path::Path;

use catalog::ChoiceError;
use results::{Metric, RunMode};
use tree::Design;

use crate::bench::Bench;
use crate::fault::Fault;

/// An axis under test, with its parameters.
///
/// Invariants:
/// 1. [`run`](Self::run) reports each of the [`phases`](Self::phases), in their order, for every variant.
/// 2. Timed code neither prepares data nor checks answers. Answers are checked while the clock is stopped.
/// 3. Equal seeds give equal operations for every variant.
pub trait Subject: Send + Sync {
    /// The axis of a design that is under test.
    fn axis(&self) -> &'static str;

    /// The phases of a trial, in order.
    fn phases(&self) -> &'static [&'static str];

    /// The modes that this subject supports. `counted` is supported if the subject measures a counter.
    fn modes(&self) -> &'static [RunMode];

    /// The keys of `[design]` that the subject reads in addition to its own axis.
    fn reads(&self) -> &'static [&'static str] {
        &[]
    }

    /// The default phase and the default column of the verdict.
    fn verdict(&self) -> (&'static str, &'static Metric);

    /// The column of a variant's cost other than time: memory, in most cases.
    fn price(&self) -> &'static Metric;

    /// The column with the quality of a variant, if variants differ in quality. Variants are compared only if their
    /// quality or their cost is similar.
    fn quality(&self) -> Option<&'static Metric> {
        None
    }

    /// The estimated cost of a trial.
    fn cost(&self) -> Cost;

    /// Number of threads of its phases.
    fn threads(&self) -> u32 {
        1
    }

    /// The reason why this design cannot be tested; `None` if it can.
    fn refusal(&self, _design: &Design) -> Option<String> {
        None
    }

    /// Checks the files that the parameters name. A relative path starts from `base`.
    ///
    /// # Errors
    /// Names the invalid parameter, and describes the fault of its file.
    fn check_files(&self, _base: &Path) -> Result<(), ChoiceError> {
        Ok(())
    }

    /// Runs a trial.
    ///
    /// # Errors
    /// The reason why the component cannot be measured. A wrong answer is not an error, because the bench records it.
    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault>;
}

/// The cost of a trial, as far as it can be estimated in advance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// Bytes of memory.
    pub memory_bytes: f64,
    /// Bytes of storage.
    pub storage_bytes: f64,
    /// Estimated seconds of each phase, including preparation and checks.
    pub phase_seconds: Vec<f64>,
}

/// Rejects a count of 0, and a count above `most`.
pub(crate) fn check_count(name: &str, count: u64, most: u64) -> Result<(), String> {
    match count {
        0 => Err(format!("{name} is 0; it must be at least 1")),
        count if count > most => Err(format!("{name} is {count}; the maximum is {most}")),
        _ => Ok(()),
    }
}
