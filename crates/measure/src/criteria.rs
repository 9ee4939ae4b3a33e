//! The criteria by which two variants are compared.

/// The conditions under which a difference counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criteria {
    /// The smallest relative difference that matters: 0.02 for 2 %.
    pub delta: f64,
    /// The share of intervals that should contain the true ratio, between 0 and 1.
    pub confidence: f64,
    /// Number of bootstrap resamples; at least 1.
    pub resamples: usize,
    /// The seed of the resampling.
    pub seed: u64,
    /// Whether the values are counters, which repeat exactly. Two values are then as conclusive as twenty values.
    pub exact: bool,
}

impl Default for Criteria {
    fn default() -> Self {
        Self { delta: 0.02, confidence: 0.95, resamples: 10_000, seed: 42, exact: false }
    }
}
