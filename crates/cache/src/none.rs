//! No cache: every block is read from storage. A comparison with this variant shows the benefit of another cache.

use catalog::Variant;
use types::Bytes;

use crate::cache::{BlockId, Cache};

pub(crate) const VARIANT: Variant<dyn Cache> =
    Variant::plain("none", "no cache, so each access to a block reads storage", || Box::new(NoCache));

/// A cache that declines every block.
struct NoCache;

impl Cache for NoCache {
    fn get(&self, _: &BlockId) -> Option<Bytes> {
        None
    }

    fn insert(&self, _: BlockId, _: Bytes) {}

    fn remove_table(&self, _: u64, _: u64) {}

    fn set_capacity(&self, _: u64) {}

    fn is_resizable(&self) -> bool {
        false
    }

    fn capacity(&self) -> u64 {
        0
    }

    fn weight_bytes(&self) -> u64 {
        0
    }
}
