//! Data blocks by themselves, outside of any tree: their formats, and what it takes to build one, to look a key
//! up in it and to walk it. For measuring them, and for feeding them damage.

pub mod conformance;

pub use crate::checksum::block_checksum as checksum;
pub use crate::table::{
    BLOCK_FOOTER_BYTES, BlockBuilder, BlockFooter, BlockFormat, Draft, Entries, EntryWriter,
    FORMATS as CATALOG, Found, Layout, Restarts, TRAILER_BYTES, append_whole, find, find_noting, layout_of,
    walk,
};
