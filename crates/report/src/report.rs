//! The contents of a report.

use crate::{Feature, Highlighted, Settled, System};

/// The contents of a report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The documented systems, figure by figure.
    pub systems: Vec<System>,
    /// The questions that readers ask first, with the claims that answer them.
    pub highlights: Vec<Highlighted>,
    /// The places where a document contradicts itself, arithmetic or theory.
    pub contradictions: Vec<Settled>,
    /// The features of the documented systems, and their places in this repository.
    pub features: Vec<Feature>,
}
