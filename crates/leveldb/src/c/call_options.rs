//! Exported functions for the options of a read or a write.
#![allow(unsafe_code, non_camel_case_types)]

use std::ptr::null;

use tree::Snapshot;

use super::memory::{from_handle, into_handle};
use super::snapshot::leveldb_snapshot_t;

/// The options of a read.
pub struct leveldb_readoptions_t {
    /// The snapshot that the read uses. Null for the current state of the store.
    snapshot: *const leveldb_snapshot_t,
}

impl leveldb_readoptions_t {
    /// Returns the snapshot that the read uses. Returns `None` for the current state of the store.
    ///
    /// # Safety
    /// The snapshot must not be released while the reference is alive.
    pub(super) unsafe fn snapshot(&self) -> Option<&Snapshot> {
        // SAFETY: The caller guarantees it.
        unsafe { self.snapshot.as_ref() }.map(|snapshot| &snapshot.0)
    }
}

/// The options of a write.
#[derive(Default)]
pub struct leveldb_writeoptions_t {
    /// Whether the write must be durable before it returns.
    pub(super) sync: bool,
}

/// Creates options for reads of the current state.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_readoptions_create() -> *mut leveldb_readoptions_t {
    into_handle(leveldb_readoptions_t { snapshot: null() })
}

/// Destroys the options of a read.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_readoptions_destroy(options: *mut leveldb_readoptions_t) {
    // SAFETY: The caller keeps the rules of the interface.
    drop(unsafe { from_handle(options) });
}

/// Has no effect, because the design decides which reads verify checksums.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_readoptions_set_verify_checksums(_: *mut leveldb_readoptions_t, _: u8) {}

/// Has no effect, because the cache variant of the design decides which blocks the cache keeps.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_readoptions_set_fill_cache(_: *mut leveldb_readoptions_t, _: u8) {}

/// Sets the snapshot that reads use. Null selects the current state of the store.
///
/// # Safety
/// See [the rules of the interface](crate#safety). After the snapshot is released, no read may use the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_readoptions_set_snapshot(
    options: *mut leveldb_readoptions_t,
    snapshot: *const leveldb_snapshot_t,
) {
    // SAFETY: The caller keeps the rules of the interface.
    if let Some(options) = unsafe { options.as_mut() } {
        options.snapshot = snapshot;
    }
}

/// Creates the options of a write. At first, the WAL mode of the design determines whether the write is synced.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_writeoptions_create() -> *mut leveldb_writeoptions_t {
    into_handle(leveldb_writeoptions_t::default())
}

/// Destroys the options of a write.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_writeoptions_destroy(options: *mut leveldb_writeoptions_t) {
    // SAFETY: The caller keeps the rules of the interface.
    drop(unsafe { from_handle(options) });
}

/// Sets whether a write must be durable before it returns, regardless of the WAL mode.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_writeoptions_set_sync(options: *mut leveldb_writeoptions_t, value: u8) {
    // SAFETY: The caller keeps the rules of the interface.
    if let Some(options) = unsafe { options.as_mut() } {
        options.sync = value != 0;
    }
}
