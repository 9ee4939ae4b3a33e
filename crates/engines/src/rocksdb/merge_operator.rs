//! Implements the merge operators of a design as a `MergeOperator` of `RocksDB`, through the callbacks of its C
//! interface.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::ptr;

use types::MergeOperator;

use super::api::{Api, Object};
use crate::symbols::bytes_at;

/// Creates a merge operator of the library. The caller sets the operator on an options object, which then owns the
/// operator.
pub(super) fn create(api: &Api, operator: MergeOperator) -> Object {
    let state = Box::into_raw(Box::new(operator)).cast();
    // SAFETY: The callbacks have the signatures of `rocksdb/c.h`, and the library destroys the state once.
    unsafe { (api.mergeoperator_create)(state, destroy, full_merge, partial_merge, delete_value, name) }
}

/// Frees the state of a merge operator.
///
/// # Safety
/// `state` must come from [`create`], and must not be used afterwards.
unsafe extern "C" fn destroy(state: *mut c_void) {
    // SAFETY: The caller guarantees it.
    drop(unsafe { Box::from_raw(state.cast::<MergeOperator>()) });
}

/// Combines the value of a key with operands.
///
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

/// Combines operands into one operand.
///
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

/// Frees a result of [`hand_over`].
///
/// # Safety
/// `value` must be null, or a result with `bytes` bytes that is not used afterwards.
unsafe extern "C" fn delete_value(_state: *mut c_void, value: *const c_char, bytes: usize) {
    if !value.is_null() {
        // SAFETY: `hand_over` made it from a boxed slice of this length.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(value.cast_mut().cast::<u8>(), bytes)) });
    }
}

/// Returns the name of a merge operator.
///
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

/// The operands that the library passes to a callback, oldest first.
struct Operands {
    values: *const *const c_char,
    value_bytes: *const usize,
    count: c_int,
}

/// Combines operands with an older value. `older` is empty if the key has no value. For every operator, the empty value
/// is the neutral element.
///
/// # Safety
/// `state` must come from [`create`], and the pointers of `operands` must point to `count` elements.
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

/// Transfers the ownership of a result to the library. The library frees the result through [`delete_value`]. The
/// returned pointer is not null, even if the result is empty.
///
/// # Safety
/// `success` and `bytes` must be valid for writes.
unsafe fn hand_over(result: Vec<u8>, success: *mut c_uchar, bytes: *mut usize) -> *mut c_char {
    // SAFETY: The caller guarantees it.
    unsafe {
        *success = 1;
        *bytes = result.len();
    }
    Box::into_raw(result.into_boxed_slice()).cast()
}
