//! An allocation that takes the bits per key from a list with one number for each level.
//!
//! fjall, Pebble and others let their users configure bits per level. Unlike other allocations, this allocation
//! ignores the parameter `bits_per_key` of the filter.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::policy::{Allocation, LevelLoad};

pub(crate) const VARIANT: Variant<dyn Allocation> = Variant::new::<PerLevel>(
    "per-level",
    "bits per key from a list with one number per level",
    "# Bits per key in level 0, level 1 and so on, 0 to 64 each. The last number applies to all deeper\n\
     # levels.\n\
     bits_per_key = [16, 14, 12, 10, 8]\n",
);

/// The allocation `per-level`, with the bits per key of the filters in each level.
struct PerLevel {
    bits_per_key: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits_per_key: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits_per_key: vec![16.0, 14.0, 12.0, 10.0, 8.0] }
    }
}

impl Build<dyn Allocation> for PerLevel {
    type Params = Params;

    fn build(Params { bits_per_key }: Params) -> Result<Box<dyn Allocation>, String> {
        if bits_per_key.is_empty() {
            return Err("bits_per_key is an empty list; it needs at least one number, the bits per key of \
                        level 0"
                .to_owned());
        }
        match bits_per_key.iter().find(|bits| !(0.0..=64.0).contains(*bits)) {
            Some(bits) => {
                Err(format!("bits_per_key is {bits} for one level; each number must be from 0 to 64"))
            }
            None => Ok(Box::new(Self { bits_per_key })),
        }
    }
}

impl Allocation for PerLevel {
    fn bits_per_key(&self, _: f64, _: &[LevelLoad], level: usize) -> f64 {
        self.bits_per_key[level.min(self.bits_per_key.len() - 1)]
    }

    fn keeps_budget(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_holds_below() {
        let table = PerLevel { bits_per_key: vec![12.0, 8.0] };
        let bits = |level| table.bits_per_key(10.0, &[], level);
        assert!(bits(0) > 11.0 && bits(1) < 9.0 && bits(5) < 9.0);
    }

    #[test]
    fn impossible_tables_are_refused() {
        for bits_per_key in [vec![], vec![10.0, -1.0], vec![65.0], vec![f64::NAN]] {
            assert!(<PerLevel as Build<_>>::build(Params { bits_per_key }).is_err());
        }
    }
}
