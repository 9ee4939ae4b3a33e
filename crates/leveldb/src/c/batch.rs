//! Exported functions for write batches.
#![allow(unsafe_code, non_camel_case_types)]

use std::ffi::{c_char, c_void};

use tree::WriteBatch;

use super::memory::{bytes, from_handle, into_handle};
use super::seam::contain;
use crate::failure::Failure;

/// A function of the calling program that receives the key and the value of a put.
type PutVisitor = unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize);
/// A function of the calling program that receives the key of a delete.
type DeleteVisitor = unsafe extern "C" fn(*mut c_void, *const c_char, usize);

/// A write batch, with the error of the first operation that could not be added.
#[derive(Clone, Default)]
pub struct leveldb_writebatch_t {
    operations: WriteBatch,
    /// The error of the first operation that could not be added to the batch. The write of the batch reports it,
    /// because the functions that add operations cannot report errors.
    failure: Option<Failure>,
}

impl leveldb_writebatch_t {
    /// Returns the operations of the batch, or the error of the first operation that could not be added to it.
    pub(super) fn operations(&self) -> Result<&WriteBatch, Failure> {
        match &self.failure {
            None => Ok(&self.operations),
            Some(failure) => Err(failure.clone()),
        }
    }

    /// Changes the operations of the batch with `change`. If `change` fails, keeps its error, unless the batch already
    /// has an error.
    fn change(&mut self, change: impl FnOnce(&mut WriteBatch) -> Result<(), Failure>) {
        if let Err(failure) = change(&mut self.operations) {
            self.failure.get_or_insert(failure);
        }
    }
}

/// Calls `change` with the batch behind a handle. Does nothing for a null handle.
///
/// # Safety
/// The handle is null or valid, and no other code uses the batch during the call.
unsafe fn change(
    batch: *mut leveldb_writebatch_t,
    change: impl FnOnce(&mut WriteBatch) -> Result<(), Failure>,
) {
    contain((), || {
        // SAFETY: The caller guarantees it.
        if let Some(batch) = unsafe { batch.as_mut() } {
            batch.change(change);
        }
    });
}

/// Creates an empty batch.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_writebatch_create() -> *mut leveldb_writebatch_t {
    into_handle(leveldb_writebatch_t::default())
}

/// Destroys a batch.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_writebatch_destroy(batch: *mut leveldb_writebatch_t) {
    // SAFETY: The caller keeps the rules of the interface.
    contain((), || drop(unsafe { from_handle(batch) }));
}

/// Removes all operations from a batch.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_writebatch_clear(batch: *mut leveldb_writebatch_t) {
    contain((), || {
        // SAFETY: The caller keeps the rules of the interface.
        if let Some(batch) = unsafe { batch.as_mut() } {
            batch.operations.clear();
            batch.failure = None;
        }
    });
}

/// Adds a put to a batch. If this fails, [`leveldb_write`](super::leveldb_write) reports the error.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_writebatch_put(
    batch: *mut leveldb_writebatch_t,
    key: *const c_char,
    klen: usize,
    val: *const c_char,
    vlen: usize,
) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe {
        change(batch, |operations| Ok(operations.put(bytes(key, klen)?, bytes(val, vlen)?)?));
    }
}

/// Adds a delete to a batch. If this fails, [`leveldb_write`](super::leveldb_write) reports the error.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_writebatch_delete(
    batch: *mut leveldb_writebatch_t,
    key: *const c_char,
    klen: usize,
) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe { change(batch, |operations| Ok(operations.delete(bytes(key, klen)?)?)) };
}

/// Calls `put` or `deleted` for each operation of a batch, in the order of the operations.
///
/// # Safety
/// See [the rules of the interface](crate#safety). The functions do not change the batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_writebatch_iterate(
    batch: *const leveldb_writebatch_t,
    state: *mut c_void,
    put: Option<PutVisitor>,
    deleted: Option<DeleteVisitor>,
) {
    // SAFETY: The caller keeps the rules of the interface.
    let Some(batch) = (unsafe { batch.as_ref() }) else { return };
    for entry in batch.operations.entries() {
        let (key, klen) = (entry.key.as_ptr().cast(), entry.key.len());
        match (entry.value, put, deleted) {
            // SAFETY: The function is from the program, and the key and the value are alive during its call.
            (Some(value), Some(put), _) => unsafe {
                put(state, key, klen, value.as_ptr().cast(), value.len());
            },
            // SAFETY: As above.
            (None, _, Some(deleted)) => unsafe { deleted(state, key, klen) },
            _ => {}
        }
    }
}

/// Adds all operations of `source` to `destination`. Both arguments may be the same batch.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_writebatch_append(
    destination: *mut leveldb_writebatch_t,
    source: *const leveldb_writebatch_t,
) {
    contain((), || {
        // A batch may be appended to itself, so the source is copied before the destination is borrowed.
        // SAFETY: The caller keeps the rules of the interface.
        let Some(source) = (unsafe { source.as_ref() }).cloned() else { return };
        // SAFETY: As above. No reference to the source remains.
        unsafe { change(destination, |operations| Ok(operations.append(source.operations()?)?)) };
    });
}
