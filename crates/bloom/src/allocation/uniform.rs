//! An allocation that gives every level the same bits per key, as most engines do.

use catalog::Variant;

use super::policy::{Allocation, LevelLoad};

pub(crate) const VARIANT: Variant<dyn Allocation> =
    Variant::plain("uniform", "the same number of bits per key in every level", || Box::new(Uniform));

/// The allocation `uniform`, which has no parameters.
struct Uniform;

impl Allocation for Uniform {
    fn bits_per_key(&self, base: f64, _: &[LevelLoad], _: usize) -> f64 {
        base
    }
}
