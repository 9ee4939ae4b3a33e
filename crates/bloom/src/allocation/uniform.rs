//! The same bits per key everywhere: what trees do that know nothing of levels.

use catalog::Variant;

use super::policy::{Allocation, LevelLoad};

pub(crate) const VARIANT: Variant<dyn Allocation> =
    Variant::plain("uniform", "the same bits per key in every level", || Box::new(Uniform));

/// There is nothing to hold.
struct Uniform;

impl Allocation for Uniform {
    fn bits_per_key(&self, base: f64, _: &[LevelLoad], _: usize) -> f64 {
        base
    }
}
