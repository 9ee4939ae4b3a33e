//! Zstandard: matches as in LZ4, followed by entropy coding. At higher levels, the search for matches is more thorough.
//! The output is about a third smaller than with LZ4. Compression and decompression are four times slower than with
//! LZ4.
//!
//! The codec reuses its contexts for compression and decompression. Creating a context takes tens of microseconds,
//! which is longer than the compression of a block. Source of the format: RFC 8878.
//!
//! A dictionary contains strings that are frequent in an SSTable. Blocks refer to these strings. With a dictionary,
//! blocks also need no table of byte frequencies, which would be the largest overhead of a small block. The dictionary
//! is trained on the first blocks of an SSTable by zstd's own trainer, FASTCOVER (after Liao, Petri, Moffat and Wirth,
//! "Effective Construction of Relative Lempel-Ziv Dictionaries", WWW 2016), and the SSTable stores the dictionary once.
//!
//! ```text
//! block with a dictionary   u8 number of the table's dictionary, frame
//! ```

use std::sync::Arc;

use ::zstd::bulk::{Compressor, Decompressor};
use ::zstd::compression_level_range;
use ::zstd::dict::from_samples;
use ::zstd::zstd_safe::{CCtx, CDict, DCtx, DDict, compress_bound};
use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::compression::{Compression, CorruptBlock, Decode, Learner};
use crate::dictionaries::Dictionaries;
use crate::pool::Pool;
use crate::shrunk;

pub(crate) const VARIANT: Variant<dyn Compression> = Variant::new::<Zstd>(
    "zstd",
    "smaller blocks than lz4 and snappy, but slower compression and decompression",
    "# Compression level, up to 22. Higher levels give smaller blocks, but are slower. Negative levels\n\
     # are faster than level 1. 0 means the default level, 3.\n\
     level = 3\n\
     # Size of a dictionary, 256 B to 1 MiB, or \"none\". Each SSTable trains a dictionary on its first\n\
     # blocks and stores this dictionary. SSTables smaller than eight times this size have no dictionary.\n\
     dictionary = \"none\"\n",
);

/// The tag that identifies blocks of the codec `zstd` without a dictionary.
const TAG: u8 = 3;

/// The tag that identifies blocks of the codec `zstd` that need a dictionary of their SSTable.
const DICTIONARY_TAG: u8 = 9;

/// The maximum number of sample bytes per byte of the dictionary that is trained. More samples take more time, but
/// improve the dictionary little.
const MOST_SAMPLES: usize = 32;

/// The minimum number of sample bytes per byte of the dictionary that is trained. If an SSTable has fewer samples, a
/// dictionary would take more space than it saves.
const LEAST_SAMPLES: usize = 8;

/// The valid sizes of a dictionary in bytes. The trainer rejects smaller sizes (`ZDICT_DICTSIZE_MIN` in `zdict.h`). The
/// largest size limits the samples that an SSTable keeps in memory for the trainer to [`MOST_SAMPLES`] times 1 MiB.
const DICTIONARY_BYTES: std::ops::RangeInclusive<u64> = 256..=1 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    level: i32,
    dictionary: DictionarySize,
}

impl Default for Params {
    fn default() -> Self {
        Self { level: ::zstd::DEFAULT_COMPRESSION_LEVEL, dictionary: DictionarySize(None) }
    }
}

/// The parameter `dictionary`: the size of a dictionary in bytes, or `"none"`.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "String")]
struct DictionarySize(Option<ByteSize>);

impl TryFrom<Value> for DictionarySize {
    type Error = toml::de::Error;

    fn try_from(value: Value) -> Result<Self, toml::de::Error> {
        match value.as_str() {
            Some("none") => Ok(Self(None)),
            _ => value.try_into().map(|size| Self(Some(size))),
        }
    }
}

impl From<DictionarySize> for String {
    fn from(size: DictionarySize) -> Self {
        size.0.map_or_else(|| "none".to_owned(), |size| size.to_string())
    }
}

