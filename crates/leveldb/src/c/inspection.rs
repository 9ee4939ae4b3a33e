//! Exported functions that return properties and sizes of a store, or compact a key range.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::ptr::null_mut;

use super::memory::{bytes, copy_of_text};
use super::seam::{contain, object, report};
use super::store::leveldb_t;

/// Returns the value of a property as text. Returns null if the property does not exist.
///
/// The properties are `leveldb.num-files-at-level<N>`, `leveldb.stats`, `leveldb.sstables` and
/// `leveldb.approximate-memory-usage`. The property `lsmbench.design` is the design of the store as TOML.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_property_value(db: *mut leveldb_t, propname: *const c_char) -> *mut c_char {
    contain(null_mut(), || {
        if propname.is_null() {
            return null_mut();
        }
        // SAFETY: The caller keeps the rules of the interface.
        let (store, name) = unsafe { (db.as_ref(), CStr::from_ptr(propname)) };
        let text = store.zip(name.to_str().ok()).and_then(|(store, name)| store.0.property(name));
        text.map_or(null_mut(), |text| copy_of_text(&text))
    })
}

/// Sets `sizes` to the approximate sizes of key ranges, in bytes. The sizes include recent writes. The size of a range
/// is 0 if one of its pointers is null, or if the store cannot be read.
///
/// # Safety
/// See [the rules of the interface](crate#safety). Each of the arrays must have `num_ranges` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_approximate_sizes(
    db: *mut leveldb_t,
    num_ranges: c_int,
    range_start_key: *const *const c_char,
    range_start_key_len: *const usize,
    range_limit_key: *const *const c_char,
    range_limit_key_len: *const usize,
    sizes: *mut u64,
) {
    for range in 0..usize::try_from(num_ranges).unwrap_or(0) {
        let size = contain(0, || {
            // SAFETY: The caller keeps the rules of the interface, and the arrays have more than `range` elements.
            let size = unsafe {
                object(db, "db").and_then(|store| {
                    let low = bytes(*range_start_key.add(range), *range_start_key_len.add(range))?;
                    let high = bytes(*range_limit_key.add(range), *range_limit_key_len.add(range))?;
                    store.0.approximate_bytes(low, high)
                })
            };
            size.unwrap_or(0)
        });
        // SAFETY: The array has more than `range` elements.
        unsafe { sizes.add(range).write(size) };
    }
}

/// Flushes recent writes, and compacts the SSTables from `start_key` to `limit_key` (both inclusive). A null pointer
/// means no bound. This function cannot report an error. If it fails, the next write reports the error.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_compact_range(
    db: *mut leveldb_t,
    start_key: *const c_char,
    start_key_len: usize,
    limit_key: *const c_char,
    limit_key_len: usize,
) {
    // SAFETY: The caller keeps the rules of the interface. A null pointer for the message is allowed.
    unsafe {
        report(null_mut(), (), || {
            let bound = |key: *const c_char, len| (!key.is_null()).then(|| bytes(key, len)).transpose();
            let (low, high) = (bound(start_key, start_key_len)?, bound(limit_key, limit_key_len)?);
            object(db, "db")?.0.compact_range(low, high)
        });
    }
}

/// Waits until no flush and no compaction is due. LevelDB does not have this function.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_settle(db: *mut leveldb_t, errptr: *mut *mut c_char) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe { report(errptr, (), || object(db, "db")?.0.settle()) };
}
