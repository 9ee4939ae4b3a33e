//! Fences (fence pointers). A fence is the index of an SSTable. For a lookup, a fence returns the only block that can
//! contain the key. For a scan, a fence returns the block in which the scan starts.

mod adaptive;
mod binary;
mod branchless;
mod compressed;
pub mod conformance;
pub mod culling;
mod eytzinger;
mod fence;
mod free;
mod heads;
mod interpolation;
mod lanes;
mod learned;
mod line;
mod page;
mod page_search;
mod radix;
mod s_tree;
mod separators;
mod static_btree;
mod stored;
mod suffixes;
#[cfg(test)]
mod testing;
mod two_level;

use catalog::Catalog;

pub use fence::{BlockBounds, Fence, FenceError, FenceInput, FencePolicy, TableReadError, TableView};
pub use separators::Separators;

/// All fence variants. The first fence is the baseline, and the last fence is the ideal bound.
#[rustfmt::skip] // One line each, whatever their number.
pub static CATALOG: Catalog<dyn FencePolicy> = Catalog::new(
    catalog::origin!(),
    "fence",
    "the index of an SSTable, which maps a key to the block that can contain it",
    &[
        binary::VARIANT,
        branchless::VARIANT,
        interpolation::VARIANT,
        radix::VARIANT,
        eytzinger::VARIANT,
        lanes::VARIANT,
        s_tree::VARIANT,
        learned::VARIANT,
        compressed::VARIANT,
        adaptive::VARIANT,
        two_level::VARIANT,
        static_btree::VARIANT,
        page_search::VARIANT,
        free::VARIANT,
    ],
);
