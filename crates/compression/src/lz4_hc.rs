//! LZ4 HC: the LZ4 format with a more thorough search for matches. Decompression is as fast as with LZ4, but
//! compression is several times slower.
//!
//! This codec uses the reference C library. Source: Collet, LZ4, `lz4hc.c`.

use ::lz4::block::{CompressionMode, compress_bound, compress_to_buffer};
use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::compression::{Compression, CorruptBlock};
use crate::{lz4, shrunk};

pub(crate) const VARIANT: Variant<dyn Compression> = Variant::new::<Lz4Hc>(
    "lz4-hc",
    "the format and decompression speed of \"lz4\", with smaller blocks but slow compression",
    "# Compression level, 1 to 12. Higher levels give smaller blocks, but slower compression.\n\
     level = 9\n",
);

/// The maximum compression level of LZ4 HC.
const MAX_LEVEL: i32 = 12;

/// The size in bytes of the hash tables and chains that the LZ4 library allocates for each block
/// (`LZ4_STREAMHC_MINSIZE`).
const STATE_BYTES: usize = 262_200;

/// The lowest level at which the LZ4 library searches for the best possible sequence of matches (optimal parsing). This
/// search needs an additional table of [`OPTIMAL_BYTES`] bytes: 4,099 positions of 16 bytes.
const OPTIMAL_LEVEL: i32 = 10;
const OPTIMAL_BYTES: usize = 4099 * 16;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    level: i32,
}

impl Default for Params {
    fn default() -> Self {
        Self { level: 9 }
    }
}

/// The LZ4 HC codec with its compression level.
struct Lz4Hc {
    level: i32,
}

impl Build<dyn Compression> for Lz4Hc {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Compression>, String> {
        if !(1..=MAX_LEVEL).contains(&params.level) {
            return Err(format!("level is {}; it must be 1 to {MAX_LEVEL}", params.level));
        }
        Ok(Box::new(Self { level: params.level }))
    }
}

impl Compression for Lz4Hc {
    /// Returns `None`, because the codec `lz4` decompresses the blocks of this codec, and they have its tag.
    fn tag(&self) -> Option<u8> {
        None
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        let mode = Some(CompressionMode::HIGHCOMPRESSION(self.level));
        let bound = compress_bound(block.len()).unwrap_or(block.len());
        shrunk::append(lz4::TAG, bound, block, out, |space| {
            compress_to_buffer(block, mode, false, space).ok()
        })
    }

    fn decompress(&self, _: &[u8], _: &mut [u8]) -> Result<(), CorruptBlock> {
        Err(CorruptBlock::of_selector())
    }

    fn foreign_bytes(&self, _: usize) -> usize {
        STATE_BYTES + if self.level >= OPTIMAL_LEVEL { OPTIMAL_BYTES } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effort_pays_and_has_a_range() {
        let block: Vec<u8> = (0..4000u32).flat_map(|i| (i * i % 1009).to_string().into_bytes()).collect();
        let size = |level| {
            let mut out = Vec::new();
            Lz4Hc::build(Params { level }).unwrap().compress(0, &block, &mut out);
            out.len()
        };
        assert!(size(9) < size(1), "{} {}", size(9), size(1));
        for level in [0, 13] {
            assert!(Lz4Hc::build(Params { level }).err().unwrap().contains("1 to 12"));
        }
    }
}
