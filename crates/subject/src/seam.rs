//! The seam of subjects: how a component is put to the test by itself.

use std::path::Path;

use catalog::ChoiceError;
use results::{Metric, RunMode};
use tree::Design;

use crate::bench::Bench;
use crate::fault::Fault;

/// An axis under test, with what it is put to.
///
/// Laws:
/// 1. [`run`](Self::run) reports every one of [`phases`](Self::phases), in their order, whatever the variant.
/// 2. Nothing that is timed prepares or checks; answers are checked where the clock stands still.
/// 3. The same seed gives the same operations, to every variant.
pub trait Subject: Send + Sync {
    /// The axis of a design that is under test.
    fn axis(&self) -> &'static str;

    /// The phases of a trial, in order.
    fn phases(&self) -> &'static [&'static str];

    /// The modes in which there is something to measure: `counted` where something is counted.
    fn modes(&self) -> &'static [RunMode];

    /// The keys of `[design]` that it reads besides its own axis.
    fn reads(&self) -> &'static [&'static str] {
        &[]
    }

    /// The phase and the column that a verdict goes by where the experiment does not say.
    fn verdict(&self) -> (&'static str, &'static Metric);

    /// The column that says what a variant costs besides time: memory, in most cases.
    fn price(&self) -> &'static Metric;

    /// The column that says how well a variant does what it is there for, where that is not the same for all: who
    /// is compared with another one must be like it in this or in its price.
    fn quality(&self) -> Option<&'static Metric> {
        None
    }

    /// What a trial takes.
    fn cost(&self) -> Cost;

    /// The threads of its phases.
    fn threads(&self) -> u32 {
        1
    }

    /// Why this design cannot be put to it, if it cannot.
    fn refusal(&self, _design: &Design) -> Option<String> {
        None
    }

    /// Looks at the files that it names; a relative path starts from `base`.
    ///
    /// # Errors
    /// Names the parameter at fault, and says what is wrong with its file.
    fn check_files(&self, _base: &Path) -> Result<(), ChoiceError> {
        Ok(())
    }

    /// Does a trial.
    ///
    /// # Errors
    /// What keeps the component from being measured. A wrong answer is no error: the bench takes it down.
    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault>;
}

/// What a trial takes, as far as it can be told beforehand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// Bytes of memory.
    pub memory_bytes: f64,
    /// Bytes of storage.
    pub storage_bytes: f64,
    /// Seconds of each phase with what is made and checked around it; a guess.
    pub phase_seconds: Vec<f64>,
}

/// Refuses counts of nothing, and more than anyone means.
pub(crate) fn check_count(name: &str, count: u64, most: u64) -> Result<(), String> {
    match count {
        0 => Err(format!("{name} is 0; the least is 1")),
        count if count > most => Err(format!("{name} is {count}; {most} is the most")),
        _ => Ok(()),
    }
}
