//! Snappy in the raw format. The codec is similar to LZ4, but with smaller windows and simpler codes. Compression is
//! about as fast as with LZ4, and decompression is slower.
//!
//! This codec uses the crate `snap`. The crate skips incompressible input in growing steps, so the codec needs no test
//! for such input. Source of the format: "Snappy compressed format description", 2011.

use catalog::Variant;
use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};

use crate::compression::{Compression, CorruptBlock};
use crate::pool::Pool;
use crate::shrunk;

pub(crate) const VARIANT: Variant<dyn Compression> = Variant::plain(
    "snappy",
    "compression speed and block size similar to lz4, but slower decompression",
    || Box::new(Snappy { encoders: Pool::new() }),
);

/// The tag that identifies blocks of the codec `snappy` on disk.
const TAG: u8 = 2;

/// The Snappy codec, with a pool of encoders that later blocks reuse. Each encoder contains a hash table.
struct Snappy {
    encoders: Pool<Encoder>,
}

impl Compression for Snappy {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        shrunk::append(TAG, max_compress_len(block.len()), block, out, |space| {
            self.encoders.with(Encoder::new, |encoder| encoder.compress(block, space).ok())
        })
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        let corrupt = |error: snap::Error| CorruptBlock(format!("snappy: {error}"));
        let len = decompress_len(stored).map_err(corrupt)?;
        if len != out.len() {
            return Err(CorruptBlock::length("snappy", len, out.len()));
        }
        Decoder::new().decompress(stored, out).map(drop).map_err(corrupt)
    }
}
