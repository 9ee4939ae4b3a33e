//! Exported functions for block caches that the calling program creates.
#![allow(unsafe_code, non_camel_case_types)]

use std::sync::Arc;

use super::memory::{from_handle, into_handle};
use super::seam::contain;
use crate::shared_cache::SharedCache;

/// The handle of a block cache, which several stores may share.
pub struct leveldb_cache_t(pub(super) Arc<SharedCache>);

/// Creates a cache with a capacity in bytes. The design of the first store that uses it determines the cache variant.
/// With capacity 0, stores with this cache have no block cache.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_cache_create_lru(capacity: usize) -> *mut leveldb_cache_t {
    into_handle(leveldb_cache_t(Arc::new(SharedCache::new(capacity))))
}

/// Destroys the handle of a cache. Open stores continue to use the cache.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_cache_destroy(cache: *mut leveldb_cache_t) {
    // SAFETY: The caller keeps the rules of the interface.
    contain((), || drop(unsafe { from_handle(cache) }));
}
