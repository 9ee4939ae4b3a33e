//! Fences with seeded faults. Each fence breaks one invariant, and the check must detect the fault.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use types::{HashedKey, head};

use crate::{Fence, FenceError, FenceInput, FencePolicy, TableView};

/// The fault that is seeded into a fence, to test that the check rejects this fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Fault: a key that equals a separator goes to the block before the separator.
    OffByOne,
    /// Fault: only the first eight bytes of keys and separators are compared.
    TrustsHeads,
    /// Fault: a key above all separators goes to block 0 instead of the last block.
    WrapsRound,
    /// Fault: the last key of a batch gets the block of the batch's first key.
    MixesBatches,
    /// Fault: a search returns the block of the last key whose hash equals the hash of the searched key.
    TrustsHashes,
    /// Fault: the stored bytes depend on the number of earlier builds.
    CountsItsBuilds,
    /// Fault: a search reads all blocks one after the other.
    ReadsAllBlocks,
    /// Fault: the fence reports no memory.
    HidesMemory,
    /// Fault: truncated bytes are accepted as if they were complete.
    AcceptsCutBytes,
    /// Fault: truncated bytes are indexed without a check of their length.
    PanicsOnCutBytes,
    /// Fault: a corrupt fence returns a block number that the SSTable does not have.
    LeavesTheTable,
}

impl Fault {
    /// Every fault, with the name of the invariant whose check must detect the fault.
    pub(crate) const ALL: [(Self, &'static str); 11] = [
        (Self::OffByOne, "`seek` and `find` return the block that can contain the key"),
        (Self::TrustsHeads, "`seek` and `find` return the block that can contain the key"),
        (Self::WrapsRound, "`seek` and `find` return the block that can contain the key"),
        (Self::MixesBatches, "a batch of searches gives the same answers as single searches"),
        (Self::TrustsHashes, "keys with equal hashes do not change the answers of searches"),
        (Self::CountsItsBuilds, "two builds from equal input return equal bytes"),
        (Self::ReadsAllBlocks, "a search reads at most as many blocks as a binary search"),
        (Self::HidesMemory, "the result of `memory_bytes` is plausible for the number of blocks"),
        (Self::AcceptsCutBytes, "with corrupt bytes, a search returns an error or a block of the SSTable"),
        (Self::PanicsOnCutBytes, "with corrupt bytes, a search returns an error or a block of the SSTable"),
        (Self::LeavesTheTable, "with corrupt bytes, a search returns an error or a block of the SSTable"),
    ];
}

/// A correct policy with a seeded fault.
pub(crate) struct Canary {
    fault: Fault,
    sound: Box<dyn FencePolicy>,
    builds: AtomicU8,
    last_block_of_hash: Arc<Mutex<HashMap<u64, u32>>>,
}

impl Canary {
    pub(crate) fn new(fault: Fault, sound: Box<dyn FencePolicy>) -> Self {
        Self { fault, sound, builds: AtomicU8::new(0), last_block_of_hash: Arc::default() }
    }
}

impl FencePolicy for Canary {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        let mut last_block_of_hash = self.last_block_of_hash.lock().expect("no panic holds it");
        last_block_of_hash.clear();
        for (entry, hash) in input.hashes.iter().enumerate() {
            let block = input.block_starts.partition_point(|start| *start as usize <= entry) - 1;
            last_block_of_hash.insert(hash.0, block as u32);
        }
        let mut stored = self.sound.build(input);
        if self.fault == Fault::CountsItsBuilds {
            let last = stored.last_mut().expect("a tag at least");
            *last = last.wrapping_add(self.builds.fetch_add(1, Ordering::Relaxed));
        }
        stored
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        let whole: Option<Box<dyn Fence>> = match (self.fault, self.sound.open(table)) {
            (Fault::AcceptsCutBytes | Fault::LeavesTheTable, Err(_)) => None,
            (Fault::PanicsOnCutBytes, Err(_)) => {
                let stored = table.read_stored(0..table.stored_bytes())?;
                return Err(FenceError::Corrupt(format!("{}", stored[7])));
            }
            (_, opened) => Some(opened?),
        };
        let last_block_of_hash = Arc::clone(&self.last_block_of_hash);
        Ok(Box::new(CanaryFence { fault: self.fault, whole, last_block_of_hash }))
    }
}

struct CanaryFence {
    fault: Fault,
    /// The fence without the fault. `None` if the stored bytes are corrupt.
    whole: Option<Box<dyn Fence>>,
    last_block_of_hash: Arc<Mutex<HashMap<u64, u32>>>,
}

impl Fence for CanaryFence {
    fn seek(&self, key: &[u8], table: &dyn TableView) -> Result<u32, FenceError> {
        let Some(whole) = &self.whole else {
            return Ok(if self.fault == Fault::LeavesTheTable { table.block_count() } else { 0 });
        };
        let block = whole.seek(key, table)?;
        Ok(match self.fault {
            Fault::OffByOne if *table.first_key(block)? == *key => block.saturating_sub(1),
            Fault::TrustsHeads => {
                let at_or_below =
                    |block: &u32| table.first_key(*block).is_ok_and(|first| head(&first) <= head(key));
                (0..table.block_count()).take_while(at_or_below).last().unwrap_or(0)
            }
            Fault::WrapsRound if block + 1 == table.block_count() && *table.first_key(block)? != *key => 0,
            Fault::ReadsAllBlocks => {
                for block in 0..table.block_count() {
                    table.first_key(block)?;
                }
                block
            }
            _ => block,
        })
    }

    fn find(&self, key: HashedKey<'_>, table: &dyn TableView) -> Result<u32, FenceError> {
        let last_block_of_hash = self.last_block_of_hash.lock().expect("no panic holds it");
        match last_block_of_hash.get(&key.hash.0) {
            Some(block) if self.fault == Fault::TrustsHashes => Ok(*block),
            _ => self.seek(key.bytes, table),
        }
    }

    fn find_batch(
        &self,
        keys: &[HashedKey<'_>],
        blocks: &mut [u32],
        table: &dyn TableView,
    ) -> Result<(), FenceError> {
        for (key, block) in keys.iter().zip(&mut *blocks) {
            *block = self.find(*key, table)?;
        }
        if let (Fault::MixesBatches, [first, .., last]) = (self.fault, blocks) {
            *last = *first;
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        match (&self.whole, self.fault) {
            (Some(whole), fault) if fault != Fault::HidesMemory => whole.memory_bytes(),
            _ => 0,
        }
    }
}
