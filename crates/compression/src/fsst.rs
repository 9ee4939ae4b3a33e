//! FSST (fast static symbol tables), a codec for text and keys. A symbol table contains up to 255 frequent strings of
//! one to eight bytes, called symbols. A block stores each symbol as a code of one byte. A byte that is in no symbol is
//! stored as an escape code, followed by the byte itself. Decompression needs one table lookup per code.
//!
//! The symbols are selected from the first blocks of an SSTable, and the SSTable stores the symbol table once. If the
//! codec was not trained on an SSTable, each block contains its own symbol table. The crate `fsst-rs` selects the
//! symbols and compresses. This module implements the decompression, because corrupt codes must cause an error. Source:
//! Boncz, Neumann and Leis, "FSST: Fast Random Access String Compression" (PVLDB 13, 2020).
//!
//! ```text
//! symbol table   u8 count, u8 × count: length of each symbol, symbols
//! block          u8 number of the dictionary of the SSTable, codes
//! or             u8 255, symbol table, codes
//! ```

use std::sync::Arc;

use ::fsst::{Compressor, ESCAPE_CODE};
use catalog::Variant;

use crate::compression::{Compression, CorruptBlock, Decode, Learner, RAW};
use crate::dictionaries::Dictionaries;
use crate::shrunk;

pub(crate) const VARIANT: Variant<dyn Compression> = Variant::plain(
    "fsst",
    "a codec for text, with one byte per frequent string; the strings are selected from the first blocks of \
     an SSTable",
    || Box::new(Fsst),
);

/// The tag that identifies blocks of the codec `fsst` on disk.
const TAG: u8 = 8;

/// The dictionary number of a block that contains its own symbol table instead of using a dictionary of the SSTable.
const OWN_SYMBOLS: u8 = u8::MAX;

/// The number of bytes at the start of an SSTable that are collected as samples for its symbol table. The crate
/// `fsst-rs` reads about 16 KiB of these samples to select the symbols.
const SAMPLE_BYTES: usize = 256 << 10;

/// The length in bytes of the longest symbol, which is a frequent string that FSST replaces by a code of one byte.
const SYMBOL_BYTES: usize = 8;

/// The size in bytes of the buffer into which eight codes are decoded. The symbols of eight codes have up to 64 bytes.
/// Each symbol is written as eight bytes at a position below 64, so the buffer has space for one more symbol.
const WINDOW_BYTES: usize = 64 + SYMBOL_BYTES;

/// The codec `fsst` without training. Each block that it compresses contains its own symbol table.
struct Fsst;

/// The codec `fsst` after its training for one SSTable, with the symbol table of this SSTable.
struct Learnt {
    compressor: Compressor,
    number: u8,
}

/// A symbol table for decompression: the string (symbol) of each code. The escape code, and codes without a symbol,
/// have the length 0.
struct Symbols {
    /// The string (symbol) of each code, padded with zeros.
    bytes: [[u8; SYMBOL_BYTES]; 256],
    lengths: [u8; 256],
}

/// Encodes the symbol table of a compressor in its stored format.
fn stored_symbols(compressor: &Compressor) -> Vec<u8> {
    let lengths = compressor.symbol_lengths();
    let mut stored = vec![lengths.len() as u8];
    stored.extend_from_slice(lengths);
    for (symbol, len) in compressor.symbol_table().iter().zip(lengths) {
        stored.extend_from_slice(&symbol.to_u64().to_le_bytes()[..usize::from(*len)]);
    }
    stored
}

impl Symbols {
    /// Decodes a stored symbol table. Returns the table and the bytes after it, or `None` if the table is invalid.
    fn read(stored: &[u8]) -> Option<(Self, &[u8])> {
        let (count, behind) = stored.split_first()?;
        let (lengths, mut behind) = behind.split_at_checked(usize::from(*count))?;
        let mut symbols = Self { bytes: [[0; SYMBOL_BYTES]; 256], lengths: [0; 256] };
        for (code, len) in lengths.iter().enumerate() {
            if !(1..=SYMBOL_BYTES).contains(&usize::from(*len)) {
                return None;
            }
            let (bytes, next) = behind.split_at_checked(usize::from(*len))?;
            symbols.bytes[code][..bytes.len()].copy_from_slice(bytes);
            symbols.lengths[code] = *len;
            behind = next;
        }
        Some((symbols, behind))
    }

    /// Decodes the codes of a block into `out`. Returns an error if the result does not have exactly the length of
    /// `out`.
    fn decode(&self, codes: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        self.fill(codes, out).ok_or_else(|| CorruptBlock::impossible("fsst"))
    }

    fn fill(&self, mut codes: &[u8], mut out: &mut [u8]) -> Option<()> {
        while let (Some(eight), Some(space)) = (codes.first_chunk::<8>(), out.first_chunk_mut()) {
            let word = u64::from_le_bytes(*eight);
            let escapes = escapes(word);
            if escapes == 0 {
                let written = self.put(word, 8, space);
                (codes, out) = (&codes[8..], &mut out[written..]);
                continue;
            }
            let plain = escapes.trailing_zeros() as usize / 8;
            let written = self.put(word, plain, space);
            let (read, written) = match eight.get(plain + 1) {
                Some(literal) => {
                    space[written] = *literal;
                    (plain + 2, written + 1)
                }
                // The byte after this escape code is not among the eight codes.
                None => (plain, written),
            };
            (codes, out) = (&codes[read..], &mut out[written..]);
        }
        self.fill_end(codes, out)
    }

