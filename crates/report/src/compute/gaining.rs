//! How much faster work gets, at most, that is done side by side or in batches.

use super::Arguments;

/// How many times as fast the parts of some work are done side by side as one after the other: Σ a / max a, and so no more
/// than there are parts. What a part costs may change beside the others, and is taken to be the same.
pub(super) fn side_by_side(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("parts")
}

/// How many times as fast operations are in batches of n, if a share s of each is done once for a batch: 1 / (1 - s (1 - 1/n)),
/// and so n times, where an operation is nothing else (Amdahl, *Validity of the Single Processor Approach*, 1967).
pub(super) fn batched(with: &Arguments<'_>) -> Result<f64, String> {
    let once = with.number("share")? * (1.0 - with.number("batch")?.recip());
    Ok(1.0 / (1.0 - once))
}
