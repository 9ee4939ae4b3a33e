//! Exported functions for comparators. A comparator is a function of the calling program that defines an order of keys.
#![allow(unsafe_code, non_camel_case_types)]

use std::cmp::Ordering;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

use super::memory::{from_handle, into_handle};
use crate::key_order::KeyOrder;

/// A function of the calling program that frees the state of a comparator or a filter policy.
pub(super) type Destructor = unsafe extern "C" fn(*mut c_void);
/// A function of the calling program that returns the name of a comparator or a filter policy.
pub(super) type Name = unsafe extern "C" fn(*mut c_void) -> *const c_char;
/// A function of the calling program that compares two keys. The result is negative, 0 or positive, as in `memcmp`.
type Compare = unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize) -> c_int;

/// The handle of a comparator, which defines an order of keys.
pub struct leveldb_comparator_t(pub(super) Arc<Functions>);

/// The functions of a comparator, and the state that the calling program passes to them.
pub(super) struct Functions {
    state: *mut c_void,
    destructor: Option<Destructor>,
    compare: Option<Compare>,
    name: Option<Name>,
}

// SAFETY: LevelDB calls comparators from several threads at once, so their functions and their state allow it.
unsafe impl Send for Functions {}
// SAFETY: As above.
unsafe impl Sync for Functions {}

impl KeyOrder for Functions {
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let Some(compare) = self.compare else { return a.cmp(b) };
        // SAFETY: The function is from the program, and the keys are alive during its call.
        unsafe { compare(self.state, a.as_ptr().cast(), a.len(), b.as_ptr().cast(), b.len()) }.cmp(&0)
    }

    fn name(&self) -> String {
        let Some(name) = self.name else { return String::new() };
        // SAFETY: The function is from the program, and returns null or a text that lives as long as the comparator.
        unsafe {
            let name = name(self.state);
            if name.is_null() { String::new() } else { CStr::from_ptr(name).to_string_lossy().into_owned() }
        }
    }
}

impl Drop for Functions {
    fn drop(&mut self) {
        if let Some(destructor) = self.destructor {
            // SAFETY: The function is from the program, and no other code uses the state any more.
            unsafe { destructor(self.state) };
        }
    }
}

/// Creates a comparator. A tree orders keys by their bytes, so a call fails if the comparator orders its keys
/// differently.
///
/// # Safety
/// See [the rules of the interface](crate#safety). The library may call the functions from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_comparator_create(
    state: *mut c_void,
    destructor: Option<Destructor>,
    compare: Option<Compare>,
    name: Option<Name>,
) -> *mut leveldb_comparator_t {
    into_handle(leveldb_comparator_t(Arc::new(Functions { state, destructor, compare, name })))
}

/// Destroys the handle of a comparator. Options and open stores continue to use the comparator.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_comparator_destroy(comparator: *mut leveldb_comparator_t) {
    // SAFETY: The caller keeps the rules of the interface.
    drop(unsafe { from_handle(comparator) });
}
