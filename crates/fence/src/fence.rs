//! The trait of fences. A fence has the separators between an SSTable's blocks, and returns the block for a key.

use std::ops::Range;

use thiserror::Error;
use types::{Bytes, HashedKey, KeyHash};

use crate::separators::Separators;

/// A policy that builds fences for new SSTables, and opens fences of existing SSTables.
pub trait FencePolicy: Send + Sync {
    /// Builds the fence of one SSTable, and returns the bytes that the SSTable stores. The result may be empty. Equal
    /// inputs give equal bytes on every machine.
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8>;

    /// Returns the alignment, in the file, of the bytes that [`build`](Self::build) returns. The alignment is a power
    /// of two. If a fence reads its pages from storage, the alignment is the page size. If the bytes have no page
    /// structure, the alignment is 1.
    fn alignment(&self) -> u64 {
        1
    }

    /// Returns whether [`build`](Self::build) needs the bounds of every block, in addition to the separators. If so,
    /// the writer of the SSTable collects the bounds for [`FenceInput::bounds`].
    fn needs_bounds(&self) -> bool {
        false
    }

    /// Opens a stored fence. A fence in memory reads all stored bytes in this call. A fence on disk reads only its
    /// root, or nothing. A fence checks all lengths before it uses them.
    ///
    /// # Errors
    /// Returns an error if another policy wrote the bytes, if the bytes are corrupt, or if reading fails.
    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError>;
}

/// The input from which the fence of an SSTable is built. The SSTable must have at least one block, and every block at
/// least one key.
#[derive(Clone, Copy, Debug)]
pub struct FenceInput<'a> {
    /// The separators, one per block, strictly increasing. Every key of block `i` is at or above separator `i` and
    /// below separator `i + 1`. A separator may be a key, or a shortened key that still separates the blocks.
    pub separators: &'a Separators,
    /// The hash of every key in the SSTable, in key order.
    pub hashes: &'a [KeyHash],
    /// For each block, the index of its first entry among all entries of the SSTable.
    pub block_starts: &'a [u32],
    /// The level for which the SSTable is written, from 0. If the SSTable later moves to another level without a
    /// rewrite, the fence does not change.
    pub level: usize,
    /// The bounds of every block. `None` if the policy does not [need](FencePolicy::needs_bounds) bounds.
    pub bounds: Option<&'a BlockBounds>,
}

/// The first key, the last key and the file offset of every block of an SSTable, in the order of the blocks.
#[derive(Clone, Debug, Default)]
pub struct BlockBounds {
    /// The first key of every block.
    pub first_keys: Separators,
    /// The last key of every block.
    pub last_keys: Separators,
    /// The offset in the file at which every block begins.
    pub offsets: Vec<u64>,
}

/// The fence of one SSTable.
///
/// Invariants:
/// 1. [`seek`](Self::seek) splits the SSTable at the key. Every block before the returned block contains only smaller
///    keys, and every block after the returned block only larger keys. If the key is between two blocks, both blocks
///    satisfy the condition. In this case, the result is the last block whose separator is at or below the key. There
///    are two exceptions. A fence without stored separators uses the first keys of the blocks instead, and may return
///    the earlier block. A fence of largest keys may return the later block.
/// 2. [`find`](Self::find) returns the block of every key that the SSTable contains. For any other key, `find` may
///    return any block.
/// 3. [`find_batch`](Self::find_batch) returns the result of [`find`](Self::find) for every key.
/// 4. Every returned block is a block of the SSTable, even if the stored bytes are corrupt.
pub trait Fence: Send + Sync {
    /// Returns the block in which a scan from `key` starts, in either direction. The result is the last block whose
    /// separator is at or below the key, or block 0 if the key is below all separators. If a scan finds no entry in
    /// this block, the scan must continue with the next block in its direction.
    ///
    /// # Errors
    /// Returns an error if a page cannot be read or is corrupt.
    fn seek(&self, key: &[u8], table: &dyn TableView) -> Result<u32, FenceError>;

    /// Returns the only block that can contain `key`. If the SSTable lacks the key, the result may be any block.
    ///
    /// # Errors
    /// Returns the errors that [`seek`](Self::seek) describes.
    fn find(&self, key: HashedKey<'_>, table: &dyn TableView) -> Result<u32, FenceError> {
        self.seek(key.bytes, table)
    }

    /// Executes [`find`](Self::find) for many keys, in any order. The function writes the results to `blocks`, which
    /// must have the length of `keys`. The searches are interleaved, so that their cache misses overlap.
    ///
    /// # Errors
    /// Returns the errors that [`seek`](Self::seek) describes. The content of `blocks` is then undefined.
    fn find_batch(
        &self,
        keys: &[HashedKey<'_>],
        blocks: &mut [u32],
        table: &dyn TableView,
    ) -> Result<(), FenceError> {
        for (key, block) in keys.iter().zip(blocks) {
            *block = self.find(*key, table)?;
        }
        Ok(())
    }

    /// Returns the memory of the fence in bytes. An ideal bound returns 0, because an ideal bound represents a fence
    /// without cost.
    fn memory_bytes(&self) -> usize;
}

/// The parts of an SSTable that the SSTable's fence can read.
///
/// The SSTable verifies the checksums of bytes that it reads from storage for the fence. A fence checks all lengths,
/// so that corrupt bytes cannot cause a panic. A fence cannot detect a flipped bit in a key.
pub trait TableView {
    /// Returns the number of data blocks of the SSTable.
    fn block_count(&self) -> u32;

    /// Returns the number of bytes that the fence has stored in the SSTable.
    fn stored_bytes(&self) -> u64;

    /// Reads a part of the fence's stored bytes from storage. The fence keeps the returned bytes in memory.
    ///
    /// # Errors
    /// Returns an error if the range is outside of the stored bytes, or if reading fails.
    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError>;

    /// Reads a part of the fence's stored bytes through the block cache. The cache stores each range as a separate
    /// object, so a fence should always use the same ranges.
    ///
    /// # Errors
    /// Returns the errors that [`read_stored`](Self::read_stored) describes.
    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError>;

    /// Returns the first key of a data block, read through the block cache.
    ///
    /// # Errors
    /// Returns an error if the block does not exist, or if reading fails.
    fn first_key(&self, block: u32) -> Result<Bytes, TableReadError>;
}

/// The error of reading bytes of an SSTable for its fence.
pub type TableReadError = Box<dyn std::error::Error + Send + Sync>;

/// The reason why a fence cannot be opened or a search cannot return a result.
#[derive(Debug, Error)]
pub enum FenceError {
    /// The stored bytes of the fence are corrupt. The field describes the corruption.
    #[error("corrupt fence: {0}")]
    Corrupt(String),
    /// The SSTable could not read bytes for the fence.
    #[error(transparent)]
    Read(#[from] TableReadError),
}
