//! Helpers for the tests of fences whose pages are read one by one.

use std::cell::RefCell;
use std::ops::Range;

use types::Bytes;

use crate::fence::{TableReadError, TableView};
use crate::separators::Separators;

/// An SSTable that consists only of its fence, and records the pages that are read.
pub(crate) struct Stored {
    pub(crate) bytes: Bytes,
    blocks: u32,
    pub(crate) pages: RefCell<Vec<Range<u64>>>,
}

impl Stored {
    /// Creates an SSTable whose fence has the given separators and stored bytes.
    pub(crate) fn new(bytes: &[u8], separators: &Separators) -> Self {
        let (bytes, blocks) = (Bytes::copy_from(bytes), separators.len() as u32);
        Self { bytes, blocks, pages: RefCell::default() }
    }
}

impl TableView for Stored {
    fn block_count(&self) -> u32 {
        self.blocks
    }

    fn stored_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        Ok(self.bytes.slice(range.start as usize..range.end as usize))
    }

    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.pages.borrow_mut().push(range.clone());
        self.read_stored(range)
    }

    fn first_key(&self, _: u32) -> Result<Bytes, TableReadError> {
        Err("a fence whose pages are read one by one must not read data blocks".into())
    }
}

/// Returns `count` separators at even distances.
pub(crate) fn numbered(count: u32) -> Separators {
    let mut separators = Separators::default();
    (0..count).for_each(|i| separators.push(format!("user{:020}", i * 10).as_bytes()));
    separators
}
