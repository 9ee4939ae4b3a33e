//! Allocations: rules that distribute filter memory over the levels of a tree. An allocation works with any filter.

pub mod logarithmic;
mod monkey;
mod per_level;
mod per_table;
mod policy;
mod total;
mod uniform;

use catalog::Catalog;

pub use policy::{Allocation, LevelLoad};

/// All allocations of filter memory to the levels of a tree. The first allocation is the baseline.
pub static ALLOCATIONS: Catalog<dyn Allocation> = Catalog::new(
    catalog::origin!(),
    "allocation",
    "the distribution of filter memory over the levels of the tree",
    &[uniform::VARIANT, monkey::VARIANT, per_level::VARIANT, total::VARIANT, per_table::VARIANT],
);

#[cfg(test)]
mod tests {

    use super::*;

    /// Returns the levels of a leveled tree with size ratio `ratio`. Each level has one sorted run. The sorted run
    /// has `ratio` times as many entries as the sorted run in the level above.
    pub(super) fn leveled(ratio: f64, levels: i32) -> Vec<LevelLoad> {
        (0..levels).map(|level| LevelLoad { entries: 1e4 * ratio.powi(level), runs: 1.0 }).collect()
    }

    pub(super) fn spent(allocation: &dyn Allocation, base: f64, levels: &[LevelLoad]) -> f64 {
        let bits = |level: usize| allocation.bits_per_key(base, levels, level) * levels[level].entries;
        (0..levels.len()).map(bits).sum::<f64>() / levels.iter().map(|level| level.entries).sum::<f64>()
    }

    #[test]
    fn a_tree_without_entries_has_the_base_everywhere() {
        for kind in ["uniform", "monkey"] {
            let choice = ALLOCATIONS.variant(kind).unwrap().default_choice();
            let allocation = ALLOCATIONS.build(&choice).unwrap();
            assert!((allocation.bits_per_key(10.0, &[LevelLoad::default(); 3], 1) - 10.0).abs() < 1e-12);
        }
    }
}
