//! Variants that only the documents about the five published systems describe. No current engine would choose these
//! variants.
//!
//! The report on published systems needs these variants to test each claim on the component that the document
//! describes. The crates of the components, such as `bloom` and `cache`, do not depend on this crate. The program
//! `lsmbench` adds the variants to the catalogs of these crates through its `Workbench`, as it would add the variants
//! of any other crate. A program without a `Workbench` calls [`register`]:
//!
//! ```
//! use tree::{Design, OpenOptions};
//!
//! lsmbench_study::register()?;
//! let changes = "storage = \"memory\"\nmemtable = \"vector-btreemap\"".parse()?;
//! let tree = OpenOptions::new(Design::default().with(&changes)?).open("db")?;
//! tree.put(b"key", b"value")?;
//! assert_eq!(tree.get(b"key")?.as_deref(), Some(b"value".as_slice()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use catalog::AdditionError;

mod bare_delta;
mod by_access;
mod by_load;
mod fixed_pairs;
mod growing_shards;
mod inverse;
mod min_max;
mod plain;
mod sentinel_pairs;
mod string_lru;
mod system_load;
#[cfg(test)]
mod testing;
mod vector_btreemap;

pub use bare_delta::VARIANT as BARE_DELTA;
pub use by_access::VARIANT as BY_ACCESS;
pub use by_load::VARIANT as BY_LOAD;
pub use fixed_pairs::VARIANT as FIXED_PAIRS;
pub use growing_shards::VARIANT as GROWING_SHARDS;
pub use inverse::VARIANT as INVERSE;
pub use min_max::VARIANT as MIN_MAX;
pub use plain::VARIANT as PLAIN;
pub use sentinel_pairs::VARIANT as SENTINEL_PAIRS;
pub use string_lru::VARIANT as STRING_LRU;
pub use vector_btreemap::VARIANT as VECTOR_BTREEMAP;

/// Adds each variant of this crate to the catalog of its kind of component, such as fences or caches. A program without
/// a `Workbench` calls this function.
///
/// # Errors
/// The errors of [`Catalog::add`](catalog::Catalog::add): a lookup has already happened, or the variants are already
/// added.
pub fn register() -> Result<(), AdditionError> {
    bloom::ALLOCATIONS.add(&INVERSE)?;
    cache::CATALOG.add(&STRING_LRU)?;
    compression::CATALOG.add(&BY_LOAD)?;
    fence::CATALOG.add(&MIN_MAX)?;
    fence::CATALOG.add(&BY_ACCESS)?;
    memtable::CATALOG.add(&GROWING_SHARDS)?;
    memtable::CATALOG.add(&VECTOR_BTREEMAP)?;
    tree::block::CATALOG.add(&BARE_DELTA)?;
    tree::block::CATALOG.add(&PLAIN)?;
    tree::block::CATALOG.add(&FIXED_PAIRS)?;
    tree::block::CATALOG.add(&SENTINEL_PAIRS)
}
