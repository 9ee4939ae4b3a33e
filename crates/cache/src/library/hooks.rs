//! The table of hooks that `lsmbench_cache.h` defines, and the functions that call these hooks.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::os::raw::c_char;
use std::ptr::{NonNull, null};

use catalog::library::{FunctionTable, Provider};

/// The version of the C ABI of cache libraries (`lsmbench_cache.h`).
pub(super) const ABI: u32 = 1;

/// The C type `common_cache_params_t`: the parameters of a cache that a library creates.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct CacheParams {
    pub(super) cache_size: u64,
}

/// The C type `request_t`: a request for an object of the cache.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Request {
    pub(super) obj_id: u64,
    pub(super) obj_size: u64,
}

pub(super) type Init = unsafe extern "C" fn(CacheParams) -> *mut c_void;
pub(super) type Resize = unsafe extern "C" fn(*mut c_void, u64);
pub(super) type Use = unsafe extern "C" fn(*mut c_void, *const Request);
pub(super) type Evict = unsafe extern "C" fn(*mut c_void, *const Request) -> u64;
pub(super) type Remove = unsafe extern "C" fn(*mut c_void, u64);
pub(super) type Free = unsafe extern "C" fn(*mut c_void);

/// The C type `lsmbench_cache_api`: the hooks that a cache library exports.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct CacheApi {
    pub(super) abi: u32,
    pub(super) name: *const c_char,
    pub(super) init: Option<Init>,
    pub(super) resize: Option<Resize>,
    pub(super) hit: Option<Use>,
    pub(super) miss: Option<Use>,
    pub(super) evict: Option<Evict>,
    pub(super) remove: Option<Remove>,
    pub(super) free: Option<Free>,
}

// SAFETY: the type is `repr(C)` and begins with the version of the ABI. Any bit pattern is valid, because functions
// are `Option`s.
unsafe impl FunctionTable for CacheApi {}

/// The hooks of a cache library. A library must have all hooks except `resize`.
pub(super) struct Hooks {
    name: String,
    init: Init,
    resize: Option<Resize>,
    hit: Use,
    miss: Use,
    evict: Evict,
    remove: Remove,
    free: Free,
    /// The loaded library. While this value exists, the functions of the library stay mapped.
    _provider: Provider,
}

impl Hooks {
    /// Checks the table of hooks that a library provides.
    ///
    /// # Errors
    /// Returns an error if the name is not printable, or if a hook is missing.
    pub(super) fn checked(api: CacheApi, provider: Provider) -> Result<Self, String> {
        Ok(Self {
            // SAFETY: the header requires the name to be a zero-terminated text that lives as long as the library.
            name: unsafe { provider.name(api.name) }?,
            init: provider.require(api.init, "cache_init_hook")?,
            resize: api.resize,
            hit: provider.require(api.hit, "cache_hit_hook")?,
            miss: provider.require(api.miss, "cache_miss_hook")?,
            evict: provider.require(api.evict, "cache_eviction_hook")?,
            remove: provider.require(api.remove, "cache_remove_hook")?,
            free: provider.require(api.free, "cache_free_hook")?,
            _provider: provider,
        })
    }
}

/// The data that a library keeps for one shard. Dropping this value frees the data.
pub(super) struct Plugin {
    hooks: Hooks,
    data: NonNull<c_void>,
}

// SAFETY: the header requires that a library allows calls with the same data from different threads, one after the
// other. The lock of the shard orders the calls, and the type is not `Sync`.
unsafe impl Send for Plugin {}

impl Plugin {
    /// Creates the library's data for an empty shard.
    ///
    /// # Errors
    /// Returns an error if the library has no memory for the data.
    pub(super) fn new(hooks: Hooks) -> Result<Self, String> {
        // SAFETY: the hook takes a plain struct.
        let data = unsafe { (hooks.init)(CacheParams { cache_size: 0 }) };
        let Some(data) = NonNull::new(data) else {
            return Err(format!(
                "library \"{}\": its cache_init_hook returned NULL, so the library could not allocate memory",
                hooks.name
            ));
        };
        Ok(Self { hooks, data })
    }

    pub(super) fn name(&self) -> &str {
        &self.hooks.name
    }

    pub(super) fn resize(&mut self, bytes: u64) {
        if let Some(resize) = self.hooks.resize {
            // SAFETY: the data belongs to the library, and is freed only when this value is dropped.
            unsafe { resize(self.data.as_ptr(), bytes) }
        }
    }

    #[inline]
    pub(super) fn hit(&mut self, object: u64, size: u64) {
        let request = Request { obj_id: object, obj_size: size };
        // SAFETY: the data is valid until this value is dropped, and the request lives during the call.
        unsafe { (self.hooks.hit)(self.data.as_ptr(), &raw const request) }
    }

    #[inline]
    pub(super) fn miss(&mut self, object: u64, size: u64) {
        let request = Request { obj_id: object, obj_size: size };
        // SAFETY: the data is valid until this value is dropped, and the request lives during the call.
        unsafe { (self.hooks.miss)(self.data.as_ptr(), &raw const request) }
    }

    /// Returns the id of the object that the library selects for eviction. `incoming` is the id and the size of the
    /// requested object, if there is one.
    #[inline]
    pub(super) fn evict(&mut self, incoming: Option<(u64, u64)>) -> u64 {
        let request = incoming.map(|(obj_id, obj_size)| Request { obj_id, obj_size });
        let request = request.as_ref().map_or(null(), std::ptr::from_ref);
        // SAFETY: the data is valid until this value is dropped. The request lives during the call, or is NULL.
        unsafe { (self.hooks.evict)(self.data.as_ptr(), request) }
    }

    pub(super) fn remove(&mut self, object: u64) {
        // SAFETY: the data is valid until this value is dropped.
        unsafe { (self.hooks.remove)(self.data.as_ptr(), object) }
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        // SAFETY: the data belongs to the library, and nothing else uses it any more.
        unsafe { (self.hooks.free)(self.data.as_ptr()) }
    }
}
