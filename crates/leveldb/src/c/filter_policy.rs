//! Exported functions for filter policies.
#![allow(unsafe_code, non_camel_case_types)]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use super::comparator::{Destructor, Name};
use super::memory::{from_handle, into_handle};
use crate::settings::FilterChoice;

/// A function of the calling program that creates a filter for keys.
type CreateFilter =
    unsafe extern "C" fn(*mut c_void, *const *const c_char, *const usize, c_int, *mut usize) -> *mut c_char;
/// A function of the calling program that returns whether a filter may contain a key.
type KeyMayMatch = unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize) -> u8;

/// The handle of a filter policy, which selects the filter of a store.
pub struct leveldb_filterpolicy_t {
    pub(super) choice: FilterChoice,
    state: *mut c_void,
    destructor: Option<Destructor>,
}

impl Drop for leveldb_filterpolicy_t {
    fn drop(&mut self) {
        if let Some(destructor) = self.destructor {
            // SAFETY: The function is from the program, and no other code uses the state any more.
            unsafe { destructor(self.state) };
        }
    }
}

/// Creates a filter policy from functions of a program. A store with such a policy uses the filter of its design, and
/// never calls these functions, because a tree passes hashes instead of keys to filters.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_filterpolicy_create(
    state: *mut c_void,
    destructor: Option<Destructor>,
    _create_filter: Option<CreateFilter>,
    _key_may_match: Option<KeyMayMatch>,
    _name: Option<Name>,
) -> *mut leveldb_filterpolicy_t {
    into_handle(leveldb_filterpolicy_t { choice: FilterChoice::Functions, state, destructor })
}

/// Creates a filter policy with a number of bits per key. It sets the parameter `bits_per_key` of the design's filter.
/// A filter without this parameter is replaced by a standard Bloom filter.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_filterpolicy_create_bloom(bits_per_key: c_int) -> *mut leveldb_filterpolicy_t {
    let choice = FilterChoice::Bloom(bits_per_key);
    into_handle(leveldb_filterpolicy_t { choice, state: null_mut(), destructor: None })
}

/// Destroys a filter policy.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_filterpolicy_destroy(policy: *mut leveldb_filterpolicy_t) {
    // SAFETY: The caller keeps the rules of the interface.
    drop(unsafe { from_handle(policy) });
}
