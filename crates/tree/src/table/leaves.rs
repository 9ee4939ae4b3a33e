//! The temporary file for the data blocks of an SSTable with `table.layout = "index-first"`.
//!
//! In such an SSTable, the fence is before the data blocks. The fence is complete only after the last block, so the
//! blocks are first written to a temporary file. The document csc443 writes the result of a compaction in a similar way
//! (section 4.3.1). It writes the leaves of a B-tree to one file and the inner pages to another file, and then combines
//! both files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use storage::{Purpose, Storage, WriteFile};
use types::Bytes;

use crate::error::Result;

/// The temporary file of the data blocks of one SSTable. The file contains compressed blocks without trailers. Dropping
/// this value removes the file.
pub(super) struct Leaves {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    file: Box<dyn WriteFile>,
    blocks: Vec<Leaf>,
}

/// A data block in the temporary file of an SSTable.
#[derive(Clone, Copy)]
pub(super) struct Leaf {
    /// The number of the codec that compressed the data block, as in the trailer of the block.
    pub(super) codec: u8,
    /// The length of the compressed data block, in bytes.
    pub(super) stored_len: usize,
    /// The length of the data block before compression, in bytes.
    pub(super) raw_len: usize,
}

impl Leaves {
    /// Creates the temporary file for the data blocks of an SSTable. `table` is the path of the SSTable.
    pub(super) fn new(storage: &Arc<dyn Storage>, table: &Path) -> Result<Self> {
        let path = table.with_extension("leaves");
        let file = storage.create(&path, Purpose::Table)?;
        Ok(Self { storage: Arc::clone(storage), path, file, blocks: Vec::new() })
    }

    /// Adds a data block to the list of blocks. The caller must append the bytes of the blocks with
    /// [`append`](Self::append), in the order of the list.
    pub(super) fn push(&mut self, leaf: Leaf) {
        self.blocks.push(leaf);
    }

    /// Returns all data blocks in the temporary file, in the order in which they were added.
    pub(super) fn blocks(&self) -> &[Leaf] {
        &self.blocks
    }

    /// Appends the bytes of one or more data blocks to the temporary file.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.file.append(bytes)?)
    }

    /// Calls `sink` with every data block in the temporary file and its bytes, in the order in which they were added.
    /// Then removes the file.
    pub(super) fn read(mut self, mut sink: impl FnMut(Leaf, &Bytes) -> Result<()>) -> Result<()> {
        // Some back ends keep appended bytes in memory until a sync.
        self.file.sync()?;
        let file = self.storage.open(&self.path, Purpose::Table)?;
        let mut offset = 0;
        for leaf in &self.blocks {
            sink(*leaf, &file.read(offset, leaf.stored_len)?)?;
            offset += leaf.stored_len as u64;
        }
        Ok(())
    }
}

impl Drop for Leaves {
    fn drop(&mut self) {
        // If this removal fails, the file is an orphan, and the next open removes it.
        let _ = self.storage.remove(&self.path);
    }
}
