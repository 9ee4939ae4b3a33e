//! Data blocks by themselves, outside of any tree: their formats, and what it takes to build one and to look a
//! key up in it. For measuring them.

pub use crate::checksum::block_checksum as checksum;
pub use crate::table::{BlockBuilder, BlockFormat, FORMATS as CATALOG, Found, TRAILER_BYTES, find};
