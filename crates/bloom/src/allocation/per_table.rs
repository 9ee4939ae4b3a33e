//! An allocation that gives every filter the same fixed size in bits, however many keys the SSTable has.
//!
//! Source: the document csc443, section 4.3.2, whose filters have a "fixed size". A size that suits the SSTable of
//! one flush is too small for the SSTable that results from many compactions. A filter takes at most 64 bits per key,
//! so a filter with few keys is smaller than the fixed size.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::policy::{Allocation, LevelLoad, bits_param};

pub(crate) const VARIANT: Variant<dyn Allocation> = Variant::new::<PerTable>(
    "per-table",
    "a fixed number of bits for the filter of each SSTable",
    "# Memory of each filter in bits. A filter uses at most 64 bits per key.\n\
     bits = 1048576\n",
);

/// The allocation `per-table`, with the size of each filter in bits.
struct PerTable {
    bits: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits: 1 << 20 }
    }
}

impl Build<dyn Allocation> for PerTable {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Allocation>, String> {
        Ok(Box::new(Self { bits: bits_param(params.bits)? }))
    }
}

impl Allocation for PerTable {
    /// Returns the bits per key for a level. The function assumes that each sorted run consists of one SSTable, because
    /// `levels` does not contain the number of SSTables.
    fn bits_per_key(&self, _: f64, levels: &[LevelLoad], level: usize) -> f64 {
        self.bits / levels[level].run_entries().max(1.0)
    }

    fn table_bits(&self) -> Option<f64> {
        Some(self.bits)
    }

    fn keeps_budget(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::leveled;
    use super::*;

    #[test]
    fn larger_tables_have_fewer_bits_per_key() {
        let levels = leveled(4.0, 3);
        let allocation = PerTable { bits: 1e5 };
        let bits: Vec<f64> = (0..3).map(|level| allocation.bits_per_key(10.0, &levels, level)).collect();
        assert!(
            (bits[0] - 10.0).abs() < 1e-9 && (bits[1] - 2.5).abs() < 1e-9 && (bits[2] - 0.625).abs() < 1e-9
        );
        assert_eq!(allocation.table_bits(), Some(1e5));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(
            [0, u64::MAX].iter().all(|bits| <PerTable as Build<_>>::build(Params { bits: *bits }).is_err())
        );
    }
}
