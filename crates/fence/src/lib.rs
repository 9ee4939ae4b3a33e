//! The fence axis: given a key, the one block of a table that can hold it, or where a scan starts.

mod fence;
mod separators;

use catalog::Catalog;

pub use fence::{Fence, FenceError, FenceInput, FencePolicy, ReadError, TableView};
pub use separators::Separators;

/// All fences. The first is the baseline, the last the oracle.
pub static CATALOG: Catalog<dyn FencePolicy> =
    Catalog { axis: "fence", summary: "the index from a key to the block that can hold it", variants: &[] };
