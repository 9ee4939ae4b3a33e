//! The claim that a computation is about, and what the computation may ask.

use crate::{Claim, Claims};

/// What a computation may ask of the experiment and the program, beyond what `with` has.
pub trait Facts {
    /// The value of the experiment at a path, as `design.compaction.growth`, where it is a number.
    fn setting(&self, path: &str) -> Option<f64>;

    /// How many acknowledged writes were missing after kills of a store of this design and log mode; nothing
    /// where nobody looked.
    fn lost_writes(&self, design: &str, wal: &str) -> Option<f64>;
}

/// What a computation knows that asks neither an experiment nor the program.
pub(crate) struct Nothing;

impl Facts for Nothing {
    fn setting(&self, _path: &str) -> Option<f64> {
        None
    }

    fn lost_writes(&self, _design: &str, _wal: &str) -> Option<f64> {
        None
    }
}

/// What a computation is about, and what there is to look arguments up in.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    /// The claim.
    pub(crate) claim: &'a Claim,
    /// Its place among those of a rule.
    pub(crate) place: usize,
    /// All claims of the document.
    pub(crate) claims: &'a Claims,
    /// What the program and the experiment know.
    pub(crate) facts: &'a dyn Facts,
}
