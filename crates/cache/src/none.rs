//! No cache: every block is read from storage. The baseline that every cache must pay against.

use catalog::{Build, NoParams, Variant};
use types::Bytes;

use crate::cache::{BlockId, Cache};

pub(crate) const VARIANT: Variant<dyn Cache> =
    Variant::new::<NoCache>("none", "no cache: every block is read from storage each time", "");

/// The cache that declines every block.
struct NoCache;

impl Build<dyn Cache> for NoCache {
    type Params = NoParams;

    fn build(_: NoParams) -> Result<Box<dyn Cache>, String> {
        Ok(Box::new(Self))
    }
}

impl Cache for NoCache {
    fn get(&self, _: &BlockId) -> Option<Bytes> {
        None
    }

    fn insert(&self, _: BlockId, _: Bytes) {}

    fn remove_table(&self, _: u64, _: u64) {}

    fn set_capacity(&self, _: u64) {}

    fn capacity(&self) -> u64 {
        0
    }

    fn weight_bytes(&self) -> u64 {
        0
    }
}
