//! The same bits per key in every level. Most engines do this.

use catalog::Variant;

use super::policy::{Allocation, LevelLoad};

pub(crate) const VARIANT: Variant<dyn Allocation> =
    Variant::plain("uniform", "the same number of bits per key in every level", || Box::new(Uniform));

/// The allocation, without state.
struct Uniform;

impl Allocation for Uniform {
    fn bits_per_key(&self, base: f64, _: &[LevelLoad], _: usize) -> f64 {
        base
    }
}
