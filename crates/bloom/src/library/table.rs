//! The table of function pointers that `lsmbench_filter.h` defines, and safe wrappers of these functions.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::os::raw::c_char;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

use catalog::library::{DAMAGED, FunctionTable, NO_SPACE, OK, Provider};
use types::KeyHash;

/// The version of the C ABI for filters (`lsmbench_filter.h`).
pub(super) const ABI: u32 = 1;

/// The largest size of a filter from a shared library: this number of bytes per key, plus `MAX_MORE_BYTES` bytes. A
/// larger filter counts as an error of the library.
const MAX_BYTES_PER_KEY: usize = 1024;
/// The bytes that a filter from a shared library may take in addition to `MAX_BYTES_PER_KEY` bytes per key.
const MAX_MORE_BYTES: usize = 1 << 20;

pub(super) type MaxBytes = unsafe extern "C" fn(usize, f64) -> usize;
pub(super) type BuildFilter = unsafe extern "C" fn(*const u64, usize, f64, *mut u8, usize, *mut usize) -> i32;
pub(super) type Open = unsafe extern "C" fn(*const u8, usize, *mut *mut c_void) -> i32;
pub(super) type MayContain = unsafe extern "C" fn(*const c_void, u64) -> i32;
pub(super) type MayContainBatch = unsafe extern "C" fn(*const c_void, *const u64, usize, *mut u8);
pub(super) type ExpectedFpr = unsafe extern "C" fn(*const c_void) -> f64;
pub(super) type MemoryBytes = unsafe extern "C" fn(*const c_void) -> usize;
pub(super) type Close = unsafe extern "C" fn(*mut c_void);

/// The C struct `lsmbench_filter_api`: the functions that a shared library exports for its filters.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct FilterApi {
    pub(super) abi: u32,
    pub(super) name: *const c_char,
    pub(super) max_bytes: Option<MaxBytes>,
    pub(super) build: Option<BuildFilter>,
    pub(super) open: Option<Open>,
    pub(super) may_contain: Option<MayContain>,
    pub(super) may_contain_batch: Option<MayContainBatch>,
    pub(super) expected_fpr: Option<ExpectedFpr>,
    pub(super) memory_bytes: Option<MemoryBytes>,
    pub(super) close: Option<Close>,
}

// SAFETY: the struct is `repr(C)` and begins with the ABI version. Any bit pattern is valid, because the functions
// are `Option`s.
unsafe impl FunctionTable for FilterApi {}

/// The functions of a shared library for filters, after the check that no required function is missing.
pub(super) struct Functions {
    /// The name of the library, which identifies its stored format.
    pub(super) name: String,
    max_bytes: MaxBytes,
    build: BuildFilter,
    open: Open,
    may_contain: MayContain,
    may_contain_batch: MayContainBatch,
    expected_fpr: ExpectedFpr,
    memory_bytes: MemoryBytes,
    close: Close,
    /// The loaded library. While this value exists, the function pointers stay valid.
    _provider: Provider,
}

impl Functions {
    /// Checks the function table that a shared library returned.
    ///
    /// # Errors
    /// Returns an error if the name is not printable, or if a function is missing.
    pub(super) fn checked(api: FilterApi, provider: Provider) -> Result<Self, String> {
        Ok(Self {
            // SAFETY: the C header requires a zero-terminated text that lives as long as the library.
            name: unsafe { provider.name(api.name) }?,
            max_bytes: provider.require(api.max_bytes, "max_bytes")?,
            build: provider.require(api.build, "build")?,
            open: provider.require(api.open, "open")?,
            may_contain: provider.require(api.may_contain, "may_contain")?,
            may_contain_batch: provider.require(api.may_contain_batch, "may_contain_batch")?,
            expected_fpr: provider.require(api.expected_fpr, "expected_fpr")?,
            memory_bytes: provider.require(api.memory_bytes, "memory_bytes")?,
            close: provider.require(api.close, "close")?,
            _provider: provider,
        })
    }

    /// Builds a filter from the hashes of keys by a function of the shared library, and returns the bytes of the
    /// filter.
    ///
    /// # Errors
    /// Returns the error number of the library.
    pub(super) fn build(&self, hashes: &[KeyHash], bits_per_key: f64) -> Result<Vec<u8>, i32> {
        // SAFETY: the function takes two numbers.
        let most = unsafe { (self.max_bytes)(hashes.len(), bits_per_key) };
        let bound = hashes.len().saturating_mul(MAX_BYTES_PER_KEY).saturating_add(MAX_MORE_BYTES);
        if most > bound {
            return Err(NO_SPACE);
        }
        let (mut body, mut written) = (vec![0; most], 0);
        // SAFETY: both buffers live during the call and have the passed lengths. A `KeyHash` is a `u64`.
        let code = unsafe {
            (self.build)(
                hashes.as_ptr().cast(),
                hashes.len(),
                bits_per_key,
                body.as_mut_ptr(),
                body.len(),
                &raw mut written,
            )
        };
        match code {
            OK if written <= most => {
                body.truncate(written);
                Ok(body)
            }
            OK => Err(NO_SPACE),
            error => Err(error),
        }
    }
}

/// A filter that a shared library opened. Dropping the value closes the filter.
pub(super) struct OpenFilter {
    functions: Arc<Functions>,
    handle: NonNull<c_void>,
}

// SAFETY: the C header requires that any thread may call any function on an open filter.
unsafe impl Send for OpenFilter {}
// SAFETY: the C header requires that threads may call functions on an open filter concurrently.
unsafe impl Sync for OpenFilter {}

impl OpenFilter {
    /// Opens a filter of the shared library from its stored bytes.
    ///
    /// # Errors
    /// Returns the error number of the library.
    pub(super) fn open(functions: Arc<Functions>, bytes: &[u8]) -> Result<Self, i32> {
        let mut handle = null_mut();
        // SAFETY: the buffer lives during the call and has the passed length.
        let code = unsafe { (functions.open)(bytes.as_ptr(), bytes.len(), &raw mut handle) };
        match (code, NonNull::new(handle)) {
            (OK, Some(handle)) => Ok(Self { functions, handle }),
            (OK, None) => Err(DAMAGED),
            (error, _) => Err(error),
        }
    }

    #[inline]
    pub(super) fn may_contain(&self, hash: u64) -> bool {
        // SAFETY: the library opened the handle, and only `drop` closes the handle.
        unsafe { (self.functions.may_contain)(self.handle.as_ptr(), hash) != 0 }
    }

    /// Answers a batch of probes: `answers[i]` gets the answer for `hashes[i]`.
    #[inline]
    pub(super) fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [u8]) {
        let count = hashes.len().min(answers.len());
        // SAFETY: the handle is open, and both buffers have at least `count` items.
        unsafe {
            (self.functions.may_contain_batch)(
                self.handle.as_ptr(),
                hashes.as_ptr().cast(),
                count,
                answers.as_mut_ptr(),
            );
        }
    }

    pub(super) fn expected_fpr(&self) -> f64 {
        // SAFETY: the handle is open.
        unsafe { (self.functions.expected_fpr)(self.handle.as_ptr()) }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        // SAFETY: the handle is open.
        unsafe { (self.functions.memory_bytes)(self.handle.as_ptr()) }
    }
}

impl Drop for OpenFilter {
    fn drop(&mut self) {
        // SAFETY: the library opened the handle, and no other code uses the handle.
        unsafe { (self.functions.close)(self.handle.as_ptr()) }
    }
}
