//! An allocation that divides a fixed number of bits among all filters of the tree, however many keys the tree has.
//!
//! Source: the document byron, section 3.2, which gives all filters together budgets of 100 thousand, 1 million and 10
//! million bits. Every filter gets a share of the budget in proportion to its number of keys, so all filters have equal
//! bits per key. Existing filters keep their size when the tree grows. Until compactions have rewritten them, all
//! filters together can exceed the budget.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::policy::{Allocation, LevelLoad, bits_param};

pub(crate) const VARIANT: Variant<dyn Allocation> = Variant::new::<Total>(
    "total",
    "a fixed number of bits for all filters together, shared in proportion to their keys",
    "# Memory of all filters together in bits. With more keys in the tree, each key gets fewer bits.\n\
     bits = 10000000\n",
);

/// The allocation `total`, with the number of bits of all filters together.
struct Total {
    bits: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits: 10_000_000 }
    }
}

impl Build<dyn Allocation> for Total {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Allocation>, String> {
        Ok(Box::new(Self { bits: bits_param(params.bits)? }))
    }
}

impl Allocation for Total {
    fn bits_per_key(&self, _: f64, levels: &[LevelLoad], _: usize) -> f64 {
        self.bits / levels.iter().map(|load| load.entries).sum::<f64>().max(1.0)
    }

    fn keeps_budget(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{leveled, spent};
    use super::*;

    #[test]
    fn all_levels_together_have_the_bits_whatever_the_base() {
        let levels = leveled(4.0, 4);
        let entries: f64 = levels.iter().map(|load| load.entries).sum();
        for (bits, base) in [(1e5, 10.0), (1e6, 10.0), (1e7, 1.0)] {
            assert!((spent(&Total { bits }, base, &levels) * entries / bits - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn impossible_budgets_are_refused() {
        assert!([0, u64::MAX].iter().all(|bits| <Total as Build<_>>::build(Params { bits: *bits }).is_err()));
    }
}
