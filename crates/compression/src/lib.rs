//! The compression axis: a block's bytes to fewer bytes, and back.

mod compression;

use catalog::Catalog;

pub use compression::{Compression, DamagedBlock, RAW};

/// All codecs and selectors. The first is the baseline.
pub static CATALOG: Catalog<dyn Compression> =
    Catalog { axis: "compression", summary: "how a block's bytes are made fewer", variants: &[] };
