//! The claim that a computation is about, and the facts that the computation may read.

use crate::{Claim, Claims};

/// The facts about the experiment and the program that a computation may read, in addition to `with`.
pub trait Facts {
    /// The value of the experiment at a path such as `design.compaction.growth`; `None` if it is not a number.
    fn setting(&self, path: &str) -> Option<f64>;

    /// The number of acknowledged writes that were missing after a store with this design and WAL mode was killed.
    /// `None` if no kill test has run.
    fn lost_writes(&self, design: &str, wal: &str) -> Option<f64>;
}

/// The facts of a computation without an experiment and without the program.
pub(crate) struct Nothing;

impl Facts for Nothing {
    fn setting(&self, _path: &str) -> Option<f64> {
        None
    }

    fn lost_writes(&self, _design: &str, _wal: &str) -> Option<f64> {
        None
    }
}

/// The claim of a computation, and the sources of its arguments.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    /// The claim.
    pub(crate) claim: &'a Claim,
    /// The index of the claim among the claims of the rule.
    pub(crate) place: usize,
    /// All claims of the document.
    pub(crate) claims: &'a Claims,
    /// The facts about the program and the experiment.
    pub(crate) facts: &'a dyn Facts,
}
