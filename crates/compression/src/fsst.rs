//! Fast static symbol tables: up to 255 strings of one to eight bytes that are frequent, each written as one
//! byte, and other bytes behind an escape. For text and keys; decompression is a table look-up per code.
//!
//! The symbols are trained on the first blocks of a table and stored there once; a block by itself is stored
//! with symbols of its own. Training and compression are the `fsst-rs` crate's; decompression is ours, since
//! damaged codes must be an error here. Source: Boncz, Neumann and Leis, "FSST: Fast Random Access String
//! Compression" (PVLDB 13, 2020).
//!
//! ```text
//! symbol table   u8 count, u8 × count: length of each symbol, symbols
//! block          u8 number of the table's dictionary, codes
//! or             u8 255, symbol table, codes
//! ```

use std::sync::Arc;

use ::fsst::{Compressor, ESCAPE_CODE};
use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::compression::{Compression, DamagedBlock, RAW};
use crate::decompress::Decode;
use crate::dictionaries::Dictionaries;
use crate::shrunk;

pub(crate) const VARIANT: Variant<dyn Compression> = Variant::new::<Fsst>(
    "fsst",
    "for text: frequent strings as one byte each, by symbols that a table's first blocks teach",
    "",
);

/// Its tag on disk.
pub(crate) const TAG: u8 = 8;

/// In the place of a dictionary's number: the block has symbols of its own.
const OWN_SYMBOLS: u8 = u8::MAX;

/// What is looked at of a table; training draws some 16 KiB from it.
const SAMPLE_BYTES: usize = 256 << 10;

/// The bytes of the longest symbol.
const SYMBOL_BYTES: usize = 8;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

/// The codec before it learnt: symbols for each block.
struct Fsst;

/// The codec of a table, with the symbols of that.
struct Learnt {
    compressor: Compressor,
    number: u8,
}

/// What codes stand for; the escape code and those without a symbol stand for nothing.
struct Symbols {
    /// The bytes of each, filled up with zeros.
    bytes: [[u8; SYMBOL_BYTES]; 256],
    lengths: [u8; 256],
}

impl Build<dyn Compression> for Fsst {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn Compression>, String> {
        Ok(Box::new(Self))
    }
}

/// The symbol table of a compressor as bytes.
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
    /// Reads a symbol table; returns it and what stands behind it, or `None` where it is none.
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

    /// Decodes to exactly the length of `out`.
    fn decode(&self, codes: &[u8], out: &mut [u8]) -> Result<(), DamagedBlock> {
        self.fill(codes, out).ok_or_else(|| DamagedBlock::impossible("fsst"))
    }

    fn fill(&self, codes: &[u8], out: &mut [u8]) -> Option<()> {
        let (mut at, mut next) = (0, 0);
        // Whole symbols are written; what is too much of each is overwritten by the next.
        while let (Some(code), Some(space)) = (codes.get(next), out.get_mut(at..at + SYMBOL_BYTES)) {
            if *code == ESCAPE_CODE {
                space[0] = *codes.get(next + 1)?;
                next += 2;
                at += 1;
            } else {
                space.copy_from_slice(&self.bytes[usize::from(*code)]);
                next += 1;
                at += usize::from(self.lengths[usize::from(*code)]);
            }
        }
        while let Some(code) = codes.get(next) {
            let escaped;
            let symbol = if *code == ESCAPE_CODE {
                next += 1;
                escaped = *codes.get(next)?;
                std::slice::from_ref(&escaped)
            } else {
                &self.bytes[usize::from(*code)][..usize::from(self.lengths[usize::from(*code)])]
            };
            next += 1;
            out.get_mut(at..at + symbol.len())?.copy_from_slice(symbol);
            at += symbol.len();
        }
        (at == out.len()).then_some(())
    }
}

/// Opens the symbols of a table.
pub(crate) fn open(dictionary: &[u8]) -> Result<Decode, DamagedBlock> {
    match Symbols::read(dictionary) {
        Some((symbols, [])) => Ok(Box::new(move |codes, out| symbols.decode(codes, out))),
        _ => Err(DamagedBlock::impossible("the symbols of fsst")),
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

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), DamagedBlock> {
        let own = stored.split_first().filter(|(number, _)| **number == OWN_SYMBOLS);
        let (symbols, codes) = own
            .and_then(|(_, behind)| Symbols::read(behind))
            .ok_or_else(|| DamagedBlock::impossible("the symbols of fsst"))?;
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
}

impl Compression for Learnt {
    /// Its blocks need the dictionaries of the table.
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

    fn decompress(&self, _: &[u8], _: &mut [u8]) -> Result<(), DamagedBlock> {
        Err(DamagedBlock::of_learner())
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
