//! The interface of fences: from the separators of a table's blocks to the block for a key.

use std::ops::Range;

use thiserror::Error;
use types::{Bytes, HashedKey, KeyHash};

use crate::separators::Separators;

/// A policy that builds fences for new tables and opens stored fences.
pub trait FencePolicy: Send + Sync {
    /// Builds the fence of one table and returns the bytes to store, possibly none. Equal inputs give equal bytes on
    /// every machine.
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8>;

    /// The alignment in the file of the bytes that [`build`](Self::build) returns. The alignment is a power of two: 1,
    /// or the page size of a fence that reads its pages from storage.
    fn alignment(&self) -> u64 {
        1
    }

    /// Opens a stored fence. A fence in memory reads all stored bytes in this call. A fence on disk reads nothing or
    /// only its root. All lengths are checked before use.
    ///
    /// # Errors
    /// If the bytes were not written by this policy or are corrupt, or if reading fails.
    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError>;
}

/// The input for building the fence of a table. There is at least one block, and no block is empty.
#[derive(Clone, Copy, Debug)]
pub struct FenceInput<'a> {
    /// One separator per block, strictly increasing. Every key of block `i` is at or above separator `i` and below
    /// separator `i + 1`. A separator is not always a key: it may be a shortened key that still separates the blocks.
    pub separators: &'a Separators,
    /// The hash of every key in the table, in key order.
    pub hashes: &'a [KeyHash],
    /// The number, counted over the whole table, of the first entry of each block.
    pub block_starts: &'a [u32],
    /// The level for which the table is written, from 0. A table that is moved without rewriting keeps its fence.
    pub level: usize,
}

/// The fence of one table.
///
/// Invariants:
/// 1. [`seek`](Self::seek) splits the table at the key. Every block before the returned block contains only smaller
///    keys, and every block after it only larger keys. If the key lies between two blocks, both blocks satisfy this.
///    The result is then the last block whose separator is at or below the key. A fence that stores no separators uses
///    the first keys of the blocks instead, and may return the earlier block.
/// 2. [`find`](Self::find) returns the block of every key that is in the table. For other keys it may return any block.
/// 3. [`find_batch`](Self::find_batch) gives the answer of [`find`](Self::find) for every key.
/// 4. Every returned block is a block of the table, even if the stored bytes are corrupt.
pub trait Fence: Send + Sync {
    /// Returns the block where a scan from `key` starts, in either direction. The result is the last block whose
    /// separator is at or below the key, or block 0 for a key below all separators. A scan may find nothing in this
    /// block and must then continue with the next block in its direction.
    ///
    /// # Errors
    /// If pages must be read and cannot be read or are corrupt.
    fn seek(&self, key: &[u8], table: &dyn TableView) -> Result<u32, FenceError>;

    /// Returns the only block that can contain `key`.
    ///
    /// # Errors
    /// The errors of [`seek`](Self::seek).
    fn find(&self, key: HashedKey<'_>, table: &dyn TableView) -> Result<u32, FenceError> {
        self.seek(key.bytes, table)
    }

    /// Runs [`find`](Self::find) for many keys, in any order. `blocks` has the length of `keys` and receives the
    /// answers. The searches run interleaved, so that their cache misses overlap.
    ///
    /// # Errors
    /// The errors of [`seek`](Self::seek). The content of `blocks` is then undefined.
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

    /// Memory of the fence in bytes. An ideal bound reports 0, because it models a fence without memory cost.
    fn memory_bytes(&self) -> usize;
}

/// The view that a fence has of its table.
///
/// The table has checked the bytes that it returns against their checksums when they were read from storage. A fence
/// checks lengths, so that nothing can panic, but it cannot detect a flipped bit in a key.
pub trait TableView {
    /// The number of data blocks.
    fn block_count(&self) -> u32;

    /// The number of bytes that the fence stored.
    fn stored_bytes(&self) -> u64;

    /// Returns a part of the stored bytes of the fence, read from storage and kept by the fence.
    ///
    /// # Errors
    /// If the range is outside of the stored bytes, or reading fails.
    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError>;

    /// Returns a part of the stored bytes of the fence, read through the block cache. Use the same ranges each time,
    /// because each range is a separate object in the cache.
    ///
    /// # Errors
    /// The errors of [`read_stored`](Self::read_stored).
    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError>;

    /// Returns the first key of a data block, read through the block cache.
    ///
    /// # Errors
    /// If there is no such block, or reading fails.
    fn first_key(&self, block: u32) -> Result<Bytes, TableReadError>;
}

/// The error of a table that could not read for its fence.
pub type TableReadError = Box<dyn std::error::Error + Send + Sync>;

/// The error of a fence that gives no answer.
#[derive(Debug, Error)]
pub enum FenceError {
    /// The stored bytes are corrupt.
    #[error("corrupt fence: {0}")]
    Corrupt(String),
    /// A read of the table failed.
    #[error(transparent)]
    Read(#[from] TableReadError),
}
