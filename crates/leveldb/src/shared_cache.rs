//! The cache behind a handle of type `leveldb_cache_t`, which several stores of a program may share.

use std::sync::{Arc, OnceLock};

use cache::Cache;
use tree::Design;

use crate::failure::Failure;

/// A block cache with the capacity that the calling program has set. The design of the first store that uses it
/// determines the variant.
pub(crate) struct SharedCache {
    /// The capacity of the block cache, in bytes.
    pub(crate) capacity: usize,
    built: OnceLock<Arc<dyn Cache>>,
}

impl SharedCache {
    /// Creates a cache handle with a capacity in bytes. The cache is built when the first store uses it.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, built: OnceLock::new() }
    }

    /// Returns the block cache. The first call builds the cache that `design` describes, with the capacity of the
    /// handle.
    pub(crate) fn for_design(&self, design: &Design) -> Result<Arc<dyn Cache>, Failure> {
        if let Some(cache) = self.built.get() {
            return Ok(Arc::clone(cache));
        }
        let built = cache::CATALOG.build(design.choice("cache"));
        let built: Arc<dyn Cache> = Arc::from(built.map_err(|error| Failure::invalid(error.message))?);
        Ok(Arc::clone(self.built.get_or_init(|| built)))
    }
}
