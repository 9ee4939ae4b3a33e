//! The filter `standard`, exported through the C ABI. A measurement of this filter shows the cost of the C ABI,
//! because all other costs are the costs of `standard`.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::slice::{from_raw_parts, from_raw_parts_mut};

use catalog::library::{DAMAGED, NO_SPACE, OK};
use types::KeyHash;

use super::table::{ABI, FilterApi};
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::standard::{Standard, StandardFilter};

/// The function table of the C ABI whose functions call the filter `standard`.
pub(super) const API: FilterApi = FilterApi {
    abi: ABI,
    name: c"standard".as_ptr(),
    max_bytes: Some(max_bytes),
    build: Some(build),
    open: Some(open),
    may_contain: Some(may_contain),
    may_contain_batch: Some(may_contain_batch),
    expected_fpr: Some(expected_fpr),
    memory_bytes: Some(memory_bytes),
    close: Some(close),
};

unsafe extern "C" fn max_bytes(keys: usize, bits_per_key: f64) -> usize {
    Standard::with_bits(bits_per_key).map_or(0, |policy| policy.stored_bytes(keys))
}

unsafe extern "C" fn build(
    hashes: *const u64,
    keys: usize,
    bits_per_key: f64,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> i32 {
    // SAFETY: by the ABI `hashes` points to `keys` numbers, and a `KeyHash` is a `u64`.
    let hashes: &[KeyHash] = unsafe { from_raw_parts(hashes.cast(), keys) };
    let Ok(policy) = Standard::with_bits(bits_per_key) else { return DAMAGED };
    let stored = policy.build(&FilterInput { hashes, bits_per_key: None, keys: None });
    if stored.len() > capacity {
        return NO_SPACE;
    }
    // SAFETY: by the ABI `out` points to `capacity` bytes that this function may write during the call. `written`
    // points to a number.
    unsafe {
        from_raw_parts_mut(out, stored.len()).copy_from_slice(&stored);
        written.write(stored.len());
    }
    OK
}

unsafe extern "C" fn open(bytes: *const u8, length: usize, filter: *mut *mut c_void) -> i32 {
    // SAFETY: by the ABI `bytes` points to `length` bytes.
    let bytes = unsafe { from_raw_parts(bytes, length) };
    let Ok(opened) = StandardFilter::open(bytes) else { return DAMAGED };
    // SAFETY: by the ABI `filter` points to space for a handle.
    unsafe { filter.write(Box::into_raw(Box::new(opened)).cast()) };
    OK
}

/// Returns the filter to which a handle of the C ABI points.
///
/// # Safety
/// The handle comes from [`open`], and is not closed while the reference is in use.
unsafe fn behind<'a>(filter: *const c_void) -> &'a StandardFilter {
    // SAFETY: the caller guarantees that the handle is open.
    unsafe { &*filter.cast() }
}

unsafe extern "C" fn may_contain(filter: *const c_void, hash: u64) -> i32 {
    // SAFETY: by the ABI the handle is open.
    i32::from(unsafe { behind(filter) }.may_contain(KeyHash(hash)))
}

unsafe extern "C" fn may_contain_batch(
    filter: *const c_void,
    hashes: *const u64,
    count: usize,
    answers: *mut u8,
) {
    // SAFETY: by the ABI the handle is open, `hashes` points to `count` numbers, and `answers` points to space for
    // `count` bytes. A `KeyHash` is a `u64`. The bytes are first set to 0, which is a valid `bool`.
    let (filter, hashes, answers): (_, &[KeyHash], &mut [bool]) = unsafe {
        answers.write_bytes(0, count);
        (behind(filter), from_raw_parts(hashes.cast(), count), from_raw_parts_mut(answers.cast(), count))
    };
    filter.may_contain_batch(hashes, answers);
}

unsafe extern "C" fn expected_fpr(filter: *const c_void) -> f64 {
    // SAFETY: by the ABI the handle is open.
    unsafe { behind(filter) }.expected_fpr()
}

unsafe extern "C" fn memory_bytes(filter: *const c_void) -> usize {
    // SAFETY: by the ABI the handle is open.
    unsafe { behind(filter) }.memory_bytes()
}

unsafe extern "C" fn close(filter: *mut c_void) {
    // SAFETY: `open` created the handle from a box, and by the ABI the caller closes each handle once.
    drop(unsafe { Box::from_raw(filter.cast::<StandardFilter>()) });
}
