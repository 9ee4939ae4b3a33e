//! The contents of a report.

use crate::{Feature, Highlighted, Settled, System};

/// The contents of a report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The documents, figure by figure.
    pub systems: Vec<System>,
    /// The first questions of readers, with the claims that answer them.
    pub highlights: Vec<Highlighted>,
    /// The contradictions of the documents with themselves, with arithmetic or with theory.
    pub contradictions: Vec<Settled>,
    /// The features of the documents, and where this repository has them.
    pub features: Vec<Feature>,
}
