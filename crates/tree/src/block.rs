//! Data blocks without a tree: the block formats, and functions to build, search and iterate over a block.
//! Microbenchmarks and tests with corrupt blocks use this module.

pub mod conformance;

pub use crate::checksum::block_checksum as checksum;
pub use crate::table::{
    BLOCK_FOOTER_BYTES, BlockBuilder, BlockFooter, BlockFormat, Draft, Entries, EntryWriter,
    FORMATS as CATALOG, Found, Layout, Restarts, SENTINEL, TRAILER_BYTES, append_delta, append_whole, find,
    find_noting, layout_of, walk,
};
