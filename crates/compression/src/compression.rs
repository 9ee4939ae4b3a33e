//! The interface of compression: compresses a block, and decompresses it.

use std::sync::Arc;

use thiserror::Error;

use crate::dictionaries::Dictionaries;

/// The tag of blocks that are stored uncompressed.
pub const RAW: u8 = 0;

/// A codec, or a selector that chooses a codec for each block.
///
/// Invariants:
/// 1. [`decompress`](crate::decompress()) with the returned tag and the original length gives back exactly the block
///    that [`compress`](Self::compress) appended.
/// 2. A block that would not shrink is stored raw under the tag [`RAW`], so that no block ever grows.
/// 3. Corrupt input gives an error, or other bytes of the original length. Corrupt input never causes a panic or an
///    access outside of the buffers.
/// 4. For a codec that [learnt](Self::learn), a [`Decompressor`](crate::Decompressor) that opened its dictionaries
///    gives back the blocks, under invariants 1 to 3. Corrupt dictionaries are an error, or decode to other bytes.
pub trait Compression: Send + Sync {
    /// The tag of the blocks of this codec. A tag never changes its meaning. `None` if the variant only selects among
    /// other codecs.
    fn tag(&self) -> Option<u8>;

    /// Compresses a block of a table at `level` of the tree (0 is the newest), appends the result to `out`, and returns
    /// the tag to store with the block.
    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8;

    /// Decompresses bytes that were stored under this codec's own tag into `out`. `out` must have the original length.
    ///
    /// # Errors
    /// If the bytes do not decode to exactly that length.
    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock>;

    /// Number of bytes at the start of an SSTable from which the codec learns before it compresses a block. 0 if the
    /// codec learns nothing.
    fn sample_bytes(&self, _level: usize) -> usize {
        0
    }

    /// Learns from the first blocks of a table at `level`. Adds the data that readers need to `dictionaries`, which the
    /// table stores. Returns the trained codec for all blocks of this SSTable. If there was nothing to learn, returns
    /// `None`, and this codec compresses the SSTable.
    fn learn(
        &self,
        _level: usize,
        _samples: &[&[u8]],
        _dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        None
    }

    /// Bytes that a library in another language allocates for the codec, invisible to Rust allocators. The result
    /// includes memory that the codec keeps between blocks, and temporary memory per block. A selector includes exactly
    /// the codecs that it may use for blocks of `level`.
    fn foreign_bytes(&self, _level: usize) -> usize {
        0
    }

    /// The reader of the dictionaries that this codec learns. `None` if the codec learns nothing, or if only the codecs
    /// that it selects learn.
    fn learner(&self) -> Option<Learner> {
        None
    }
}

/// A function that decompresses the blocks stored under one dictionary, without the number of the dictionary.
pub(crate) type Decode = Box<dyn Fn(&[u8], &mut [u8]) -> Result<(), CorruptBlock> + Send + Sync>;

/// The reader of the dictionaries of a codec.
#[derive(Clone, Copy, Debug)]
pub struct Learner {
    /// The tag of blocks that refer to a dictionary. A tag never changes its meaning.
    pub(crate) tag: u8,
    /// Opens a dictionary.
    pub(crate) open: fn(&[u8]) -> Result<Decode, CorruptBlock>,
}

/// Stored bytes that do not decompress.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("corrupt block: {0}")]
pub struct CorruptBlock(pub String);

impl CorruptBlock {
    /// The error of a selector that is called to decompress, because a selector has no tag.
    pub fn of_selector() -> Self {
        Self("nothing is stored under a selector of codecs; decompress by the tag".to_owned())
    }

    /// The error of a table's learnt codec that is called to decompress, because its blocks refer to a dictionary.
    pub(crate) fn of_learner() -> Self {
        Self(
            "data compressed with a dictionary must be decompressed with the dictionaries of its table"
                .to_owned(),
        )
    }

    /// The error for bytes that `codec` cannot have written.
    pub(crate) fn impossible(codec: &str) -> Self {
        Self(format!("{codec}: the parts of the compressed data are inconsistent"))
    }

    /// The error for bytes of `codec` that decode to `len` bytes instead of the original `expected` bytes.
    pub(crate) fn length(codec: &str, len: usize, expected: usize) -> Self {
        Self(format!("{codec}: the data decompresses to {len} bytes, expected {expected}"))
    }
}
