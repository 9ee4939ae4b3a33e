//! The inputs of a computation that checks a claim: the claim, and facts about the experiment and the program.

use crate::{Claim, Claims};

/// Facts about the experiment and the program that a computation may read.
pub trait Facts {
    /// Returns the number at a dotted path in the experiment file, such as `design.compaction.growth`. Returns `None`
    /// if the file has no number at this path.
    fn setting(&self, path: &str) -> Option<f64>;

    /// Returns how many acknowledged writes a store lost when `lsmbench torture kill` killed its process. `design` and
    /// `wal` are the design and the WAL mode of the store. Returns `None` if this test has not run.
    fn lost_writes(&self, design: &str, wal: &str) -> Option<f64>;
}

/// Facts for a computation without an experiment, which are all unknown.
pub(crate) struct Nothing;

impl Facts for Nothing {
    fn setting(&self, _path: &str) -> Option<f64> {
        None
    }

    fn lost_writes(&self, _design: &str, _wal: &str) -> Option<f64> {
        None
    }
}

/// The inputs of a computation that checks one claim, in addition to its arguments.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    /// The claim that the computation checks.
    pub(crate) claim: &'a Claim,
    /// The index of the checked claim in its `[[claim]]` table, starting from 0.
    pub(crate) place: usize,
    /// All claims of the document. An argument of the computation may name one of them.
    pub(crate) claims: &'a Claims,
    /// Facts about the program and the experiment that the computation may read.
    pub(crate) facts: &'a dyn Facts,
}
