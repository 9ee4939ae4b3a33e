//! Declares the types of the callbacks of a merge operator in `rocksdb/c.h`.

use std::ffi::{c_char, c_int, c_uchar, c_void};

/// A callback that frees the state of a merge operator.
pub(super) type Destroy = unsafe extern "C" fn(*mut c_void);
/// A callback that combines the value of a key with merge operands, oldest first. The value is null if the key has no
/// value.
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
/// A callback that combines merge operands, oldest first, into one operand.
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
/// A callback that frees a result of [`FullMerge`] or [`PartialMerge`].
pub(super) type DeleteValue = unsafe extern "C" fn(*mut c_void, *const c_char, usize);
/// A callback that returns the name of a merge operator. The name lives as long as the operator.
pub(super) type Name = unsafe extern "C" fn(*mut c_void) -> *const c_char;
