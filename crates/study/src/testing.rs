//! The registration of all variants for tests, and an SSTable for the tests of fences.

use std::ops::Range;
use std::sync::LazyLock;

use fence::{TableReadError, TableView};
use types::Bytes;

/// Adds all variants of the crate to their catalogs. A test calls this function before its first lookup in a catalog,
/// because the lookup closes the catalog.
pub(crate) fn register() {
    static REGISTERED: LazyLock<()> = LazyLock::new(|| {
        crate::register().expect("the variants must be added before the first lookup in a catalog");
    });
    LazyLock::force(&REGISTERED);
}

/// An SSTable for tests that consists only of the stored bytes of its fence.
pub(crate) struct Stored {
    pub(crate) bytes: Vec<u8>,
    pub(crate) blocks: u32,
}

impl TableView for Stored {
    fn block_count(&self) -> u32 {
        self.blocks
    }

    fn stored_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        let part = self.bytes.get(range.start as usize..range.end as usize);
        part.map(Bytes::copy_from)
            .ok_or_else(|| format!("the byte range {range:?} is outside of the stored fence").into())
    }

    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.read_stored(range)
    }

    fn first_key(&self, _: u32) -> Result<Bytes, TableReadError> {
        Err("a fence of this crate must not read data blocks".into())
    }
}