/// The Zstandard codec with its parameters, and a pool of contexts that later blocks reuse.
struct Zstd {
    level: i32,
    /// The size of the dictionary in bytes, or 0 without a dictionary.
    dictionary_bytes: usize,
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
        let dictionary_bytes = params.dictionary.0.map(|size| size.0);
        if let Some(bytes) = dictionary_bytes.filter(|bytes| !DICTIONARY_BYTES.contains(bytes)) {
            let bytes = ByteSize(bytes);
            return Err(format!("dictionary is {bytes}; it must be 256 B to 1 MiB, or \"none\""));
        }
        Ok(Box::new(Self {
            level: params.level,
            dictionary_bytes: dictionary_bytes.unwrap_or(0) as usize,
            compressors: Pool::new(),
            decompressors: Pool::new(),
        }))
    }
}

impl Compression for Zstd {
    fn tag(&self) -> Option<u8> {
        Some(TAG)
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        let make = || {
            Compressor::new(self.level).expect("zstd must accept a compression level that was checked before")
        };
        shrunk::append(TAG, compress_bound(block.len()), block, out, |space| {
            self.compressors.with(make, |compressor| compressor.compress_to_buffer(block, space).ok())
        })
    }

    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock> {
        let make = || Decompressor::new().expect("zstd must create a decompressor without a dictionary");
        let len = self
            .decompressors
            .with(make, |decompressor| decompressor.decompress_to_buffer(stored, out))
            .map_err(|error| CorruptBlock(format!("zstd: {error}")))?;
        if len == out.len() { Ok(()) } else { Err(CorruptBlock::length("zstd", len, out.len())) }
    }

    fn sample_bytes(&self, _: usize) -> usize {
        self.dictionary_bytes * MOST_SAMPLES
    }

    fn learn(
        &self,
        _: usize,
        samples: &[&[u8]],
        dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        let bytes: usize = samples.iter().map(|sample| sample.len()).sum();
        if self.dictionary_bytes == 0 || bytes < self.dictionary_bytes * LEAST_SAMPLES {
            return None;
        }
        // The trainer fails on samples that have nothing in common.
        let dictionary = from_samples(samples, self.dictionary_bytes).ok()?;
        let prepared = CDict::try_create(&dictionary, self.level)?;
        let number = dictionaries.add(DICTIONARY_TAG, dictionary);
        Some(Arc::new(Learnt { prepared, number }))
    }

    /// Returns the memory in bytes of the contexts for compression. Contexts for decompression do not count, because
    /// they belong to readers.
    fn foreign_bytes(&self, _: usize) -> usize {
        self.compressors.sum(|compressor| compressor.context_mut().sizeof())
    }

    fn learner(&self) -> Option<Learner> {
        Some(Learner { tag: DICTIONARY_TAG, open })
    }
}

/// A pool of compression contexts for blocks with a dictionary, which all SSTables of the process share.
static CONTEXTS: Pool<CCtx<'static>> = Pool::new();

/// The Zstandard codec after its training for one SSTable, with the dictionary of this SSTable.
struct Learnt {
    prepared: CDict<'static>,
    number: u8,
}

impl Compression for Learnt {
    /// Returns `None`, because only a reader with the dictionaries of the SSTable can decompress the blocks of this
    /// codec.
    fn tag(&self) -> Option<u8> {
        None
    }

    fn compress(&self, _: usize, block: &[u8], out: &mut Vec<u8>) -> u8 {
        shrunk::append(DICTIONARY_TAG, 1 + compress_bound(block.len()), block, out, |space| {
            let (number, space) = space.split_first_mut()?;
            *number = self.number;
            let compress =
                |context: &mut CCtx<'_>| context.compress_using_cdict(space, block, &self.prepared);
            CONTEXTS.with(CCtx::create, compress).ok().map(|written| 1 + written)
        })
    }

    fn decompress(&self, _: &[u8], _: &mut [u8]) -> Result<(), CorruptBlock> {
        Err(CorruptBlock::of_learner())
    }

    /// Returns the memory in bytes of the prepared dictionary and of the contexts for compression. All SSTables share
    /// the contexts.
    fn foreign_bytes(&self, _: usize) -> usize {
        self.prepared.sizeof() + CONTEXTS.sum(|context| context.sizeof())
    }
}

