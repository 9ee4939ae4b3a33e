//! Frame-of-reference coding with bit packing. A block is divided into frames of 128 8-byte words. A frame stores its
//! smallest word in full. For each word, the frame stores the difference from the smallest word, with the number of
//! bits that the largest difference needs.
//!
//! This codec is for columns of integers of similar size. Blocks with text or mixed data are stored raw. Source:
//! Goldstein, Ramakrishnan and Shaft, "Compressing Relations and Indexes" (ICDE 1998).
//!
//! ```text
//! u32 length of the block
//! frame*   u64 smallest word, u8 bits per difference, packed differences
//! rest     the bytes after the last word
//! ```

use catalog::Variant;

use crate::compression::{Compression, CorruptBlock};
use crate::{shrunk, words};

pub(crate) const VARIANT: Variant<dyn Compression> =
    Variant::plain("bitpack", "a codec for columns of integers that are close to each other", || {
        Box::new(Bitpack)
    });

/// The tag that identifies blocks of the codec `bitpack` on disk.
const TAG: u8 = 5;

/// The number of 8-byte words in a frame. The words of a frame share one smallest word.
const FRAME: usize = 128;

/// The number of bytes of a frame before its packed differences.
const HEAD_BYTES: usize = 9;

/// The codec `bitpack`: stores the difference of each 8-byte word from the smallest word of its frame.
struct Bitpack;

fn encode(block: &[u8]) -> Vec<u8> {
    let (words, rest) = words::split(block);
    let (mut out, mut frame) = (words::begin(block), Vec::with_capacity(FRAME));
    let mut words = words.peekable();
    while words.peek().is_some() {
        frame.clear();
        frame.extend(words.by_ref().take(FRAME));
        let least = frame.iter().copied().min().unwrap_or_default();
        let greatest = frame.iter().copied().max().unwrap_or_default();
        let width = words::width(greatest - least);
        out.extend_from_slice(&least.to_le_bytes());
        out.push(width as u8);
        words::pack(frame.iter().map(|word| word - least), width, &mut out);
    }
    out.extend_from_slice(rest);
    out
}

fn decode(stored: &[u8], out: &mut [u8]) -> Option<()> {
    let mut stored = words::behind_begin(stored, out.len())?;
    let (frames, end) = out.split_at_mut(out.len() / 8 * 8);
    for frame in frames.chunks_mut(FRAME * 8) {
        let (head, behind) = stored.split_first_chunk::<HEAD_BYTES>()?;
        let (least, width) = head.split_first_chunk::<8>()?;
        let (least, width) = (u64::from_le_bytes(*least), u32::from(width[0]));
        let count = frame.len() / 8;
        if width > u64::BITS {
            return None;
        }
        let (packed, behind) = behind.split_at_checked(words::packed_len(count, width))?;
        words::join(words::unpack(packed, count, width).map(|word| least.wrapping_add(word)), &[], frame)?;
        stored = behind;
    }
    words::join(std::iter::empty(), stored, end)
}

impl Compression for Bitpack {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        shrunk::append_whole(TAG, &encode(block), block, out)
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        decode(stored, out).ok_or_else(|| CorruptBlock::impossible("bitpack"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_integers_take_the_bits_of_their_spread() {
        let block: Vec<u8> = (0..512u64).flat_map(|i| (1_000_000 + i * 7 % 256).to_le_bytes()).collect();
        // Four frames of 128 words with 8 bits each.
        assert_eq!(encode(&block).len(), 4 + 4 * (HEAD_BYTES + 128));
    }
}
