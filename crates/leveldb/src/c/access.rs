//! Exported functions that read and write an open store.
#![allow(unsafe_code)]

use std::ffi::c_char;
use std::ptr::null_mut;

use super::batch::leveldb_writebatch_t;
use super::call_options::{leveldb_readoptions_t, leveldb_writeoptions_t};
use super::memory::{bytes, copy_of_bytes};
use super::seam::{object, report};
use super::store::leveldb_t;

/// Sets the value of a key. With the option `sync`, the write is durable when the call returns.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_put(
    db: *mut leveldb_t,
    options: *const leveldb_writeoptions_t,
    key: *const c_char,
    keylen: usize,
    val: *const c_char,
    vallen: usize,
    errptr: *mut *mut c_char,
) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe {
        report(errptr, (), || {
            let (store, options) = (object(db, "db")?, object(options, "options")?);
            store.0.put(bytes(key, keylen)?, bytes(val, vallen)?, options.sync)
        });
    }
}

/// Deletes a key. With the option `sync`, the write is durable when the call returns.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_delete(
    db: *mut leveldb_t,
    options: *const leveldb_writeoptions_t,
    key: *const c_char,
    keylen: usize,
    errptr: *mut *mut c_char,
) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe {
        report(errptr, (), || {
            let (store, options) = (object(db, "db")?, object(options, "options")?);
            store.0.delete(bytes(key, keylen)?, options.sync)
        });
    }
}

/// Applies all operations of a batch atomically. With the option `sync`, the batch is durable when the call returns.
/// Also reports the error of an operation that could not be added to the batch.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_write(
    db: *mut leveldb_t,
    options: *const leveldb_writeoptions_t,
    batch: *mut leveldb_writebatch_t,
    errptr: *mut *mut c_char,
) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe {
        report(errptr, (), || {
            let (store, options) = (object(db, "db")?, object(options, "options")?);
            store.0.write(object(batch, "batch")?.operations()?, options.sync)
        });
    }
}

/// Returns a copy of the value of a key, and sets `*vallen` to its length in bytes. Returns null if the key is absent,
/// and after an error.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_get(
    db: *mut leveldb_t,
    options: *const leveldb_readoptions_t,
    key: *const c_char,
    keylen: usize,
    vallen: *mut usize,
    errptr: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe {
        let value = report(errptr, None, || {
            let (store, options) = (object(db, "db")?, object(options, "options")?);
            store.0.get(options.snapshot(), bytes(key, keylen)?)
        });
        if let Some(vallen) = vallen.as_mut() {
            *vallen = value.as_ref().map_or(0, Vec::len);
        }
        value.map_or(null_mut(), |value| copy_of_bytes(&value))
    }
}
