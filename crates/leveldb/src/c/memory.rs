//! Conversions of memory at the C interface: bytes that the calling program passes, and copies that it must free.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

use crate::failure::Failure;

/// The version of LevelDB whose header the library implements.
const VERSION: (c_int, c_int) = (1, 23);

/// Returns the bytes at a pointer of the calling program. If `len` is 0, the pointer may have any value.
///
/// # Safety
/// If `len` is not 0 and `start` is not null, `start` points to `len` bytes, which do not change while the slice is
/// alive.
pub(super) unsafe fn bytes<'a>(start: *const c_char, len: usize) -> Result<&'a [u8], Failure> {
    match (len, start.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => {
            Err(Failure::invalid(format!("a pointer argument is null, but its length is {len} bytes")))
        }
        // SAFETY: The caller guarantees it.
        (_, false) => Ok(unsafe { std::slice::from_raw_parts(start.cast(), len) }),
    }
}

/// Returns a copy of the bytes, which the calling program must free. Returns null if there is not enough memory.
pub(super) fn copy_of_bytes(bytes: &[u8]) -> *mut c_char {
    // An empty value differs from a missing value, so it needs memory, too.
    // SAFETY: `malloc` may be called with any size.
    let copy: *mut u8 = unsafe { libc::malloc(bytes.len().max(1)) }.cast();
    if !copy.is_null() {
        // SAFETY: The new memory has room for all bytes, and overlaps no other memory.
        unsafe { copy.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
    copy.cast()
}

/// Returns a copy of the text with a null byte at its end, which the calling program must free. Returns null if there
/// is not enough memory.
pub(super) fn copy_of_text(text: &str) -> *mut c_char {
    let mut bytes = text.replace('\0', "\u{fffd}").into_bytes();
    bytes.push(0);
    copy_of_bytes(&bytes)
}

/// Replaces the error message at `errptr`, and frees the old message.
///
/// # Safety
/// `errptr` is null, or points to a null pointer or to a message from `malloc`.
pub(super) unsafe fn set_message(errptr: *mut *mut c_char, failure: &Failure) {
    // SAFETY: The caller guarantees that a pointer which is not null may be read and written.
    let Some(message) = (unsafe { errptr.as_mut() }) else { return };
    let old = std::mem::replace(message, copy_of_text(&failure.to_string()));
    // SAFETY: The caller guarantees that the old message is null or from `malloc`. No pointer to it remains here.
    unsafe { libc::free(old.cast()) };
}

/// Moves an object to the heap, and returns its handle (a pointer for the calling program).
pub(super) fn into_handle<T>(object: T) -> *mut T {
    Box::into_raw(Box::new(object))
}

/// Takes back an object from its handle, which destroys the handle. Returns `None` for a null handle.
///
/// # Safety
/// The handle is null, or comes from [`into_handle`] and is not used again.
pub(super) unsafe fn from_handle<T>(handle: *mut T) -> Option<Box<T>> {
    // SAFETY: The caller guarantees it.
    (!handle.is_null()).then(|| unsafe { Box::from_raw(handle) })
}

/// Frees memory that a function of this library has returned.
///
/// # Safety
/// See [the rules of the interface](crate#safety).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_free(ptr: *mut c_void) {
    // SAFETY: All functions that return memory to the program take it from `malloc`.
    unsafe { libc::free(ptr) };
}

/// Returns the major version of LevelDB whose header the library implements.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_major_version() -> c_int {
    VERSION.0
}

/// Returns the minor version of LevelDB whose header the library implements.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_minor_version() -> c_int {
    VERSION.1
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::ptr::null_mut;

    use super::*;

    #[test]
    fn a_message_replaces_the_previous_message() {
        let mut message = null_mut();
        for text in ["first", "second \0 text"] {
            // SAFETY: The pointer is null or from the previous call.
            unsafe { set_message(&raw mut message, &Failure::invalid(text)) };
        }
        // SAFETY: The call has set the message.
        let text = unsafe { CStr::from_ptr(message) }.to_str().unwrap();
        assert_eq!(text, "Invalid argument: second \u{fffd} text");
        // SAFETY: The message is from `malloc`, and a null pointer is allowed.
        unsafe {
            leveldb_free(message.cast());
            set_message(null_mut(), &Failure::invalid("nobody asks"));
        }
    }
}
