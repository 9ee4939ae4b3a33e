//! The same bits per key everywhere: what trees do that know nothing of levels.

use catalog::{Build, NoParams, Variant};

use super::policy::{Allocation, LevelLoad};

pub(crate) const VARIANT: Variant<dyn Allocation> =
    Variant::new::<Uniform>("uniform", "the same bits per key in every level", "");

/// There is nothing to hold.
struct Uniform;

impl Build<dyn Allocation> for Uniform {
    type Params = NoParams;

    fn build(_: NoParams) -> Result<Box<dyn Allocation>, String> {
        Ok(Box::new(Self))
    }
}

impl Allocation for Uniform {
    fn bits_per_key(&self, base: f64, _: &[LevelLoad], _: usize) -> f64 {
        base
    }
}
