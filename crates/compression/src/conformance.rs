//! Checks codecs against the invariants of compression. The tests of any crate can use this check.
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

/// Checks every invariant of compression for a codec with its default parameters. For example, decompression gives the
/// original block, no block grows, and corrupt input never causes a panic.
///
/// If the catalog does not contain the codec, the function adds the codec to the catalog, because decompression finds a
/// codec by its tag.
///
/// # Errors
/// The codec cannot be added to the catalog. Otherwise, the error has one line per violated invariant, in the form
/// `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn Compression>) -> Result<(), String> {
    CATALOG.add_once(variant).map_err(|error| error.to_string())?;
    laws::check_component(CATALOG.axis, variant, invariants::Subject, invariants::INVARIANTS)
}
