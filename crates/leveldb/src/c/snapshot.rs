//! Exported functions for snapshots.
#![allow(unsafe_code, non_camel_case_types)]

use std::ptr::null;

use tree::Snapshot;

use super::memory::{from_handle, into_handle};
use super::seam::contain;
use super::store::leveldb_t;

/// The handle of a snapshot of a store.
pub struct leveldb_snapshot_t(pub(super) Snapshot);

/// Takes a snapshot of the current state of a store. Returns null for a null store.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_create_snapshot(db: *mut leveldb_t) -> *const leveldb_snapshot_t {
    contain(null(), || {
        // SAFETY: The caller keeps the rules of the interface.
        let store = unsafe { db.as_ref() };
        store.map_or(null(), |store| into_handle(leveldb_snapshot_t(store.0.snapshot())).cast_const())
    })
}

/// Releases a snapshot.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_release_snapshot(_: *mut leveldb_t, snapshot: *const leveldb_snapshot_t) {
    // SAFETY: The caller keeps the rules of the interface.
    contain((), || drop(unsafe { from_handle(snapshot.cast_mut()) }));
}
