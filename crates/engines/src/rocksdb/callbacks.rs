//! The types of the callbacks of a merge operator in `rocksdb/c.h`.

use std::ffi::{c_char, c_int, c_uchar, c_void};

/// Frees the state of an operator.
pub(super) type Destroy = unsafe extern "C" fn(*mut c_void);
/// Combines the value of a key with operands, oldest first. The value is null if the key has no value.
pub(super) type FullMerge = unsafe extern "C" fn(
    *mut c_void,
    *const c_char,
    usize,
    *const c_char,
    usize,
    *const *const c_char,
    *const usize,
    c_int,
    *mut c_uchar,
    *mut usize,
) -> *mut c_char;
/// Combines operands, oldest first, into one.
pub(super) type PartialMerge = unsafe extern "C" fn(
    *mut c_void,
    *const c_char,
    usize,
    *const *const c_char,
    *const usize,
    c_int,
    *mut c_uchar,
    *mut usize,
) -> *mut c_char;
/// Frees a result.
pub(super) type DeleteValue = unsafe extern "C" fn(*mut c_void, *const c_char, usize);
/// Returns the name of an operator, which lives as long as the operator.
pub(super) type Name = unsafe extern "C" fn(*mut c_void) -> *const c_char;
