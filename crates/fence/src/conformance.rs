//! Checks that a fence keeps the invariants of all fences. The tests of any crate can call this check.
//!
//! ```
//! let eytzinger = lsmbench_fence::CATALOG.variant("eytzinger")?;
//! lsmbench_fence::conformance::check(eytzinger)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod invariants;
mod table;
#[cfg(test)]
mod tests;

use catalog::{Choice, Variant, laws};

use crate::{CATALOG, FencePolicy};

/// Checks that a fence keeps every invariant of fences, for many kinds of SSTables. For example, a search returns the
/// block that contains the key, a search reads no more pages than a binary search, and corruption is an error.
///
/// The check uses the default parameters of the fence. If the fence has the parameter `page_bytes`, the check also
/// uses the smallest pages.
///
/// # Errors
/// Returns one line per broken invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn FencePolicy>) -> Result<(), String> {
    let subject = |policy| invariants::Subject { policy, oracle: variant.oracle };
    let checked = laws::check_component(CATALOG.axis, variant, subject, invariants::INVARIANTS);
    let mut broken: Vec<String> = checked.err().into_iter().collect();
    if let Some(choice) = with_small_pages(variant) {
        let built = variant.build_of(CATALOG.axis, &choice).map_err(|error| error.to_string());
        let checked = built.and_then(|policy| {
            laws::check_invariants(&choice.label(), &subject(policy), invariants::INVARIANTS)
        });
        broken.extend(checked.err());
    }
    laws::all_kept(&broken)
}

/// Returns a fence variant with pages of 512 bytes. Returns `None` if the variant has no parameter `page_bytes`.
fn with_small_pages(variant: &Variant<dyn FencePolicy>) -> Option<Choice> {
    let given = [("page_bytes".to_owned(), "512".into())].into_iter().collect();
    variant.choose(CATALOG.axis, given, &[]).ok()
}