/// Opens the dictionary that an SSTable stores, and returns the function that decompresses the blocks of the SSTable.
fn open(dictionary: &[u8]) -> Result<Decode, CorruptBlock> {
    static CONTEXTS: Pool<DCtx<'static>> = Pool::new();
    let corrupt = || CorruptBlock("zstd: the dictionary of the SSTable is corrupt".to_owned());
    let prepared = DDict::try_create(dictionary).ok_or_else(corrupt)?;
    Ok(Box::new(move |frame, out| {
        let decompress = |context: &mut DCtx<'_>| context.decompress_using_ddict(out, frame, &prepared);
        let len = CONTEXTS
            .with(DCtx::create, decompress)
            .map_err(|code| CorruptBlock(format!("zstd: {}", ::zstd::zstd_safe::get_error_name(code))))?;
        if len == out.len() { Ok(()) } else { Err(CorruptBlock::length("zstd", len, out.len())) }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_beyond_the_range_are_refused() {
        for level in [23, -200_000] {
            assert!(Zstd::build(Params { level, ..Params::default() }).err().unwrap().contains("to 22"));
        }
    }

    #[test]
    fn contexts_are_told_once_there_are_any_and_grow_with_the_effort() {
        let bytes = |level| {
            let codec = Zstd::build(Params { level, ..Params::default() }).unwrap();
            assert_eq!(codec.foreign_bytes(0), 0);
            codec.compress(0, &vec![7; 100_000], &mut Vec::new());
            let once = codec.foreign_bytes(0);
            codec.compress(0, &vec![7; 100_000], &mut Vec::new());
            assert_eq!(codec.foreign_bytes(0), once, "it is used again");
            once
        };
        let [low, high] = [1, 19].map(bytes);
        assert!(low > 10_000 && high > 2 * low, "{low} {high}");
    }

    #[test]
    fn more_effort_makes_smaller_blocks() {
        let block: Vec<u8> = (0..4000u32).flat_map(|i| (i * i % 1009).to_string().into_bytes()).collect();
        let size = |level| {
            let mut out = Vec::new();
            Zstd::build(Params { level, ..Params::default() }).unwrap().compress(0, &block, &mut out);
            out.len()
        };
        assert!(size(19) < size(1) && size(1) < size(-5), "{} {} {}", size(19), size(1), size(-5));
    }

    #[test]
    fn a_dictionary_makes_small_blocks_smaller_and_needs_a_table() {
        let block = |seed: u32| -> Vec<u8> {
            (0..20u32)
                .flat_map(|i| format!("{{\"user\": {}, \"city\": \"Lisbon\"}}", i * seed * 7919).into_bytes())
                .collect()
        };
        let samples: Vec<Vec<u8>> = (1..200).map(block).collect();
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        let dictionary = DictionarySize(Some(ByteSize(4 << 10)));
        let codec = Zstd::build(Params { dictionary, ..Params::default() }).unwrap();
        assert_eq!(codec.sample_bytes(0), 128 << 10);
        let mut dictionaries = Dictionaries::default();
        assert!(codec.learn(0, &samples[..20], &mut dictionaries).is_none(), "too few");
        let learnt = codec.learn(0, &samples, &mut dictionaries).unwrap();
        let size = |codec: &dyn Compression, expected| {
            let mut stored = Vec::new();
            assert_eq!(codec.compress(0, &block(1000), &mut stored), expected);
            stored.len()
        };
        let (with, without) = (size(&*learnt, DICTIONARY_TAG), size(&*codec, TAG));
        assert!(with * 10 < without * 9, "{with} {without}");
    }

    #[test]
    fn a_dictionary_has_a_size_or_is_none() {
        let choose = |text: &str| crate::CATALOG.choose(&Value::from(text)).map(|choice| choice.label());
        assert_eq!(choose("zstd(dictionary=\"none\")").unwrap(), "zstd");
        assert_eq!(choose("zstd(dictionary=16384)").unwrap(), "zstd(dictionary=16KiB)");
        for (size, message) in
            [("16", "256 B to 1 MiB"), ("\"2MiB\"", "256 B to 1 MiB"), ("\"some\"", "some")]
        {
            let error = choose(&format!("zstd(dictionary={size})")).unwrap_err().to_string();
            assert!(error.contains(message), "{size}: {error}");
        }
    }
}
