//! The data from which the files of a report are generated.

use crate::{Feature, Highlighted, Settled, System};

/// The data of a report about the claims of documented systems.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The documented systems, figure by figure.
    pub systems: Vec<System>,
    /// The disputed questions that the report answers first, with the claims that answer them.
    pub highlights: Vec<Highlighted>,
    /// The places where a document contradicts itself, arithmetic or theory.
    pub contradictions: Vec<Settled>,
    /// The features of the documented systems, with the settings or files that implement them.
    pub features: Vec<Feature>,
}
