//! Converts settings of a design into the units of `TidesDB`.

use crate::options::EngineOptions;

/// Returns the false-positive rate of a Bloom filter with `bits_per_key` bits per key: 0.6185 to the power of
/// `bits_per_key`.
pub(super) fn false_positives(bits_per_key: f64) -> f64 {
    (-bits_per_key * std::f64::consts::LN_2 * std::f64::consts::LN_2).exp()
}

/// Returns the number of compaction threads. `TidesDB` also has one flush thread.
pub(super) fn compaction_threads(settings: &EngineOptions) -> u32 {
    settings.background_threads.saturating_sub(1).max(1)
}
