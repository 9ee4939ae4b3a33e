//! Exported functions for iterators.
#![allow(unsafe_code, non_camel_case_types)]

use std::ffi::c_char;
use std::ptr::{null, null_mut};

use types::Direction;

use super::call_options::leveldb_readoptions_t;
use super::memory::{bytes, from_handle, into_handle};
use super::seam::{contain, object, report};
use super::store::leveldb_t;
use crate::cursor::Cursor;

/// An iterator over a snapshot of a store.
pub struct leveldb_iterator_t(Cursor);

/// Calls `change` with the cursor of an iterator. Does nothing for a null handle.
///
/// # Safety
/// The handle is null or valid, and no other code uses the iterator during the call.
unsafe fn with_cursor(iterator: *mut leveldb_iterator_t, change: impl FnOnce(&mut Cursor)) {
    contain((), || {
        // SAFETY: The caller guarantees it.
        if let Some(iterator) = unsafe { iterator.as_mut() } {
            change(&mut iterator.0);
        }
    });
}

/// Returns a pointer to the part of the iterator's current entry that `part` selects: its key or its value. Sets `*len`
/// to the length of this part in bytes. Returns null without a current entry.
///
/// # Safety
/// The handle and the length are null or valid.
unsafe fn part(
    iterator: *const leveldb_iterator_t,
    len: *mut usize,
    part: impl for<'e> FnOnce((&'e [u8], &'e [u8])) -> &'e [u8],
) -> *const c_char {
    // SAFETY: The caller guarantees it.
    let (iterator, len) = unsafe { (iterator.as_ref(), len.as_mut()) };
    let found = iterator.and_then(|iterator| iterator.0.entry()).map(part);
    if let Some(len) = len {
        *len = found.map_or(0, <[u8]>::len);
    }
    found.map_or(null(), |part| part.as_ptr().cast())
}

/// Creates an iterator over the current state of a store, or over the snapshot in `options`. The iterator starts
/// without a current entry. Returns null if an argument is null.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_create_iterator(
    db: *mut leveldb_t,
    options: *const leveldb_readoptions_t,
) -> *mut leveldb_iterator_t {
    // SAFETY: The caller keeps the rules of the interface. A null pointer for the message is allowed.
    unsafe {
        report(null_mut(), null_mut(), || {
            let (store, options) = (object(db, "db")?, object(options, "options")?);
            Ok(into_handle(leveldb_iterator_t(store.0.cursor(options.snapshot()))))
        })
    }
}

/// Destroys an iterator.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_iter_destroy(iterator: *mut leveldb_iterator_t) {
    // SAFETY: The caller keeps the rules of the interface.
    contain((), || drop(unsafe { from_handle(iterator) }));
}

/// Returns 1 if the iterator has a current entry, and 0 otherwise.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_iter_valid(iterator: *const leveldb_iterator_t) -> u8 {
    // SAFETY: The caller keeps the rules of the interface.
    u8::from(unsafe { iterator.as_ref() }.is_some_and(|iterator| iterator.0.entry().is_some()))
}

/// Moves the iterator to the first entry. In an empty store, it has no current entry.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_iter_seek_to_first(iterator: *mut leveldb_iterator_t) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe { with_cursor(iterator, Cursor::seek_to_first) };
}

/// Moves the iterator to the last entry. In an empty store, it has no current entry.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_iter_seek_to_last(iterator: *mut leveldb_iterator_t) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe { with_cursor(iterator, Cursor::seek_to_last) };
}

/// Moves the iterator to the first entry whose key is at least `key`. If there is none, it has no current entry.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_iter_seek(
    iterator: *mut leveldb_iterator_t,
    key: *const c_char,
    klen: usize,
) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe {
        with_cursor(iterator, |cursor| match bytes(key, klen) {
            Ok(key) => cursor.seek(key),
            Err(failure) => cursor.fail(failure),
        });
    }
}

/// Moves the iterator to the next entry. After the last entry, it has no current entry.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_iter_next(iterator: *mut leveldb_iterator_t) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe { with_cursor(iterator, |cursor| cursor.step(Direction::Forward)) };
}

/// Moves the iterator to the previous entry. Before the first entry, it has no current entry.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_iter_prev(iterator: *mut leveldb_iterator_t) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe { with_cursor(iterator, |cursor| cursor.step(Direction::Backward)) };
}

/// Returns the key of the current entry, which is valid until the iterator moves. Sets `*klen` to the length of the
/// key in bytes.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_iter_key(
    iterator: *const leveldb_iterator_t,
    klen: *mut usize,
) -> *const c_char {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe { part(iterator, klen, |(key, _)| key) }
}

/// Returns the value of the current entry, which is valid until the iterator moves. Sets `*vlen` to the length of the
/// value in bytes.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_iter_value(
    iterator: *const leveldb_iterator_t,
    vlen: *mut usize,
) -> *const c_char {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe { part(iterator, vlen, |(_, value)| value) }
}

/// Reports the first error that occurred since the last seek.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_iter_get_error(
    iterator: *const leveldb_iterator_t,
    errptr: *mut *mut c_char,
) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe { report(errptr, (), || object(iterator, "iterator")?.0.status()) };
}
