//! LZMA: matches in the whole block, and a range coder with context modeling. LZMA has the smallest output of all
//! codecs, and is by far the slowest codec for compression and decompression.
//!
//! ```text
//! u32 length of the block, u32 length of the stream, stream without a header
//! ```
//!
//! The lengths are stored because a truncated stream may look complete. The crate `lzma-rust2` implements the format.
//! Source: Pavlov, LZMA specification.

use std::io::{Read, Write};

use catalog::{Build, Variant};
use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter};
use serde::{Deserialize, Serialize};

use crate::compression::{Compression, CorruptBlock};
use crate::shrunk;

pub(crate) const VARIANT: Variant<dyn Compression> = Variant::new::<Lzma>(
    "lzma",
    "the smallest blocks and the slowest codec, for data that is rarely read",
    "# Compression level, 0 to 9. Higher levels give smaller blocks, but slower compression.\n\
     level = 6\n",
);

/// The tag that identifies blocks of the codec `lzma` on disk.
const TAG: u8 = 4;

/// The maximum compression level of LZMA.
const MAX_LEVEL: u32 = 9;

/// The number of bytes of a stored block before the compressed stream.
const HEAD_BYTES: usize = 8;

/// The minimum dictionary size of the LZMA format in bytes.
const MIN_DICTIONARY_BYTES: u32 = 4096;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    level: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { level: 6 }
    }
}

/// The LZMA codec with its compression level.
struct Lzma {
    level: u32,
}

impl Build<dyn Compression> for Lzma {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Compression>, String> {
        if params.level > MAX_LEVEL {
            return Err(format!("level is {}; it must be 0 to {MAX_LEVEL}", params.level));
        }
        Ok(Box::new(Self { level: params.level }))
    }
}

/// Returns the size in bytes of the window in which LZMA finds matches. The window is large enough for a whole block of
/// `block_len` bytes.
fn dictionary_bytes(block_len: usize) -> u32 {
    (block_len as u32).max(MIN_DICTIONARY_BYTES)
}

impl Lzma {
    /// Encodes a block as a header and a stream. Returns `None` if the encoder fails.
    fn encode(&self, block: &[u8]) -> Option<Vec<u8>> {
        let mut options = LzmaOptions::with_preset(self.level);
        options.dict_size = dictionary_bytes(block.len());
        let mut writer = LzmaWriter::new_no_header(vec![0; HEAD_BYTES], &options, false).ok()?;
        writer.write_all(block).ok()?;
        let mut stored = writer.finish().ok()?;
        let stream_len = (stored.len() - HEAD_BYTES) as u32;
        stored[..4].copy_from_slice(&(block.len() as u32).to_le_bytes());
        stored[4..HEAD_BYTES].copy_from_slice(&stream_len.to_le_bytes());
        Some(stored)
    }
}

impl Compression for Lzma {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        shrunk::append_whole(TAG, self.encode(block).as_deref().unwrap_or(block), block, out)
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        let head =
            stored.split_first_chunk::<4>().zip(stored.get(4..).and_then(<[u8]>::split_first_chunk::<4>));
        let ((len, _), (stream_len, stream)) = head.ok_or_else(|| CorruptBlock::impossible("lzma"))?;
        let (len, stream_len) = (u32::from_le_bytes(*len) as usize, u32::from_le_bytes(*stream_len) as usize);
        if len != out.len() {
            return Err(CorruptBlock::length("lzma", len, out.len()));
        }
        if stream_len != stream.len() {
            return Err(CorruptBlock::impossible("lzma"));
        }
        let LzmaOptions { lc, lp, pb, .. } = LzmaOptions::default();
        LzmaReader::new(stream, len as u64, lc, lp, pb, dictionary_bytes(len), None)
            .and_then(|mut reader| reader.read_exact(out))
            .map_err(|error| CorruptBlock(format!("lzma: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_beyond_the_range_are_refused() {
        assert!(Lzma::build(Params { level: 10 }).err().unwrap().contains("0 to 9"));
    }
}
