//! Zstandard: matches as LZ4's, found with more effort as the level rises, then entropy coding. About a
//! third smaller than LZ4, and four times slower each way.
//!
//! Compression and decompression contexts are made once and kept: making one costs tens of microseconds,
//! more than a block does. Source of the format: RFC 8878.

use ::zstd::bulk::{Compressor, Decompressor};
use ::zstd::compression_level_range;
use ::zstd::zstd_safe::compress_bound;
use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::compression::{Compression, DamagedBlock};
use crate::pool::Pool;
use crate::shrunk;

pub(crate) const VARIANT: Variant<dyn Compression> = Variant::new::<Zstd>(
    "zstd",
    "smallest blocks, slower both ways",
    "# Effort, up to 22; higher is smaller and slower, negative is faster than 1. 0 means the default, 3.\n\
     level = 3\n",
);

/// Its tag on disk.
const TAG: u8 = 3;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    level: i32,
}

impl Default for Params {
    fn default() -> Self {
        Self { level: ::zstd::DEFAULT_COMPRESSION_LEVEL }
    }
}

/// A level, and contexts that wait for the next block.
struct Zstd {
    level: i32,
    compressors: Pool<Compressor<'static>>,
    decompressors: Pool<Decompressor<'static>>,
}

impl Build<dyn Compression> for Zstd {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Compression>, String> {
        let range = compression_level_range();
        if !range.contains(&params.level) {
            return Err(format!(
                "level is {}; it must be {} to {}",
                params.level,
                range.start(),
                range.end()
            ));
        }
        Ok(Box::new(Self { level: params.level, compressors: Pool::new(), decompressors: Pool::new() }))
    }
}

impl Compression for Zstd {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        let make = || Compressor::new(self.level).expect("the level is within its range");
        shrunk::append(TAG, compress_bound(block.len()), block, out, |space| {
            self.compressors.with(make, |compressor| compressor.compress_to_buffer(block, space).ok())
        })
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), DamagedBlock> {
        let make = || Decompressor::new().expect("without a dictionary there is nothing to refuse");
        let len = self
            .decompressors
            .with(make, |decompressor| decompressor.decompress_to_buffer(stored, out))
            .map_err(|error| DamagedBlock(format!("zstd: {error}")))?;
        if len == out.len() { Ok(()) } else { Err(DamagedBlock::length("zstd", len, out.len())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_beyond_the_range_are_refused() {
        for level in [23, -200_000] {
            assert!(Zstd::build(Params { level }).err().unwrap().contains("to 22"));
        }
    }

    #[test]
    fn more_effort_makes_smaller_blocks() {
        let block: Vec<u8> = (0..4000u32).flat_map(|i| (i * i % 1009).to_string().into_bytes()).collect();
        let size = |level| {
            let mut out = Vec::new();
            Zstd::build(Params { level }).unwrap().compress(0, &block, &mut out);
            out.len()
        };
        assert!(size(19) < size(1) && size(1) < size(-5), "{} {} {}", size(19), size(1), size(-5));
    }
}
