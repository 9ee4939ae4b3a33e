//! Exported functions for the options of a store.
#![allow(unsafe_code, non_camel_case_types)]

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::cache::leveldb_cache_t;
use super::comparator::leveldb_comparator_t;
use super::env::leveldb_env_t;
use super::filter_policy::leveldb_filterpolicy_t;
use super::memory::{from_handle, into_handle};
use crate::key_order::KeyOrder;
use crate::settings::{FilterChoice, Settings};

/// The handle of the options with which a store is opened.
#[derive(Default)]
pub struct leveldb_options_t(pub(super) Settings);

/// Creates the options of a store. At first, they change nothing in the design of the store.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_options_create() -> *mut leveldb_options_t {
    into_handle(leveldb_options_t::default())
}

/// Destroys options.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_options_destroy(options: *mut leveldb_options_t) {
    // SAFETY: The caller keeps the rules of the interface.
    drop(unsafe { from_handle(options) });
}

/// Declares exported functions that each set one option of a store.
macro_rules! setters {
    ($($(#[doc = $doc:literal])+ fn $name:ident($value:ident: $type:ty) { $field:ident = $new:expr })+) => {$(
        $(#[doc = $doc])+
        ///
        /// # Safety
        /// See [the rules of the interface](crate#safety).
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(options: *mut leveldb_options_t, $value: $type) {
            // SAFETY: The caller keeps the rules of the interface.
            if let Some(options) = unsafe { options.as_mut() } {
                options.0.$field = $new;
            }
        }
    )+};
}

setters! {
    /// Sets whether opening a missing store creates it. The default is 0.
    fn leveldb_options_set_create_if_missing(value: u8) { create_if_missing = value != 0 }
    /// Sets whether opening an existing store fails. The default is 0.
    fn leveldb_options_set_error_if_exists(value: u8) { error_if_exists = value != 0 }
    /// Sets the key `block.verify` of the design: `"always"` if the value is not 0, otherwise `"once"`.
    fn leveldb_options_set_paranoid_checks(value: u8) { paranoid_checks = Some(value != 0) }
    /// Sets the key `memtable.capacity` of the design to a size in bytes.
    fn leveldb_options_set_write_buffer_size(bytes: usize) { write_buffer_size = Some(bytes) }
    /// Sets the key `block.size` of the design to a size in bytes.
    fn leveldb_options_set_block_size(bytes: usize) { block_size = Some(bytes) }
    /// Sets the key `block.restart_interval` of the design, a number of keys.
    fn leveldb_options_set_block_restart_interval(entries: c_int) { block_restart_interval = Some(entries) }
    /// Sets the key `table.capacity` of the design to a size in bytes.
    fn leveldb_options_set_max_file_size(bytes: usize) { max_file_size = Some(bytes) }
    /// Sets the key `compression` of the design: 0 for none, 1 for Snappy, 2 for Zstandard.
    fn leveldb_options_set_compression(number: c_int) { compression = Some(number) }
}

/// Sets the comparator of keys. Null selects the order of bytes. A tree orders keys by their bytes, so calls fail if
/// the comparator orders their keys differently.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_options_set_comparator(
    options: *mut leveldb_options_t,
    comparator: *mut leveldb_comparator_t,
) {
    // SAFETY: The caller keeps the rules of the interface.
    let (options, comparator) = unsafe { (options.as_mut(), comparator.as_ref()) };
    if let Some(options) = options {
        options.0.comparator = comparator.map(|comparator| Arc::clone(&comparator.0) as Arc<dyn KeyOrder>);
    }
}

/// Sets the filter policy. Null selects no filter. Without a call of this function, the store uses the filter of its
/// design.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_options_set_filter_policy(
    options: *mut leveldb_options_t,
    policy: *mut leveldb_filterpolicy_t,
) {
    // SAFETY: The caller keeps the rules of the interface.
    let (options, policy) = unsafe { (options.as_mut(), policy.as_ref()) };
    if let Some(options) = options {
        options.0.filter = Some(policy.map_or(FilterChoice::None, |policy| policy.choice));
    }
}

/// Sets the block cache. Null selects the cache of the design.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_options_set_cache(
    options: *mut leveldb_options_t,
    cache: *mut leveldb_cache_t,
) {
    // SAFETY: The caller keeps the rules of the interface.
    let (options, cache) = unsafe { (options.as_mut(), cache.as_ref()) };
    if let Some(options) = options {
        options.0.cache = cache.map(|cache| Arc::clone(&cache.0));
    }
}

/// Has no effect, because the design determines how files are accessed.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_options_set_env(_: *mut leveldb_options_t, _: *mut leveldb_env_t) {}

/// Has no effect, because a tree writes no log messages.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_options_set_info_log(_: *mut leveldb_options_t, _: *mut c_void) {}

/// Has no effect, because a tree keeps all its SSTables open.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_options_set_max_open_files(_: *mut leveldb_options_t, _: c_int) {}
