//! The claim for which a computation runs, and the facts that the computation may read.

use crate::{Claim, Claims};

/// Facts about the experiment and the program. A computation may read these facts in addition to its arguments
/// `with`.
pub trait Facts {
    /// Returns the number in the experiment at a path such as `design.compaction.growth`. `None` if the value is not
    /// a number.
    fn setting(&self, path: &str) -> Option<f64>;

    /// Returns the number of acknowledged writes that were lost when a store with this design and WAL mode was
    /// killed. `None` if no kill test has run.
    fn lost_writes(&self, design: &str, wal: &str) -> Option<f64>;
}

/// Facts for a computation that has no experiment and no program.
pub(crate) struct Nothing;

impl Facts for Nothing {
    fn setting(&self, _path: &str) -> Option<f64> {
        None
    }

    fn lost_writes(&self, _design: &str, _wal: &str) -> Option<f64> {
        None
    }
}

/// The claim for which a computation runs, and the sources of the computation's arguments.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    /// The claim.
    pub(crate) claim: &'a Claim,
    /// The index of the claim among the claims of the rule, from 0.
    pub(crate) place: usize,
    /// All claims of the document, which arguments may name.
    pub(crate) claims: &'a Claims,
    /// The facts about the program and the experiment.
    pub(crate) facts: &'a dyn Facts,
}
