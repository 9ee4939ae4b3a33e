//! An implementation of the C ABI in this crate, which evicts the least recently used block. A comparison with the
//! variant `lru` therefore measures only the cost of the ABI.
#![allow(unsafe_code)]

use std::ffi::c_void;

use foldhash::fast::FixedState;
use lru::LruCache;

use super::hooks::{ABI, CacheApi, CacheParams, Request};

/// The table of hooks of the built-in LRU policy.
pub(super) const API: CacheApi = CacheApi {
    abi: ABI,
    name: c"lru".as_ptr(),
    init: Some(init),
    resize: None,
    hit: Some(hit),
    miss: Some(miss),
    evict: Some(evict),
    remove: Some(remove),
    free: Some(free),
};

/// The objects of a shard, in the order of their last uses.
type Uses = LruCache<u64, (), FixedState>;

unsafe extern "C" fn init(_: CacheParams) -> *mut c_void {
    Box::into_raw(Box::new(Uses::unbounded_with_hasher(FixedState::default()))).cast()
}

/// Returns the objects of a shard, to which the pointer `data` of the ABI refers.
///
/// # Safety
/// `data` comes from [`init`], and no other code uses `data` while the reference is in use.
unsafe fn behind<'a>(data: *mut c_void) -> &'a mut Uses {
    // SAFETY: the caller guarantees that `init` made the data and that nothing else uses it.
    unsafe { &mut *data.cast() }
}

unsafe extern "C" fn hit(data: *mut c_void, request: *const Request) {
    // SAFETY: by the ABI, calls with the same data are sequential, and the request is not null.
    unsafe { behind(data).promote(&(*request).obj_id) };
}

unsafe extern "C" fn miss(data: *mut c_void, request: *const Request) {
    // SAFETY: by the ABI, calls with the same data are sequential, and the request is not null.
    unsafe { behind(data).put((*request).obj_id, ()) };
}

unsafe extern "C" fn evict(data: *mut c_void, _: *const Request) -> u64 {
    // SAFETY: by the ABI, calls with the same data are sequential.
    unsafe { behind(data) }.pop_lru().map_or(0, |(object, ())| object)
}

unsafe extern "C" fn remove(data: *mut c_void, object: u64) {
    // SAFETY: by the ABI, calls with the same data are sequential.
    unsafe { behind(data) }.pop(&object);
}

unsafe extern "C" fn free(data: *mut c_void) {
    // SAFETY: `init` made the data from a box, and by the ABI the data is freed once.
    drop(unsafe { Box::from_raw(data.cast::<Uses>()) });
}
