//! A filter allocation that is the inverse of Monkey's allocation: a larger run gets more bits per key.
//!
//! The documents of two published systems describe this allocation. byron 1.2(C) calls larger levels with more bits per
//! key "Monkey-inspired", and cs265 5.3.2 gives more bits to the levels that it calls lower. The variant measures the
//! cost: most runs have almost no filter, and a lookup of an absent key searches all these runs.

use bloom::logarithmic::{Favour, bits_per_key};
use bloom::{Allocation, LevelLoad};
use catalog::{Variant, origin};

/// The variant `inverse`: the filter allocation that gives the most bits per key to large runs.
pub static VARIANT: Variant<dyn Allocation> = Variant::<dyn Allocation>::plain(
    "inverse",
    "more bits per key for larger runs, the opposite of \"monkey\"; described by byron and cs265",
    || Box::new(Inverse),
)
.from(origin!());

/// The filter allocation `inverse`, which has no state.
struct Inverse;

impl Allocation for Inverse {
    fn bits_per_key(&self, base: f64, levels: &[LevelLoad], level: usize) -> f64 {
        bits_per_key(Favour::Large, base, levels, level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_level_has_the_most() {
        let level = |depth| LevelLoad { entries: 1e4 * 4f64.powi(depth), runs: 1.0 };
        let levels: Vec<LevelLoad> = (0..4).map(level).collect();
        let bits: Vec<f64> = (0..4).map(|level| Inverse.bits_per_key(10.0, &levels, level)).collect();
        assert!(bits.is_sorted() && bits[3] > 10.0 && bits[0] < 5.0, "{bits:?}");
    }
}
