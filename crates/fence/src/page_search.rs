//! A fence without an index. A search is a binary search over the data blocks.
//!
//! Every step reads the first key of a block through the block cache. The fence stores nothing and needs no memory,
//! but each step of a search reads one block. Source: the binary-search lookup of the document csc443, section 4.2.3.

use catalog::Variant;

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::stored::corrupt;

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::plain(
    "page-search",
    "no index, but a binary search over the data blocks, which costs one block read per step",
    || Box::new(PageSearch),
);

/// The variant "page-search", both as a policy and as a fence. The fence stores nothing and searches the data blocks.
struct PageSearch;

impl FencePolicy for PageSearch {
    fn build(&self, _: &FenceInput<'_>) -> Vec<u8> {
        Vec::new()
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        match (table.stored_bytes(), table.block_count()) {
            (0, 1..) => Ok(Box::new(Self)),
            (0, 0) => Err(corrupt("the SSTable must have at least one block, but has none")),
            (bytes, _) => Err(corrupt(format!(
                "the stored fence has {bytes} bytes, but the variant \"page-search\" stores no bytes"
            ))),
        }
    }
}

impl Fence for PageSearch {
    fn seek(&self, key: &[u8], table: &dyn TableView) -> Result<u32, FenceError> {
        // The key is in block `low` or above. If block `high` exists, the key is below block `high`.
        let (mut low, mut high) = (0, table.block_count());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if *table.first_key(middle)? <= *key {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}
