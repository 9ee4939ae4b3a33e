//! The trait of codecs, which compress and decompress blocks.

use std::sync::Arc;

use thiserror::Error;

use crate::dictionaries::Dictionaries;

/// The tag of blocks that are stored raw, which means uncompressed.
pub const RAW: u8 = 0;

/// A compression method: a codec, or a selector that chooses a codec for each block.
///
/// Invariants:
/// 1. [`decompress`](crate::decompress()) with the returned tag and the original length returns exactly the block that
///    [`compress`](Self::compress) has compressed.
/// 2. If compression would not make a block smaller, the block is stored raw under the tag [`RAW`].
/// 3. Decompression of corrupt input gives an error, or wrong bytes of the original length. Corrupt input never causes
///    a panic or an access outside of the buffers.
/// 4. Invariants 1 to 3 also hold for a codec that was trained with [`learn`](Self::learn), if a
///    [`Decompressor`](crate::Decompressor) decompresses with the trained dictionaries. Corrupt dictionaries give an
///    error or wrong bytes.
pub trait Compression: Send + Sync {
    /// Returns the tag of the blocks that this codec compresses. A codec never changes its tag, because stored blocks
    /// contain the tag. Returns `None` for a codec whose blocks have the tags of other codecs: a selector, a trained
    /// codec, and `lz4-hc`.
    fn tag(&self) -> Option<u8>;

    /// Compresses a block of an SSTable, and appends the result to `out`. `level` is the level of the SSTable, and
    /// level 0 contains the newest data. Returns the tag that must be stored with the block.
    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8;

    /// Decompresses bytes that were stored with the tag of this codec. The length of `out` must be the length of the
    /// original block.
    ///
    /// # Errors
    /// The bytes do not decode to exactly this length.
    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock>;

    /// Returns the number of bytes at the start of an SSTable with which this codec must be trained before it
    /// compresses blocks. Returns 0 if the codec needs no training.
    fn sample_bytes(&self, _level: usize) -> usize {
        0
    }

    /// Trains this codec with the first blocks of an SSTable at `level`, and returns the trained codec for all blocks
    /// of this SSTable. Adds the data that readers need to `dictionaries`, which the SSTable stores. Returns `None` if
    /// the SSTable must use the untrained codec.
    fn learn(
        &self,
        _level: usize,
        _samples: &[&[u8]],
        _dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        None
    }

    /// Returns the memory in bytes that a library in another language allocates for this codec. This memory is returned
    /// separately, because Rust allocators do not see it. The result includes memory that the codec keeps between
    /// blocks. A selector counts only the codecs that it may use for blocks of `level`.
    fn foreign_bytes(&self, _level: usize) -> usize {
        0
    }

    /// Returns the tag of the codec and the function that opens its dictionaries. A
    /// [`Decompressor`](crate::Decompressor) needs both to decompress blocks. Returns `None` if the codec has no
    /// dictionaries, or if it is a selector.
    fn learner(&self) -> Option<Learner> {
        None
    }
}

/// A function that decompresses the blocks that need one dictionary. Its input is a compressed block, without the
/// dictionary number at the start of the block.
pub(crate) type Decode = Box<dyn Fn(&[u8], &mut [u8]) -> Result<(), CorruptBlock> + Send + Sync>;

/// The tag of a codec with dictionaries, and the function that opens one of its dictionaries. A
/// [`Decompressor`](crate::Decompressor) needs both to decompress the blocks of the codec.
#[derive(Clone, Copy, Debug)]
pub struct Learner {
    /// The tag of blocks that need a dictionary. A codec never changes its tag, because stored blocks contain the tag.
    pub(crate) tag: u8,
    /// Opens a dictionary, and returns the function that decompresses blocks with it.
    pub(crate) open: fn(&[u8]) -> Result<Decode, CorruptBlock>,
}

/// The error for a stored block that cannot be decompressed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("corrupt block: {0}")]
pub struct CorruptBlock(pub String);

impl CorruptBlock {
    /// Returns the error of a codec that cannot decompress, such as a selector. The blocks of a selector contain the
    /// tags of other codecs, and these codecs decompress the blocks.
    pub fn of_selector() -> Self {
        Self(
            "a codec without a tag of its own cannot decompress a block; decompress the block with the codec \
             whose tag the block contains"
                .to_owned(),
        )
    }

    /// Returns the error for decompression with a trained codec. The blocks of such a codec need a dictionary of their
    /// SSTable, so only a [`Decompressor`](crate::Decompressor) can decompress them.
    pub(crate) fn of_learner() -> Self {
        Self(
            "the block was compressed with a dictionary; decompress the block with the dictionaries of its \
             SSTable"
                .to_owned(),
        )
    }

    /// Returns the error for a compressed block whose content contradicts the format of the codec `codec`.
    pub(crate) fn impossible(codec: &str) -> Self {
        Self(format!("{codec}: the compressed block is corrupt, because its parts do not match each other"))
    }

    /// Returns the error for a compressed block that decodes to `len` bytes instead of the `expected` bytes of the
    /// original block. `codec` is the name of the codec.
    pub(crate) fn length(codec: &str, len: usize, expected: usize) -> Self {
        Self(format!("{codec}: the compressed block decompresses to {len} bytes, expected {expected} bytes"))
    }
}
