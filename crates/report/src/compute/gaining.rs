//! Computations of the largest possible speedup of work that runs in parallel or in batches.

use super::Arguments;

/// Computes the speedup if the parts of a task run in parallel instead of in sequence: Σ a / max a, where a is the time
/// of a part. The computation assumes that parallel parts do not slow each other down.
pub(super) fn side_by_side(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("parts")
}

/// Computes the speedup of batches of n operations: 1 / (1 - s (1 - 1/n)). Here, s is the fraction of an operation that
/// is done only once per batch. For s = 1, the speedup is n (Amdahl, *Validity of the Single Processor Approach*,
/// 1967).
pub(super) fn batched(with: &Arguments<'_>) -> Result<f64, String> {
    let once = with.number("share")? * (1.0 - with.number("batch")?.recip());
    Ok(1.0 / (1.0 - once))
}
