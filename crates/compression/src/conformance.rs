//! The invariants of compression as a check that the tests of any crate can call.
//!
//! ```
//! let zstd = lsmbench_compression::CATALOG.variant("zstd")?;
//! lsmbench_compression::conformance::check(zstd)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod corpora;
mod invariants;
#[cfg(test)]
mod tests;

use catalog::{Variant, laws};

use crate::{CATALOG, Compression};

/// Checks every invariant for a codec with its default parameters. For example, every block is restored, no block
/// grows, and corruption is an error.
///
/// Blocks are decoded by their tag, so the codec is added to the catalog unless it is there already.
///
/// # Errors
/// The codec cannot be added to the catalog; or one line per broken invariant, in the form
/// `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn Compression>) -> Result<(), String> {
    CATALOG.add_once(variant).map_err(|error| error.to_string())?;
    laws::check_component(CATALOG.axis, variant, invariants::Subject, invariants::INVARIANTS)
}
