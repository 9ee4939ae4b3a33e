//! The invariants of the workload axes, as checks that the tests of any crate can call.
//!
//! ```
//! use lsmbench_workload::{FORMATS, KEYS, LENGTHS, SIZES, conformance};
//!
//! conformance::check_keys(KEYS.variant("zipfian")?)?;
//! conformance::check_value_size(SIZES.variant("uniform")?)?;
//! conformance::check_scan_length(LENGTHS.variant("uniform")?)?;
//! conformance::check_key_format(FORMATS.variant("decimal")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod formats;
mod keys;
mod lengths;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use catalog::{Variant, laws};

use crate::{FORMATS, KEYS, KeyDistribution, KeyFormatPolicy, LENGTHS, LengthDistribution, Recording, SIZES};

/// Checks every invariant of key distributions for one distribution with its default parameters. For example, each
/// index is below the number of keys, draws are repeatable, and popular keys have the announced frequency.
///
/// # Errors
/// Returns one line per broken invariant, in the form `kind: "invariant": failure`.
pub fn check_keys(variant: &'static Variant<dyn KeyDistribution>) -> Result<(), String> {
    laws::check_component(KEYS.axis, variant, keys::Subject, keys::INVARIANTS)
}

/// Checks every invariant of value sizes for one distribution with its default parameters. For example, a size depends
/// only on the random bits, and a size is at most the announced maximum.
///
/// # Errors
/// Returns the errors that [`check_keys`] describes.
pub fn check_value_size(variant: &'static Variant<dyn LengthDistribution>) -> Result<(), String> {
    let subject = |lengths| lengths::Subject { lengths, least: 0 };
    laws::check_component(SIZES.axis, variant, subject, lengths::INVARIANTS)
}

/// Checks every invariant of scan lengths for one distribution with its default parameters. In addition to the
/// invariants of value sizes ([`check_value_size`]), a scan must read at least one entry.
///
/// # Errors
/// Returns the errors that [`check_keys`] describes.
pub fn check_scan_length(variant: &'static Variant<dyn LengthDistribution>) -> Result<(), String> {
    let subject = |lengths| lengths::Subject { lengths, least: 1 };
    laws::check_component(LENGTHS.axis, variant, subject, lengths::INVARIANTS)
}

/// Checks every invariant of key formats for one format with its default parameters. For example, different keys have
/// different bytes, and keys have the announced order. The check opens the format with a small recorded trace.
///
/// # Errors
/// Returns an error if the format cannot be opened. Otherwise, returns the errors that [`check_keys`] describes.
pub fn check_key_format(variant: &'static Variant<dyn KeyFormatPolicy>) -> Result<(), String> {
    let checked = laws::check_variant(FORMATS.axis, variant);
    let mut broken: Vec<String> = checked.err().into_iter().collect();
    // If the default parameters do not build, `check_variant` has already reported the error.
    if let Ok(policy) = variant.build_of(FORMATS.axis, &variant.default_choice()) {
        let format = policy.open(Some(&recording())).map_err(|error| format!("{}: {error}", variant.kind));
        let checked = format.and_then(|format| {
            laws::check_invariants(variant.kind, &formats::Subject(format), formats::INVARIANTS)
        });
        broken.extend(checked.err());
    }
    laws::all_kept(&broken)
}

/// Returns a recorded trace of 3,000 different keys of four bytes.
fn recording() -> Arc<Recording> {
    let numbers = (0..3000u32).map(|number| u64::from(number.wrapping_mul(2_654_435_761)));
    Arc::new(Recording::of(4, numbers.collect()))
}
