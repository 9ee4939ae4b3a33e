//! The largest speed-up of work that is done in parallel or in batches.

use super::Arguments;

/// The speed-up of the parts of some work in parallel against one after the other: Σ a / max a, and so at most the
/// number of parts. The cost of a part may change when others run in parallel; it is assumed to stay the same.
pub(super) fn side_by_side(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("parts")
}

/// The speed-up of operations in batches of n, if a share s of each is done once per batch: 1 / (1 - s (1 - 1/n)), and
/// so n for s = 1 (Amdahl, *Validity of the Single Processor Approach*, 1967).
pub(super) fn batched(with: &Arguments<'_>) -> Result<f64, String> {
    let once = with.number("share")? * (1.0 - with.number("batch")?.recip());
    Ok(1.0 / (1.0 - once))
}
