//! The middle one of many numbers, as the races share it.

/// The middle one, or the upper one of two.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
