//! Computations of the largest possible speedup of work that is done in parallel or in batches.

use super::Arguments;

/// Computes the speedup if the parts of some work run in parallel instead of in sequence: Σ a / max a, where a is the
/// time of a part. The speedup is at most the number of parts. The computation assumes that the cost of each part stays
/// unchanged.
pub(super) fn side_by_side(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("parts")
}

/// Computes the speedup of batches of n operations, if a fraction s of each operation is done only once per batch: 1 /
/// (1 - s (1 - 1/n)). For s = 1, the speedup is n (Amdahl, *Validity of the Single Processor Approach*, 1967).
pub(super) fn batched(with: &Arguments<'_>) -> Result<f64, String> {
    let once = with.number("share")? * (1.0 - with.number("batch")?.recip());
    Ok(1.0 / (1.0 - once))
}
