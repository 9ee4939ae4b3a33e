//! Compression of data blocks: codecs, and selectors that choose a codec for each block.
//!
//! A [`Compression`] compresses one block and returns a tag that names the codec. [`decompress`] finds the codec by
//! this tag, so a store can read all its blocks after a change of its codec. Some codecs train [`Dictionaries`] for
//! each SSTable, and a [`Decompressor`] decompresses their blocks. [`CATALOG`] lists all codecs and selectors. This
//! crate reads and writes no files. The crate `tree` stores each tag with its block.
//!
//! ```
//! use lsmbench_compression::{CATALOG, decompress};
//!
//! let codec = CATALOG.build(&CATALOG.choose(&"zstd".into())?)?;
//! let block = b"user=alice;city=Oslo;".repeat(200);
//! let mut stored = Vec::new();
//! let tag = codec.compress(0, &block, &mut stored);
//! assert!(stored.len() < block.len() / 10);
//!
//! let mut original = vec![0; block.len()];
//! decompress(tag, &stored, &mut original)?;
//! assert_eq!(original, block);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive;
mod bitpack;
mod by_content;
mod by_entropy;
mod by_level;
mod compression;
pub mod conformance;
mod decompress;
mod delta;
mod dictionaries;
mod dictionary;
mod entropy;
mod fsst;
mod library;
mod lz4;
mod lz4_hc;
mod lzma;
mod none;
pub mod picked;
mod pool;
mod shrunk;
mod snappy;
mod words;
mod zstd;

use catalog::{Catalog, CatalogHandle};

pub use compression::{Compression, CorruptBlock, Learner, RAW};
pub use decompress::{Decompressor, decompress};
pub use dictionaries::Dictionaries;
pub use library::seam;
pub use shrunk::make_room;

/// All codecs and selectors. The first, `none`, is the baseline.
pub static CATALOG: Catalog<dyn Compression> = Catalog::new(
    catalog::origin!(),
    "compression",
    "the codec that compresses data blocks",
    &[
        none::VARIANT,
        lz4::VARIANT,
        snappy::VARIANT,
        zstd::VARIANT,
        lz4_hc::VARIANT,
        lzma::VARIANT,
        bitpack::VARIANT,
        delta::VARIANT,
        dictionary::VARIANT,
        fsst::VARIANT,
        library::VARIANT,
        by_level::variant::<Codecs>(),
        by_entropy::variant::<Codecs>(),
        by_content::variant::<Codecs>(),
        adaptive::variant::<Codecs>(),
    ],
);

/// The type that names [`CATALOG`], so that a selector can use the codecs of the catalog.
pub enum Codecs {}

impl CatalogHandle<dyn Compression> for Codecs {
    fn catalog() -> &'static Catalog<dyn Compression> {
        &CATALOG
    }
}
