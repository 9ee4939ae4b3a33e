//! A cache handle of a program. Several stores of the program may share its cache.

use std::sync::{Arc, OnceLock};

use cache::Cache;
use tree::Design;

use crate::failure::Failure;

/// A cache with the capacity of the program, and with the variant of the first design that uses the cache.
pub(crate) struct SharedCache {
    /// The capacity in bytes.
    pub(crate) capacity: usize,
    built: OnceLock<Arc<dyn Cache>>,
}

impl SharedCache {
    /// Creates a handle. The cache itself is created for the first store.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, built: OnceLock::new() }
    }

    /// Returns the cache. For the first store, builds the cache of the design, which has the capacity of the handle.
    pub(crate) fn for_design(&self, design: &Design) -> Result<Arc<dyn Cache>, Failure> {
        if let Some(cache) = self.built.get() {
            return Ok(Arc::clone(cache));
        }
        let built = cache::CATALOG.build(design.choice("cache"));
        let built: Arc<dyn Cache> = Arc::from(built.map_err(|error| Failure::invalid(error.message))?);
        Ok(Arc::clone(self.built.get_or_init(|| built)))
    }
}