    /// Decodes up to eight codes, which are the `count` lowest bytes of `codes`. No code may be an escape. Writes their
    /// symbols to `space`, and returns the number of written bytes.
    #[inline]
    fn put(&self, codes: u64, count: usize, space: &mut [u8; WINDOW_BYTES]) -> usize {
        let mut at = 0;
        for code in (0..count).map(|place| (codes >> (8 * place)) as u8) {
            // Each symbol is written as eight bytes, and the next symbol overwrites the excess bytes. `at` is at most
            // 56, because seven symbols have at most 56 bytes. The mask therefore changes no value, but lets the
            // compiler remove the bounds check.
            let start = at & 63;
            space[start..start + SYMBOL_BYTES].copy_from_slice(&self.bytes[usize::from(code)]);
            at += usize::from(self.lengths[usize::from(code)]);
        }
        at
    }

    /// Decodes the last codes of a block one by one. At this point, fewer than eight codes are left, or `out` has no
    /// space for eight symbols of the largest length.
    fn fill_end(&self, codes: &[u8], mut out: &mut [u8]) -> Option<()> {
        let mut codes = codes.iter();
        while let Some(code) = codes.next() {
            let symbol = match *code {
                ESCAPE_CODE => std::slice::from_ref(codes.next()?),
                code => &self.bytes[usize::from(code)][..usize::from(self.lengths[usize::from(code)])],
            };
            let (space, behind) = out.split_at_mut_checked(symbol.len())?;
            space.copy_from_slice(symbol);
            out = behind;
        }
        out.is_empty().then_some(())
    }
}

/// Finds the first escape code among the eight codes in `codes`. The lowest set bit of the result marks this code. The
/// result is 0 if no code is an escape.
#[inline]
fn escapes(codes: u64) -> u64 {
    let inverted = !codes;
    inverted.wrapping_sub(0x0101_0101_0101_0101) & !inverted & 0x8080_8080_8080_8080
}

/// Opens the symbol table that an SSTable stores, and returns the function that decompresses the blocks of the SSTable.
fn open(dictionary: &[u8]) -> Result<Decode, CorruptBlock> {
    match Symbols::read(dictionary) {
        Some((symbols, [])) => Ok(Box::new(move |codes, out| symbols.decode(codes, out))),
        _ => Err(CorruptBlock("fsst: the symbol table of the SSTable is corrupt".to_owned())),
    }
}

impl Compression for Fsst {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        let compressor = Compressor::train(&vec![block]);
        let stored = [&[OWN_SYMBOLS][..], &stored_symbols(&compressor), &compressor.compress(block)].concat();
        shrunk::append_whole(TAG, &stored, block, out)
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        let own = stored.split_first().filter(|(number, _)| **number == OWN_SYMBOLS);
        let (symbols, codes) = own
            .and_then(|(_, behind)| Symbols::read(behind))
            .ok_or_else(|| CorruptBlock("fsst: the symbol table of the block is corrupt".to_owned()))?;
        symbols.decode(codes, out)
    }

    fn sample_bytes(&self, _: usize) -> usize {
        SAMPLE_BYTES
    }

    fn learn(
        &self,
        _: usize,
        samples: &[&[u8]],
        dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        let compressor = Compressor::train(&samples.to_vec());
        let number = dictionaries.add(TAG, stored_symbols(&compressor));
        Some(Arc::new(Learnt { compressor, number }))
    }

    fn learner(&self) -> Option<Learner> {
        Some(Learner { tag: TAG, open })
    }
}

impl Compression for Learnt {
    /// Returns `None`, because only a reader with the dictionaries of the SSTable can decompress the blocks of this
    /// codec.
    fn tag(&self) -> Option<u8> {
        None
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        let codes = self.compressor.compress(block);
        if codes.len() + 1 < block.len() {
            out.push(self.number);
            out.extend_from_slice(&codes);
            TAG
        } else {
            out.extend_from_slice(block);
            RAW
        }
    }

    fn decompress(&self, _: &[u8], _: &mut [u8]) -> Result<(), CorruptBlock> {
        Err(CorruptBlock::of_learner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(from: u32) -> Vec<u8> {
        (from..from + 200)
            .flat_map(|i| format!("{{\"user\": {i}, \"city\": \"Lisbon\"}}\n").into_bytes())
            .collect()
    }

    #[test]
    fn a_table_teaches_once_what_its_blocks_would_each_store() {
        let samples: Vec<Vec<u8>> = (0..20).map(|block| text(block * 200)).collect();
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        let mut dictionaries = Dictionaries::default();
        let learnt = Fsst.learn(0, &samples, &mut dictionaries).unwrap();
        let block = text(5_000);
        let size = |codec: &dyn Compression| {
            let mut stored = Vec::new();
            assert_eq!(codec.compress(0, &block[..1000], &mut stored), TAG);
            stored.len()
        };
        assert!(size(&*learnt) + 100 < size(&Fsst), "{} {}", size(&*learnt), size(&Fsst));
    }

    #[test]
    fn impossible_symbols_are_refused() {
        for symbols in [&[][..], &[1], &[1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[1, 0], &[1, 2, 7], &[0, 7]] {
            assert!(open(symbols).is_err(), "{symbols:?}");
        }
        let decode = open(&[1, 2, b'a', b'b']).unwrap();
        let mut out = [0; 5];
        decode(&[0, ESCAPE_CODE, b'c', 0], &mut out).unwrap();
        assert_eq!(out, *b"abcab");
        for codes in [&[0, 0][..], &[0, 0, 0], &[0, 0, ESCAPE_CODE], &[0, 0, 1], &[]] {
            assert!(decode(codes, &mut out).is_err(), "{codes:?}");
        }
    }
}
