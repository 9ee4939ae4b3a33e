//! A data block under construction, and the trait of the writers that encode the entries of the block.

use types::{Entry, KeyHash};

use super::block_footer::{BLOCK_FOOTER_BYTES, BlockFooter};
use super::{fingerprints, hash_index};
use crate::design::{BlockIndex, BlockOptions};

/// The maximum number of bytes that the lengths of an entry take in a data block: at most three varints of 5 bytes.
const MAX_HEAD_BYTES: usize = 15;

/// The writer of a block format, which encodes the entries of one data block in key order.
pub trait EntryWriter: Send {
    /// Appends an entry to the data block in `draft`. The key must be larger than the previous key of the block.
    fn add(&mut self, draft: &mut Draft, entry: &Entry<'_>);

    /// Returns an upper bound for the size of the data block in `draft` with one more entry, in bytes. The bound
    /// excludes the index of the block.
    fn bytes_with(&self, draft: &Draft, entry: &Entry<'_>) -> usize;

    /// Completes the data block in `draft`. The implementation must call [`Draft::end`], which appends the index and
    /// the footer. The next call of [`add`](Self::add) begins a new block.
    fn finish(&mut self, draft: &mut Draft);
}

/// A data block under construction, with the data that the writers of all formats need.
pub struct Draft {
    /// The bytes of the data block that are already encoded.
    pub bytes: Vec<u8>,
    /// The key of the last entry that was added to the data block.
    pub last_key: Vec<u8>,
    pub(super) index: BlockIndex,
    /// The mean number of keys per bucket of the hash index in the data block.
    pub(super) index_load: f64,
    /// The hash of each key of the data block. Empty if the block gets no index.
    pub(super) hashes: Vec<KeyHash>,
}

impl Draft {
    /// Creates an empty data block.
    pub(super) fn new(options: &BlockOptions) -> Self {
        let BlockOptions { index, index_load, .. } = *options;
        Self { bytes: Vec::new(), last_key: Vec::new(), index, index_load, hashes: Vec::new() }
    }

    /// Returns an upper bound for the size of the data block with one more entry, in bytes. The bound includes the
    /// lengths of the entry, the footer, and `around` bytes that the block format adds.
    #[inline]
    pub fn bytes_with(&self, entry: &Entry<'_>, around: usize) -> usize {
        self.bytes.len() + MAX_HEAD_BYTES + entry.user_bytes() + around + BLOCK_FOOTER_BYTES
    }

    /// Records `key` as the last key of the data block. The first `shared` bytes of `key` are also the first bytes of
    /// the previous key.
    #[inline]
    pub fn set_last_key(&mut self, shared: usize, key: &[u8]) {
        self.last_key.truncate(shared);
        self.last_key.extend_from_slice(&key[shared..]);
    }

    /// Completes the data block: appends its index and its footer. Every `interval`-th entry of the block must be a
    /// restart point. `format` is the code of the block format.
    pub fn end(&mut self, format: u8, restart_count: usize, interval: usize) {
        let index_at = self.bytes.len();
        match self.index {
            BlockIndex::None => {}
            BlockIndex::Hash => hash_index::build(&self.hashes, interval, self.index_load, &mut self.bytes),
            BlockIndex::Fingerprint => fingerprints::build(&self.hashes, interval, &mut self.bytes),
        }
        let index_len = self.bytes.len() - index_at;
        let footer = BlockFooter { format, restart_count, index: self.index, index_at, index_len };
        self.bytes.extend_from_slice(&footer.encode());
    }
}
