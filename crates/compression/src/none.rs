//! No compression: blocks are stored as they are. The baseline that every codec must pay against, and the
//! reader of the blocks that other codecs could not make smaller.

use catalog::{Build, NoParams, Variant};

use crate::compression::{Compression, CorruptBlock, RAW};

pub(crate) const VARIANT: Variant<dyn Compression> =
    Variant::new::<Uncompressed>("none", "blocks are stored as they are", "");

/// The codec that copies.
struct Uncompressed;

impl Build<dyn Compression> for Uncompressed {
    type Params = NoParams;

    fn build(_: NoParams) -> Result<Box<dyn Compression>, String> {
        Ok(Box::new(Self))
    }
}

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
