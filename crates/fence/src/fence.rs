//! The seam of the fence axis: from the separators of a table's blocks to the block for a key.

use std::ops::Range;

use thiserror::Error;
use types::{Bytes, HashedKey, KeyHash};

use crate::separators::Separators;

/// How fences are built for new tables and opened for stored ones.
pub trait FencePolicy: Send + Sync {
    /// Builds the fence of one table and returns the bytes to store; they may be none. They are the same
    /// for the same input on every machine.
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8>;

    /// The alignment in the file of what [`build`](Self::build) returns, a power of two: 1, or the page
    /// size of a fence that reads its pages from storage.
    fn alignment(&self) -> u64 {
        1
    }

    /// Opens what was stored. An in-memory fence reads all of it now, an on-disk one nothing or its root.
    /// Every length is checked before use.
    ///
    /// # Errors
    /// If the bytes were not written by this policy or are corrupt, or if reading fails.
    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError>;
}

/// What a table knows when its fence is built. There is at least one block, and no block is empty.
#[derive(Clone, Copy, Debug)]
pub struct FenceInput<'a> {
    /// One separator per block, strictly increasing: every key of block `i` is at or above separator `i`
    /// and below separator `i + 1`. A separator is not always a key: it may be cut to what separates.
    pub separators: &'a Separators,
    /// The hash of every key in the table, in key order.
    pub hashes: &'a [KeyHash],
    /// The number, counted over the whole table, of the first entry of each block.
    pub block_starts: &'a [u32],
    /// The level that the table is written for, from 0. A table that moves as it is keeps its fence.
    pub level: usize,
}

/// One table's fence.
///
/// Laws:
/// 1. [`seek`](Self::seek) splits the table at the key: every block before the one it returns holds smaller
///    keys only, every block after it larger keys only. Where two blocks do, because the key lies between
///    them, it is the last one whose separator is at or below the key; a fence that stores no separators
///    takes the first keys of the blocks for them, and then it may be the earlier one.
/// 2. [`find`](Self::find) returns the same block for every key that is in the table; for other keys it
///    may return any block.
/// 3. [`find_batch`](Self::find_batch) answers for every key as [`find`](Self::find) does.
/// 4. Whatever was stored, corrupt or not, a block that is returned is one of the table's.
pub trait Fence: Send + Sync {
    /// The block where a scan from `key` starts, going up or down: the last one whose separator is at or
    /// below it, and block 0 for a key below all separators. A scan may find nothing in this block and
    /// must then go on to the next in its direction.
    ///
    /// # Errors
    /// If pages must be read and cannot be, or are corrupt.
    fn seek(&self, key: &[u8], table: &dyn TableView) -> Result<u32, FenceError>;

    /// The only block that can hold `key`.
    ///
    /// # Errors
    /// As [`seek`](Self::seek).
    fn find(&self, key: HashedKey<'_>, table: &dyn TableView) -> Result<u32, FenceError> {
        self.seek(key.bytes, table)
    }

    /// [`find`](Self::find) for many keys, in any order: `blocks` are as many, and get the answers. Searches
    /// that run side by side wait for memory together.
    ///
    /// # Errors
    /// As [`seek`](Self::seek); what `blocks` then hold means nothing.
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

    /// The bytes of memory it holds; an oracle reports 0, since it stands for a fence that costs nothing.
    fn memory_bytes(&self) -> usize;
}

/// What a fence may see of the table it belongs to.
///
/// The table vouches for what it hands out: it has checked the bytes against their checksums when they came
/// from storage. A fence checks lengths, so that nothing can panic, but cannot see a flipped bit in a key.
pub trait TableView {
    /// The number of data blocks.
    fn block_count(&self) -> u32;

    /// The number of bytes that the fence stored.
    fn stored_bytes(&self) -> u64;

    /// A part of what the fence stored, read from storage for good.
    ///
    /// # Errors
    /// If the range is outside of what is stored, or reading fails.
    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, ReadError>;

    /// A part of what the fence stored, read through the block cache. Ask for the same ranges each time:
    /// each is an object of its own in the cache.
    ///
    /// # Errors
    /// As [`read_stored`](Self::read_stored).
    fn page(&self, range: Range<u64>) -> Result<Bytes, ReadError>;

    /// The first key of a data block, read through the block cache.
    ///
    /// # Errors
    /// If there is no such block, or reading fails.
    fn first_key(&self, block: u32) -> Result<Bytes, ReadError>;
}

/// Why the table could not give a fence what it asked for.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// Why a fence gives no answer.
#[derive(Debug, Error)]
pub enum FenceError {
    /// The stored bytes cannot be right.
    #[error("corrupt fence: {0}")]
    Corrupt(String),
    /// The table could not read.
    #[error(transparent)]
    Read(#[from] ReadError),
}
