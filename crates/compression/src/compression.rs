//! The trait of codecs, which compress and decompress blocks.

use std::sync::Arc;

use thiserror::Error;

use crate::dictionaries::Dictionaries;

/// The tag of blocks that are stored uncompressed.
pub const RAW: u8 = 0;

/// A compression method: a codec, or a selector that chooses a codec for each block.
///
/// Invariants:
/// 1. [`decompress`](crate::decompress()) with the returned tag and the original length gives exactly the block that
///    [`compress`](Self::compress) has compressed.
/// 2. If compression would not make a block smaller, the block is stored raw under the tag [`RAW`].
/// 3. Decompression of corrupt input gives an error, or wrong bytes of the original length. Corrupt input never
///    causes a panic or an access outside of the buffers.
/// 4. Invariants 1 to 3 also hold for a codec that has [learnt](Self::learn) dictionaries, if a
///    [`Decompressor`](crate::Decompressor) decompresses with these dictionaries. Corrupt dictionaries give an error
///    or wrong bytes.
pub trait Compression: Send + Sync {
    /// Returns the tag of the blocks of this codec. A codec never changes its tag, because stored blocks contain the
    /// tag. Returns `None` if the variant only selects among other codecs.
    fn tag(&self) -> Option<u8>;

    /// Compresses a block of an SSTable at `level` of the tree, and appends the result to `out`. Level 0 is the
    /// newest level. Returns the tag to store with the block.
    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8;

    /// Decompresses bytes that were stored under this codec's own tag. `out` must have the length of the original
    /// block.
    ///
    /// # Errors
    /// The bytes do not decode to exactly this length.
    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock>;

    /// Returns the number of bytes, at the start of an SSTable, from which the codec learns before it compresses
    /// blocks. Returns 0 if the codec never learns.
    fn sample_bytes(&self, _level: usize) -> usize {
        0
    }

    /// Learns from the first blocks of an SSTable at `level`. Adds the data that readers need to `dictionaries`,
    /// which the SSTable stores. Returns the trained codec for all blocks of this SSTable. If the codec has learnt
    /// nothing, returns `None`, and this codec without training compresses the SSTable.
    fn learn(
        &self,
        _level: usize,
        _samples: &[&[u8]],
        _dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        None
    }

    /// Returns the memory, in bytes, that a library in another language allocates for the codec. Rust allocators do
    /// not see this memory. The result includes memory that the codec keeps between blocks, and temporary memory per
    /// block. The result of a selector includes exactly the codecs that it may use for blocks of `level`.
    fn foreign_bytes(&self, _level: usize) -> usize {
        0
    }

    /// Returns the reader of the dictionaries that this codec learns. Returns `None` if the codec never learns, or if
    /// it is a selector.
    fn learner(&self) -> Option<Learner> {
        None
    }
}

/// A function that decompresses a block with one dictionary. The function receives the compressed block without the
/// number of its dictionary.
pub(crate) type Decode = Box<dyn Fn(&[u8], &mut [u8]) -> Result<(), CorruptBlock> + Send + Sync>;

/// The reader of the dictionaries of a codec.
#[derive(Clone, Copy, Debug)]
pub struct Learner {
    /// The tag of blocks that refer to a dictionary. A codec never changes its tag, because stored blocks contain the
    /// tag.
    pub(crate) tag: u8,
    /// Opens a dictionary.
    pub(crate) open: fn(&[u8]) -> Result<Decode, CorruptBlock>,
}

/// Stored bytes that do not decompress.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("corrupt block: {0}")]
pub struct CorruptBlock(pub String);

impl CorruptBlock {
    /// The error of a selector that is called to decompress. A selector cannot decompress, because it has no tag.
    pub fn of_selector() -> Self {
        Self(
            "a codec that selects among other codecs cannot decompress; use the codec that the tag of the block names"
                .to_owned(),
        )
    }

    /// The error of a trained codec that is called to decompress. A trained codec cannot decompress without its
    /// dictionary, because its blocks refer to the dictionary.
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
