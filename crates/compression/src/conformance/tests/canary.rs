//! A run-length codec, whose output consists of pairs of length and byte. The codec is correct, or has exactly one
//! seeded fault.

use std::sync::Arc;

use toml::Value;

use super::super::invariants::Opened;
use crate::{CATALOG, Compression, CorruptBlock, Decompressor, Dictionaries, RAW};

/// The tag of the blocks that this codec compresses. No variant of the catalog has this tag.
const TAG: u8 = 77;

/// The tag of a codec of the catalog.
const TAG_OF_ANOTHER: u8 = 1;

/// The seeded fault of the codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    LosesTheLastByte,
    ClearsWhatWasThere,
    NamesTheWrongTag,
    GrowsRandomBlocks,
    PanicsOnCorruption,
    AcceptsAnyLength,
    ForgetsWhatItLearnt,
    PanicsOnCorruptDictionaries,
}

/// The label of a codec in the catalog that trains dictionaries.
const LEARNER: &str = "zstd(dictionary=256)";

pub(crate) struct Canary(pub(crate) Option<Fault>);

impl Canary {
    fn has(&self, fault: Fault) -> bool {
        self.0 == Some(fault)
    }

    /// Returns a function that decompresses the blocks of this codec, by their tag.
    pub(crate) fn decompressor(&self) -> impl Fn(u8, &[u8], &mut [u8]) -> Result<(), CorruptBlock> {
        |tag, stored, out| match tag {
            TAG => self.decompress(stored, out),
            tag => crate::decompress(tag, stored, out),
        }
    }

    /// Opens the dictionaries of an SSTable that this codec has compressed.
    pub(crate) fn open(&self, dictionaries: &[u8]) -> Result<Opened, CorruptBlock> {
        let opened = Decompressor::open(dictionaries);
        assert!(opened.is_ok() || !self.has(Fault::PanicsOnCorruptDictionaries), "no dictionaries");
        let opened = opened?;
        Ok(Box::new(move |tag, stored, out| opened.decompress(tag, stored, out)))
    }
}

impl Compression for Canary {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        if self.has(Fault::ClearsWhatWasThere) {
            out.clear();
        }
        let end = block.len() - usize::from(self.has(Fault::LosesTheLastByte) && !block.is_empty());
        let runs = block[..end].chunk_by(|a, b| a == b).flat_map(|run| run.chunks(255));
        let encoded: Vec<u8> = runs.flat_map(|run| [run.len() as u8, run[0]]).collect();
        if encoded.len() < block.len() || self.has(Fault::GrowsRandomBlocks) {
            out.extend(encoded);
            if self.has(Fault::NamesTheWrongTag) { TAG_OF_ANOTHER } else { TAG }
        } else {
            out.extend_from_slice(block);
            RAW
        }
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        assert!(stored.len().is_multiple_of(2) || !self.has(Fault::PanicsOnCorruption), "half a run");
        let decoded: Vec<u8> =
            stored.chunks_exact(2).flat_map(|run| std::iter::repeat_n(run[1], usize::from(run[0]))).collect();
        if decoded.len() == out.len() && stored.len().is_multiple_of(2) {
            out.copy_from_slice(&decoded);
            return Ok(());
        }
        if self.has(Fault::AcceptsAnyLength) {
            let len = decoded.len().min(out.len());
            out[..len].copy_from_slice(&decoded[..len]);
            return Ok(());
        }
        Err(CorruptBlock("runs of another length".to_owned()))
    }

    fn sample_bytes(&self, _: usize) -> usize {
        4 << 10
    }

    fn learn(
        &self,
        level: usize,
        samples: &[&[u8]],
        dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        let learner = CATALOG.build(&CATALOG.choose(&Value::from(LEARNER)).unwrap()).unwrap();
        match self.has(Fault::ForgetsWhatItLearnt) {
            true => learner.learn(level, samples, &mut Dictionaries::default()),
            false => learner.learn(level, samples, dictionaries),
        }
    }
}
