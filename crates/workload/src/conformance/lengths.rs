//! The invariants of value sizes and scan lengths. Each invariant is a function that checks one distribution.

use catalog::laws::{Invariant, ensure};
use types::SplitMix64;

use crate::LengthDistribution;

/// The distribution of value sizes or scan lengths that an invariant checks.
pub(crate) struct Subject {
    pub(crate) lengths: Box<dyn LengthDistribution>,
    /// The smallest valid length: 1 for scans, and 0 for values.
    pub(crate) least: u32,
}

/// All invariants of length distributions, each with its name.
pub(crate) const INVARIANTS: &[Invariant<Subject>] = &[
    ("each length must be between the minimum and the maximum", stays_within_its_bounds),
    ("equal random bits must give equal lengths", equal_bits_give_equal_lengths),
    ("the mean of drawn lengths must be the value that `mean` returns", the_mean_is_what_is_drawn),
];

/// Iterates over 64-bit inputs for a length distribution: the smallest, the middle and the largest numbers, and random
/// numbers.
fn bits() -> impl Iterator<Item = u64> {
    let mut random = SplitMix64::new(1);
    let middle = u64::MAX / 2;
    let random = std::iter::repeat_with(move || random.next_u64()).take(100_000);
    [0, 1, middle, middle + 1, u64::MAX - 1, u64::MAX].into_iter().chain(random)
}

fn stays_within_its_bounds(subject: &Subject) -> Result<(), String> {
    let (least, max) = (subject.least, subject.lengths.max());
    bits().try_for_each(|bits| {
        let length = subject.lengths.length(bits);
        ensure((least..=max).contains(&length), || {
            format!("the drawn length is {length}, but it must be from {least} to {max}")
        })
    })
}

fn equal_bits_give_equal_lengths(subject: &Subject) -> Result<(), String> {
    bits().try_for_each(|bits| {
        let [once, again] = [(); 2].map(|()| subject.lengths.length(bits));
        ensure(once == again, || {
            format!(
                "the random bits {bits:#x} must always give the same length, but two calls give {once} and \
                 {again}"
            )
        })
    })
}

/// Checks the announced mean of a length distribution. The mean must be a possible length. The mean of drawn lengths
/// may differ from the announced mean by at most 5 % of the announced mean, plus 1.
fn the_mean_is_what_is_drawn(subject: &Subject) -> Result<(), String> {
    let drawn: f64 = bits().map(|bits| f64::from(subject.lengths.length(bits))).sum();
    let (drawn, mean) = (drawn / bits().count() as f64, subject.lengths.mean());
    ensure((drawn - mean).abs() <= 1.0 + 0.05 * mean, || {
        format!(
            "`mean` returns {mean}, but the mean of the drawn lengths is {drawn}; the maximum difference is \
             5 % of {mean}, plus 1"
        )
    })
}
