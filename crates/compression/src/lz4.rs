//! LZ4 in the block format. The codec finds matches of at least four bytes with one hash table, and uses no entropy
//! coding. Decompression runs at several gigabytes per second.
//!
//! This codec uses the crate `lz4_flex` in its safe build, which decodes short matches faster than the unchecked build.
//! The crate skips incompressible input in growing steps, so the codec needs no test for such input. Source of the
//! format: Collet, "LZ4 Block Format Description".

use catalog::Variant;
use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};

use crate::compression::{Compression, CorruptBlock};
use crate::pool::Pool;
use crate::shrunk;

pub(crate) const VARIANT: Variant<dyn Compression> = Variant::plain(
    "lz4",
    "the fastest decompression; saves about half of the bytes of structured data",
    || Box::new(Lz4::new()),
);

/// The tag that identifies blocks of the codec `lz4` on disk.
pub(crate) const TAG: u8 = 1;

/// The LZ4 codec, with a pool of hash tables that later blocks reuse.
pub(crate) struct Lz4 {
    tables: Pool<CompressTable>,
}

impl Lz4 {
    /// Creates the LZ4 codec with an empty pool of hash tables.
    pub(crate) fn new() -> Self {
        Self { tables: Pool::new() }
    }

    /// Compresses a block into `space` and returns the number of written bytes. Returns `None` if the compressed bytes
    /// do not fit.
    pub(crate) fn compress_into(&self, block: &[u8], space: &mut [u8]) -> Option<usize> {
        self.tables.with(CompressTable::default, |table| {
            // A hash table that has grown for a large block is slow to clear, so small blocks get a new small table.
            let is_small = block.len() < usize::from(u16::MAX);
            if is_small && matches!(table, CompressTable::Large(_)) {
                *table = CompressTable::small();
            }
            compress_into_with_table(block, space, table).ok()
        })
    }
}

impl Compression for Lz4 {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        shrunk::append(TAG, get_maximum_output_size(block.len()), block, out, |space| {
            self.compress_into(block, space)
        })
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        let len = decompress_into(stored, out).map_err(|error| CorruptBlock(format!("lz4: {error}")))?;
        if len == out.len() { Ok(()) } else { Err(CorruptBlock::length("lz4", len, out.len())) }
    }
}
