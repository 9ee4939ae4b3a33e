//! Wrappers for the bodies of exported functions, which handle null handles, errors and panics.
#![allow(unsafe_code)]

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::memory::set_message;
use crate::failure::Failure;

/// Runs the body of an exported function that cannot report errors. If the body panics, returns `otherwise`, because a
/// panic must not reach the calling program.
pub(super) fn contain<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    // The objects of the program remain valid after a panic: the tree protects its state, and a batch or a cursor is
    // changed in complete steps.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// Runs the body of an exported function that reports errors through `errptr`. Returns `otherwise` after an error or a
/// panic.
///
/// # Safety
/// `errptr` is null, or points to a null pointer or to a message from `malloc`.
pub(super) unsafe fn report<T>(
    errptr: *mut *mut c_char,
    otherwise: T,
    body: impl FnOnce() -> Result<T, Failure>,
) -> T {
    match catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| Err(Failure::panicked())) {
        Ok(result) => result,
        Err(failure) => {
            // SAFETY: The caller guarantees it.
            unsafe { set_message(errptr, &failure) };
            otherwise
        }
    }
}

/// Returns a reference to the object of a handle. For a null handle, returns an error that contains `name`, the name of
/// the argument.
///
/// # Safety
/// The handle is null or valid, and no thread changes the object while the reference is alive.
pub(super) unsafe fn object<'a, T>(handle: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: The caller guarantees it.
    unsafe { handle.as_ref() }.ok_or_else(|| null(name))
}

/// Returns the error for a null argument with the name `name`.
pub(super) fn null(name: &str) -> Failure {
    Failure::invalid(format!("the argument {name} is null"))
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::ptr::null_mut;

    use super::*;
    use crate::c::memory::leveldb_free;

    #[test]
    fn a_panic_becomes_a_message() {
        let mut message = null_mut();
        // SAFETY: The message is null, and then from the call.
        let text = unsafe {
            assert_eq!(report(&raw mut message, 7, || panic!("a panic that a test expects")), 7);
            CStr::from_ptr(message).to_str().unwrap()
        };
        assert_eq!(text, "IO error: lsmbench panicked; standard error contains the reason");
        // SAFETY: The message is from `malloc`.
        unsafe { leveldb_free(message.cast()) };
        assert_eq!(contain(1, || panic!("a panic that a test expects")), 1);
    }
}
