//! No compression: blocks are stored raw. This variant is the baseline. Its tag also marks the blocks that other codecs
//! store raw.

use catalog::Variant;

use crate::compression::{Compression, CorruptBlock, RAW};

pub(crate) const VARIANT: Variant<dyn Compression> =
    Variant::plain("none", "no compression of blocks", || Box::new(Uncompressed));

/// The codec `none`, which stores every block uncompressed.
struct Uncompressed;

impl Compression for Uncompressed {
    fn tag(&self) -> Option<u8> {
        Some(RAW)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        out.extend_from_slice(block);
        RAW
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        if stored.len() != out.len() {
            return Err(CorruptBlock::length("raw", stored.len(), out.len()));
        }
        out.copy_from_slice(stored);
        Ok(())
    }
}
