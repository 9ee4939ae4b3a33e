//! Dictionary coding: the block stores a list of its distinct 8-byte words, and then each word as an index into this
//! list.
//!
//! This codec is for columns with few distinct values. Blocks with text or mixed data are stored raw. Source: Abadi,
//! Madden and Ferreira, "Integrating Compression and Execution in Column-Oriented Database Systems" (SIGMOD 2006).
//!
//! ```text
//! u32 length of the block
//! u16 number of distinct words, the distinct words in ascending order, packed indexes
//! rest     the bytes after the last word
//! ```

use std::collections::BTreeMap;

use catalog::Variant;

use crate::compression::{Compression, CorruptBlock};
use crate::{shrunk, words};

pub(crate) const VARIANT: Variant<dyn Compression> =
    Variant::plain("dictionary", "a codec for columns of integers with few distinct values", || {
        Box::new(Dictionary)
    });

/// The tag that identifies blocks of the codec `dictionary` on disk.
const TAG: u8 = 7;

/// The codec `dictionary`: stores the distinct 8-byte words of a block once, and an index for each word.
struct Dictionary;

/// Encodes a block as its distinct words and their indexes. Returns `None` if the block has too many distinct words.
fn encode(block: &[u8]) -> Option<Vec<u8>> {
    let (words, rest) = words::split(block);
    let mut numbers: BTreeMap<u64, u64> = words.clone().map(|word| (word, 0)).collect();
    let count = u16::try_from(numbers.len()).ok()?;
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    let mut out = words::begin(block);
    out.extend_from_slice(&count.to_le_bytes());
    numbers.keys().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    words::pack(words.map(|word| numbers[&word]), number_width(count), &mut out);
    out.extend_from_slice(rest);
    Some(out)
}

/// Returns the smallest number of bits that can represent every number below `count`.
fn number_width(count: u16) -> u32 {
    words::width(u64::from(count.saturating_sub(1)))
}

fn decode(stored: &[u8], out: &mut [u8]) -> Option<()> {
    let (count, behind) = words::behind_begin(stored, out.len())?.split_first_chunk::<2>()?;
    let count = u16::from_le_bytes(*count);
    let (dictionary, behind) = behind.split_at_checked(usize::from(count) * 8)?;
    let (dictionary, _) = dictionary.as_chunks::<8>();
    let words = out.len() / 8;
    let width = number_width(count);
    let (packed, rest) = behind.split_at_checked(words::packed_len(words, width))?;
    let word = |number: u64| dictionary.get(number as usize).map(|word| u64::from_le_bytes(*word));
    let mut is_known = true;
    let decoded = words::unpack(packed, words, width).map(|number| {
        word(number).unwrap_or_else(|| {
            is_known = false;
            0
        })
    });
    words::join(decoded, rest, out)?;
    is_known.then_some(())
}

impl Compression for Dictionary {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        shrunk::append_whole(TAG, encode(block).as_deref().unwrap_or(block), block, out)
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        decode(stored, out).ok_or_else(|| CorruptBlock::impossible("dictionary"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_take_few_bits() {
        let block: Vec<u8> = (0..512u64).flat_map(|i| (i * i % 4 * 1_000_003).to_le_bytes()).collect();
        // Squares are 0 or 1 modulo 4: one bit for each of 512 words.
        assert_eq!(encode(&block).unwrap().len(), 4 + 2 + 2 * 8 + 64);
    }
}
