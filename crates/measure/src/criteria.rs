//! The criteria by which two variants are compared.

/// The criteria by which a comparison decides whether two variants differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criteria {
    /// The smallest relative difference that a verdict reports, such as 0.02 for 2 %.
    pub delta: f64,
    /// The probability with which a confidence interval should contain the true ratio, between 0 and 1.
    pub confidence: f64,
    /// The number of resamples that the bootstrap draws, at least 1.
    pub resamples: usize,
    /// The seed of the random numbers of the bootstrap.
    pub seed: u64,
    /// Whether the values are counters, which are equal in every trial. Two values are then sufficient for a verdict.
    pub exact: bool,
}

impl Default for Criteria {
    fn default() -> Self {
        Self { delta: 0.02, confidence: 0.95, resamples: 10_000, seed: 42, exact: false }
    }
}
