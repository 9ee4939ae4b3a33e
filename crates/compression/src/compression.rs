//! The seam of the compression axis: a block to fewer bytes and back.

use std::sync::Arc;

use thiserror::Error;

use crate::dictionaries::Dictionaries;

/// The tag of bytes that are stored as they are.
pub const RAW: u8 = 0;

/// A codec, or a rule that picks a codec for each block.
///
/// Laws:
/// 1. What [`compress`](Self::compress) appended, [`decompress`](crate::decompress()) with the returned tag
///    and the original length gives back exactly.
/// 2. A block that would not shrink is stored raw under the tag [`RAW`], so that no block ever grows.
/// 3. Corrupt input is an error or other bytes of the original length; never a panic, never a read or a
///    write outside.
/// 4. What a codec that [learnt](Self::learn) appended, a [`Decompressor`](crate::Decompressor) opened with
///    the dictionaries it left gives back, under laws 1 to 3; corrupt dictionaries are an error, or decode to
///    other bytes.
pub trait Compression: Send + Sync {
    /// The tag under which blocks of this codec are stored, and which never changes its meaning; `None`
    /// where the variant only picks among other codecs.
    fn tag(&self) -> Option<u8>;

    /// Compresses a block of a table at `level` of the tree (0 is the newest), appends the result to
    /// `out`, and returns the tag to store with it.
    fn compress(&self, level: usize, block: &[u8], out: &mut Vec<u8>) -> u8;

    /// Decompresses bytes stored under this codec's own tag into `out`, whose length is the original one.
    ///
    /// # Errors
    /// If the bytes do not decode to exactly that length.
    fn decompress(&self, stored: &[u8], out: &mut [u8]) -> Result<(), CorruptBlock>;

    /// The bytes of a table's first blocks that the codec wants to learn from before it compresses any of
    /// them; 0 where it learns nothing.
    fn sample_bytes(&self, _level: usize) -> usize {
        0
    }

    /// Learns from the first blocks of a table at `level`: puts what readers need into `dictionaries`, which
    /// the table stores, and returns the codec for all blocks of this one table. `None` where there was
    /// nothing to learn: the table is compressed by the codec as it is.
    fn learn(
        &self,
        _level: usize,
        _samples: &[&[u8]],
        _dictionaries: &mut Dictionaries,
    ) -> Option<Arc<dyn Compression>> {
        None
    }

    /// The bytes of memory that it has kept from the blocks compressed so far, or takes for each of them, where allocators
    /// of Rust do not see it: that of a library in another language. Where it picks among codecs, that of all those
    /// which blocks of `level` may come to, and of no other.
    fn foreign_bytes(&self, _level: usize) -> usize {
        0
    }

    /// How what it learns is read again; `None` where it learns nothing, or only its codecs do.
    fn learner(&self) -> Option<Learner> {
        None
    }
}

/// What decodes the blocks that were stored under one dictionary, without the number of that.
pub(crate) type Decode = Box<dyn Fn(&[u8], &mut [u8]) -> Result<(), CorruptBlock> + Send + Sync>;

/// How the dictionaries of a codec are read.
#[derive(Clone, Copy, Debug)]
pub struct Learner {
    /// The tag of blocks that name a dictionary, and which never changes its meaning.
    pub(crate) tag: u8,
    /// Opens a dictionary.
    pub(crate) open: fn(&[u8]) -> Result<Decode, CorruptBlock>,
}

/// Stored bytes that do not decompress.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("corrupt block: {0}")]
pub struct CorruptBlock(pub String);

impl CorruptBlock {
    /// What a selector says when it is asked to decompress: it has no tag.
    pub(crate) fn of_selector() -> Self {
        Self("nothing is stored under a selector of codecs; decompress by the tag".to_owned())
    }

    /// What the codec of one table says when it is asked to decompress: its blocks name a dictionary.
    pub(crate) fn of_learner() -> Self {
        Self("what was compressed with a dictionary is decompressed with the table's".to_owned())
    }

    /// Bytes that `codec` cannot have written.
    pub(crate) fn impossible(codec: &str) -> Self {
        Self(format!("{codec}: its parts do not fit together"))
    }

    /// Bytes of `codec` that decode to `len` bytes where `expected` were stored.
    pub(crate) fn length(codec: &str, len: usize, expected: usize) -> Self {
        Self(format!("{codec}: it decodes to {len} bytes, not to {expected}"))
    }
}
