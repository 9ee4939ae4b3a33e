//! The memory budget of a filter, in bits per key.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::filter::FilterInput;

/// The valid range of bits per key. More than 64 bits per key are useless, because an exact set of 64-bit hashes is
/// smaller.
const BITS_PER_KEY: RangeInclusive<f64> = 0.001..=64.0;

/// The TOML parameters of a filter whose only parameter is `bits_per_key`. The default is `DEFAULT` bits per key.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetParams<const DEFAULT: u32> {
    #[serde(default = "bits::<DEFAULT>")]
    pub(crate) bits_per_key: f64,
}

fn bits<const DEFAULT: u32>() -> f64 {
    DEFAULT.into()
}

impl<const DEFAULT: u32> Default for BudgetParams<DEFAULT> {
    fn default() -> Self {
        Self { bits_per_key: bits::<DEFAULT>() }
    }
}

/// The parameter `bits_per_key` of a filter, after the check of its range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget(f64);

impl Budget {
    /// Checks the parameter `bits_per_key`. Fractions are valid.
    ///
    /// # Errors
    /// Returns an error if `bits_per_key` is NaN, or is outside of the range 0.001 to 64.
    pub(crate) fn from_param(bits_per_key: f64) -> Result<Self, String> {
        if BITS_PER_KEY.contains(&bits_per_key) {
            Ok(Self(bits_per_key))
        } else {
            Err(format!(
                "bits_per_key is {bits_per_key}; it must be from {} to {}, or use kind = \"none\" for no filter",
                BITS_PER_KEY.start(),
                BITS_PER_KEY.end()
            ))
        }
    }

    /// Returns the largest whole number of bits that is not above `bits`. A number slightly below a whole number counts
    /// as this whole number, because of the rounding of floating-point arithmetic.
    pub(crate) fn width(bits: f64) -> u32 {
        (bits + 1e-6).max(0.0) as u32
    }

    /// Returns the parameter `bits_per_key`, which an allocation may replace.
    pub(crate) fn param(self) -> f64 {
        self.0
    }

    /// Returns the bits per key for the filter of one SSTable. If an allocation sets a number for the SSTable, the
    /// result is this number, limited to the valid range. Otherwise, the result is the parameter `bits_per_key`.
    pub(crate) fn bits_per_key(self, input: &FilterInput<'_>) -> f64 {
        match input.bits_per_key {
            Some(bits) => bits.max(*BITS_PER_KEY.start()).min(*BITS_PER_KEY.end()),
            None => self.0,
        }
    }

    /// Returns the size of the filter of one SSTable in units of `unit_bits` bits. The result is at least one unit, so
    /// that a probe of a filter without keys reads an empty unit.
    pub(crate) fn units(self, input: &FilterInput<'_>, unit_bits: u64) -> usize {
        Self::units_for(self.bits_per_key(input), input.hashes.len(), unit_bits)
    }

    /// Returns the size of a filter with `keys` keys at `bits_per_key` bits per key, in units of `unit_bits` bits.
    pub(crate) fn units_for(bits_per_key: f64, keys: usize, unit_bits: u64) -> usize {
        let bits = bits_per_key * keys as f64;
        ((bits / unit_bits as f64).ceil() as usize).max(1)
    }
}

#[cfg(test)]
mod tests {
    use types::KeyHash;

    use super::*;

    #[test]
    fn parameters_out_of_range_are_refused() {
        for bad in [0.0, -1.0, 64.5, f64::NAN, f64::INFINITY, 1e-9] {
            let error = Budget::from_param(bad).unwrap_err();
            assert!(error.contains("bits_per_key is") && error.contains("must be"), "{error}");
        }
        assert!(Budget::from_param(0.1).is_ok());
    }

    #[test]
    fn widths_are_rounded_down_but_for_what_floating_point_loses() {
        assert_eq!([11.999_999_9, 12.0, 12.9, -3.0].map(Budget::width), [12, 12, 12, 0]);
    }

    #[test]
    fn an_allocation_replaces_the_parameter() {
        let budget = Budget::from_param(10.0).unwrap();
        let hashes = [KeyHash(1); 640];
        let units =
            |bits_per_key| budget.units(&FilterInput { hashes: &hashes, bits_per_key, keys: None }, 64);
        assert_eq!(units(None), 100);
        assert_eq!(units(Some(0.1)), 1);
        assert_eq!(units(Some(2.5)), 25);
        assert_eq!(units(Some(0.0)), 1);
        assert_eq!(units(Some(f64::NAN)), 1);
        assert_eq!(units(Some(1e300)), 640);
    }
}
