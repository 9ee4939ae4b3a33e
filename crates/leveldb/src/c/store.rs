//! Exported functions that open, close, remove and repair stores.
#![allow(unsafe_code, non_camel_case_types)]

use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

use super::memory::{from_handle, into_handle};
use super::options::leveldb_options_t;
use super::seam::{contain, null, object, report};
use crate::administration;
use crate::failure::Failure;
use crate::store::Store;

/// The handle of an open store.
pub struct leveldb_t(pub(super) Store);

/// Converts the name of a directory, as a C string, to a path.
///
/// # Safety
/// `name` is null, or a text that does not change while the path is alive.
unsafe fn directory<'a>(name: *const c_char) -> Result<&'a Path, Failure> {
    if name.is_null() {
        return Err(null("name"));
    }
    // SAFETY: The caller guarantees it.
    let name = unsafe { CStr::from_ptr(name) };
    Ok(Path::new(OsStr::from_bytes(name.to_bytes())))
}

/// Opens the store in the directory `name`. Returns null after an error.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_open(
    options: *const leveldb_options_t,
    name: *const c_char,
    errptr: *mut *mut c_char,
) -> *mut leveldb_t {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe {
        report(errptr, null_mut(), || {
            let options = object(options, "options")?;
            Ok(into_handle(leveldb_t(Store::open(&options.0, directory(name)?)?)))
        })
    }
}

/// Closes a store, and makes all its writes durable. This function cannot report an error.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_close(db: *mut leveldb_t) {
    contain((), || {
        // SAFETY: The caller keeps the rules of the interface.
        if let Some(store) = unsafe { from_handle(db) } {
            drop(store.0.close());
        }
    });
}

/// Removes the store in the directory `name`, and also the directory if it has no other files. Succeeds if the store
/// does not exist.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_destroy_db(
    options: *const leveldb_options_t,
    name: *const c_char,
    errptr: *mut *mut c_char,
) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe {
        report(errptr, (), || administration::destroy(&object(options, "options")?.0, directory(name)?));
    }
}

/// Moves the corrupt files of a store to its quarantine folder, so that the store can be opened again. The data in
/// these files is lost.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_repair_db(
    options: *const leveldb_options_t,
    name: *const c_char,
    errptr: *mut *mut c_char,
) {
    // SAFETY: The caller keeps the rules of the interface.
    unsafe {
        report(errptr, (), || administration::repair(&object(options, "options")?.0, directory(name)?));
    }
}
