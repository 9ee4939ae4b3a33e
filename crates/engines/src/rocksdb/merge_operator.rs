//! The merge operators of a design as a `MergeOperator` of `RocksDB`, through the callbacks of its C interface.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::ptr;

use types::MergeOperator;

use super::api::{Api, Object};
use crate::symbols::bytes_at;

/// Creates an operator. The options that receive the merge operator own it.
pub(super) fn create(api: &Api, operator: MergeOperator) -> Object {
    let state = Box::into_raw(Box::new(operator)).cast();
    // SAFETY: The callbacks have the signatures of `rocksdb/c.h`, and the library destroys the state once.
    unsafe { (api.mergeoperator_create)(state, destroy, full_merge, partial_merge, delete_value, name) }
}

/// # Safety
/// `state` is that of [`create`], and is not used again.
unsafe extern "C" fn destroy(state: *mut c_void) {
    // SAFETY: The caller guarantees it.
    drop(unsafe { Box::from_raw(state.cast::<MergeOperator>()) });
}

/// # Safety
/// The library must pass the `state` of [`create`], and pointers with the stated lengths.
unsafe extern "C" fn full_merge(
    state: *mut c_void,
    _key: *const c_char,
    _key_bytes: usize,
    value: *const c_char,
    value_bytes: usize,
    operands: *const *const c_char,
    operand_bytes: *const usize,
    count: c_int,
    success: *mut c_uchar,
    result_bytes: *mut usize,
) -> *mut c_char {
    // SAFETY: The caller guarantees it; a missing value is a null pointer.
    unsafe {
        let older = if value.is_null() { Vec::new() } else { bytes_at(value, value_bytes).to_vec() };
        let operands = Operands { values: operands, value_bytes: operand_bytes, count };
        hand_over(combine(state, older, &operands), success, result_bytes)
    }
}

/// # Safety
/// The requirements of [`full_merge`] apply to this function, too.
unsafe extern "C" fn partial_merge(
    state: *mut c_void,
    _key: *const c_char,
    _key_bytes: usize,
    operands: *const *const c_char,
    operand_bytes: *const usize,
    count: c_int,
    success: *mut c_uchar,
    result_bytes: *mut usize,
) -> *mut c_char {
    // SAFETY: The caller guarantees it.
    unsafe {
        let operands = Operands { values: operands, value_bytes: operand_bytes, count };
        hand_over(combine(state, Vec::new(), &operands), success, result_bytes)
    }
}

/// # Safety
/// `value` is a result of `bytes` bytes that is not used again, or null.
unsafe extern "C" fn delete_value(_state: *mut c_void, value: *const c_char, bytes: usize) {
    if !value.is_null() {
        // SAFETY: `hand_over` made it from a boxed slice of this length.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(value.cast_mut().cast::<u8>(), bytes)) });
    }
}

/// # Safety
/// `state` must come from [`create`].
unsafe extern "C" fn name(state: *mut c_void) -> *const c_char {
    // SAFETY: The caller guarantees it.
    let name = match unsafe { *state.cast::<MergeOperator>() } {
        MergeOperator::Add => c"lsmbench.add",
        MergeOperator::Append => c"lsmbench.append",
        MergeOperator::Max => c"lsmbench.max",
    };
    name.as_ptr()
}

/// The operands of a call, oldest first.
struct Operands {
    values: *const *const c_char,
    value_bytes: *const usize,
    count: c_int,
}

/// Combines operands with an older value, which is empty if there is none: the neutral element of every operator.
///
/// # Safety
/// `state` is that of [`create`], and the pointers of `operands` have `count` elements.
unsafe fn combine(state: *mut c_void, mut older: Vec<u8>, operands: &Operands) -> Vec<u8> {
    // SAFETY: The caller guarantees it.
    unsafe {
        let operator = *state.cast::<MergeOperator>();
        for at in 0..usize::try_from(operands.count).unwrap_or(0) {
            let operand = bytes_at(*operands.values.add(at), *operands.value_bytes.add(at));
            operator.combine(&mut older, operand);
        }
    }
    older
}

/// Hands a result over to the library, which returns it to [`delete_value`]. An empty result is not null.
///
/// # Safety
/// `success` and `bytes` may be written.
unsafe fn hand_over(result: Vec<u8>, success: *mut c_uchar, bytes: *mut usize) -> *mut c_char {
    // SAFETY: The caller guarantees it.
    unsafe {
        *success = 1;
        *bytes = result.len();
    }
    Box::into_raw(result.into_boxed_slice()).cast()
}
