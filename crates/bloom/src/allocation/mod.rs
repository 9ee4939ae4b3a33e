//! Allocations: how the memory for filters is shared out over the levels of a tree, whatever the filter.

pub mod logarithmic;
mod monkey;
mod per_level;
mod per_table;
mod policy;
mod total;
mod uniform;

use catalog::Catalog;

pub use policy::{Allocation, LevelLoad};

/// All allocations. The first is the baseline.
pub static ALLOCATIONS: Catalog<dyn Allocation> = Catalog::new(
    catalog::origin!(),
    "allocation",
    "how the memory for filters is shared out over the levels",
    &[uniform::VARIANT, monkey::VARIANT, per_level::VARIANT, total::VARIANT, per_table::VARIANT],
);

#[cfg(test)]
mod tests {

    use super::*;

    /// A leveled tree of size ratio `ratio`: one run per level, each so many times the one before.
    pub(super) fn leveled(ratio: f64, levels: i32) -> Vec<LevelLoad> {
        (0..levels).map(|level| LevelLoad { entries: 1e4 * ratio.powi(level), runs: 1.0 }).collect()
    }

    pub(super) fn spent(allocation: &dyn Allocation, base: f64, levels: &[LevelLoad]) -> f64 {
        let bits = |level: usize| allocation.bits_per_key(base, levels, level) * levels[level].entries;
        (0..levels.len()).map(bits).sum::<f64>() / levels.iter().map(|level| level.entries).sum::<f64>()
    }

    #[test]
    fn the_catalog_keeps_its_laws() {
        catalog::laws::check(&ALLOCATIONS).unwrap();
        assert_eq!(ALLOCATIONS.variants()[0].kind, "uniform");
    }

    #[test]
    fn budgets_are_kept_and_no_level_spends_less_than_nothing() {
        let trees = [
            leveled(10.0, 5),
            leveled(4.0, 1),
            leveled(2.0, 8),
            vec![LevelLoad { entries: 5e3, runs: 4.0 }, LevelLoad { entries: 1e6, runs: 10.0 }],
            vec![LevelLoad::default(), LevelLoad { entries: 1e6, runs: 1.0 }, LevelLoad::default()],
        ];
        for variant in ALLOCATIONS.variants() {
            let allocation = ALLOCATIONS.build(&variant.default_choice()).unwrap();
            for (levels, base) in trees.iter().flat_map(|levels| [0.1, 1.0, 5.0, 10.0].map(|b| (levels, b))) {
                if allocation.keeps_budget() {
                    let spent = spent(&*allocation, base, levels);
                    assert!((spent / base - 1.0).abs() < 1e-9, "{}: {spent} for {base}", variant.kind);
                }
                for level in 0..levels.len() {
                    let bits = allocation.bits_per_key(base, levels, level);
                    assert!(bits >= 0.0 && bits.is_finite(), "{}: {bits}", variant.kind);
                }
            }
        }
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
