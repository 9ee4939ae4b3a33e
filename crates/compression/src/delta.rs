//! Delta coding: each 8-byte word is stored as the difference from the previous word. Small differences take few bytes.
//!
//! This codec is for columns of integers that increase slowly, such as times. Blocks with text or mixed data are stored
//! raw. The differences are zigzag-encoded (0, -1, 1, -2 …) and written as varints with seven bits per byte, as in
//! Protocol Buffers.
//!
//! ```text
//! u32 length of the block
//! difference*   varint, one per word
//! rest          the bytes after the last word
//! ```

use catalog::Variant;

use crate::compression::{Compression, CorruptBlock};
use crate::{shrunk, words};

pub(crate) const VARIANT: Variant<dyn Compression> =
    Variant::plain("delta", "a codec for columns of integers that increase slowly", || Box::new(Delta));

/// The tag that identifies blocks of the codec `delta` on disk.
const TAG: u8 = 6;

/// The codec `delta`: stores the difference of each 8-byte word from the previous word.
struct Delta;

/// Zigzag-encodes a signed difference, so that differences near 0 become small unsigned numbers.
fn fold(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63).cast_unsigned()
}

fn unfold(folded: u64) -> i64 {
    (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed()
}

fn encode(block: &[u8]) -> Vec<u8> {
    let (words, rest) = words::split(block);
    let mut out = words::begin(block);
    let mut before = 0u64;
    for word in words {
        let mut folded = fold(word.wrapping_sub(before).cast_signed());
        while folded >= 0x80 {
            out.push(folded as u8 | 0x80);
            folded >>= 7;
        }
        out.push(folded as u8);
        before = word;
    }
    out.extend_from_slice(rest);
    out
}

fn decode(stored: &[u8], out: &mut [u8]) -> Option<()> {
    let stored = words::behind_begin(stored, out.len())?;
    let (mut at, mut before) = (0, 0u64);
    let (places, end) = out.as_chunks_mut::<8>();
    for place in places {
        let mut folded = 0u64;
        for shift in (0..).step_by(7) {
            let byte = *stored.get(at)?;
            at += 1;
            folded |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                break;
            }
        }
        before = before.wrapping_add(unfold(folded).cast_unsigned());
        *place = before.to_le_bytes();
    }
    words::join(std::iter::empty(), &stored[at..], end)
}

impl Compression for Delta {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        shrunk::append_whole(TAG, &encode(block), block, out)
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        decode(stored, out).ok_or_else(|| CorruptBlock::impossible("delta"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_fold_and_unfold() {
        for difference in [0, -1, 1, -2, 63, -64, 64, i64::MAX, i64::MIN] {
            assert_eq!(unfold(fold(difference)), difference);
        }
        assert_eq!([0, -1, 1, -2].map(fold), [0, 1, 2, 3]);
    }

    #[test]
    fn slowly_rising_integers_take_a_byte_each() {
        let block: Vec<u8> = (0..512u64).flat_map(|i| (i * 50).to_le_bytes()).collect();
        assert_eq!(encode(&block).len(), 4 + 512);
    }
}
