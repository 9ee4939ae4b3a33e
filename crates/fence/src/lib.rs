//! Fences (fence pointers). A fence is the index of an SSTable. For a lookup, a fence returns the only block that can
//! contain the key. For a scan, a fence returns the block in which the scan starts.
//!
//! A [`FencePolicy`] builds the bytes of a fence from the [`Separators`] between an SSTable's blocks, and opens these
//! bytes as a [`Fence`]. [`CATALOG`] lists all fences. The module [`culling`] is a second axis, which finds the
//! SSTables that can contain a key. This crate reads no files. The crate `tree` implements a [`TableView`], through
//! which a fence reads its SSTable.
//!
//! ```
//! # use lsmbench_fence::{TableReadError, TableView};
//! # use types::Bytes;
//! # /// An SSTable that has only a fence.
//! # struct StoredFence { bytes: Vec<u8>, blocks: u32 }
//! # impl TableView for StoredFence {
//! #     fn block_count(&self) -> u32 { self.blocks }
//! #     fn stored_bytes(&self) -> u64 { self.bytes.len() as u64 }
//! #     fn read_stored(&self, range: std::ops::Range<u64>) -> Result<Bytes, TableReadError> {
//! #         Ok(Bytes::copy_from(&self.bytes[range.start as usize..range.end as usize]))
//! #     }
//! #     fn page(&self, range: std::ops::Range<u64>) -> Result<Bytes, TableReadError> { self.read_stored(range) }
//! #     fn first_key(&self, _: u32) -> Result<Bytes, TableReadError> { Err("the SSTable has no blocks".into()) }
//! # }
//! use lsmbench_fence::{CATALOG, FenceInput, Separators};
//!
//! let policy = CATALOG.build(&CATALOG.choose(&"eytzinger".into())?)?;
//! let separators: Separators = [&b"apple"[..], b"grape", b"melon"].into_iter().collect();
//! let input = FenceInput { separators: &separators, hashes: &[], block_starts: &[0, 1, 2], level: 0, bounds: None };
//!
//! // `StoredFence` is a `TableView` over these bytes.
//! let table = StoredFence { bytes: policy.build(&input), blocks: 3 };
//! let fence = policy.open(&table)?;
//! assert_eq!(fence.seek(b"kiwi", &table)?, 1, "the block from grape to melon");
//! assert_eq!(fence.seek(b"plum", &table)?, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
