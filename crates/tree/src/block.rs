//! Data blocks outside of any tree: their formats, and functions to build, search and iterate over a block.
//! Microbenchmarks use this module, and so do tests with corrupt blocks.

pub mod conformance;

pub use crate::checksum::block_checksum as checksum;
pub use crate::table::{
    BLOCK_FOOTER_BYTES, BlockBuilder, BlockFooter, BlockFormat, Draft, Entries, EntryWriter,
    FORMATS as CATALOG, Found, Layout, Restarts, SENTINEL, TRAILER_BYTES, append_whole, find, find_noting,
    layout_of, walk,
};
