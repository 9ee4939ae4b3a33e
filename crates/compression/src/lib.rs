//! The compression axis: a block's bytes to fewer bytes, and back.

mod by_level;
mod compression;
mod decompress;
mod lz4;
mod none;
mod pool;
mod shrunk;
mod snappy;
mod zstd;

use catalog::Catalog;

pub use compression::{Compression, DamagedBlock, RAW};
pub use decompress::decompress;

/// All codecs and selectors. The first is the baseline.
pub static CATALOG: Catalog<dyn Compression> = Catalog {
    axis: "compression",
    summary: "how a block's bytes are made fewer",
    variants: &[none::VARIANT, lz4::VARIANT, snappy::VARIANT, zstd::VARIANT, by_level::VARIANT],
};
