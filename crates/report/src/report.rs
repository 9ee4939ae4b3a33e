//! All that a report says.

use crate::{Feature, Highlighted, Settled, System};

/// All that a report says.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The documents, figure by figure.
    pub systems: Vec<System>,
    /// What readers ask first.
    pub highlights: Vec<Highlighted>,
    /// Where the documents contradict themselves, or what must be.
    pub contradictions: Vec<Settled>,
    /// Where the features of the documents are reached.
    pub features: Vec<Feature>,
}
