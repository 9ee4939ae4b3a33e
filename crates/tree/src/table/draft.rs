//! A data block under construction, and the trait of what lays out its entries.

use types::{Entry, KeyHash};

use super::block_footer::{BLOCK_FOOTER_BYTES, BlockFooter};
use super::{fingerprints, hash_index};
use crate::design::{BlockIndex, BlockOptions};

/// The most bytes that the numbers before an entry take.
const MAX_HEAD_BYTES: usize = 15;

/// The writer of one format: it lays out the entries of one block after the other.
pub trait EntryWriter: Send {
    /// Takes the next entry; its key is above the one before.
    fn add(&mut self, draft: &mut Draft, entry: &Entry<'_>);

    /// The most bytes that the block has but for its index, finished with one more entry.
    fn bytes_with(&self, draft: &Draft, entry: &Entry<'_>) -> usize;

    /// Completes the block up to and with [`Draft::end`], and begins the next one.
    fn finish(&mut self, draft: &mut Draft);
}

/// A block under construction: the parts that all formats share.
pub struct Draft {
    /// The bytes of the block so far.
    pub bytes: Vec<u8>,
    /// The last key added.
    pub last_key: Vec<u8>,
    pub(super) index: BlockIndex,
    /// Keys per bucket of an index by hash.
    pub(super) index_load: f64,
    /// The hash of each key, where an index is wanted.
    pub(super) hashes: Vec<KeyHash>,
}

impl Draft {
    /// An empty block.
    pub(super) fn new(options: &BlockOptions) -> Self {
        let BlockOptions { index, index_load, .. } = *options;
        Self { bytes: Vec::new(), last_key: Vec::new(), index, index_load, hashes: Vec::new() }
    }

    /// The most bytes of the block with one more entry, the numbers before it, the footer, and `around` bytes of the
    /// format's own.
    #[inline]
    pub fn bytes_with(&self, entry: &Entry<'_>, around: usize) -> usize {
        self.bytes.len() + MAX_HEAD_BYTES + entry.user_bytes() + around + BLOCK_FOOTER_BYTES
    }

    /// Remembers the last key, which shares its first `shared` bytes with the one before.
    #[inline]
    pub fn set_last_key(&mut self, shared: usize, key: &[u8]) {
        self.last_key.truncate(shared);
        self.last_key.extend_from_slice(&key[shared..]);
    }

    /// Appends the index and the footer to a block of a format whose every `interval`-th entry is a restart
    /// point.
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
