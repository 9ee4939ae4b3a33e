//! Wrappers with Rust types for the exported functions. A wrapper panics if the call reports an error.

use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use std::ptr::null_mut;

use lsmbench_leveldb as c;

/// Returns a slice as the pointer and the length that a C program would pass.
fn raw(bytes: &[u8]) -> (*const c_char, usize) {
    (bytes.as_ptr().cast(), bytes.len())
}

/// Returns the bytes at a pointer to a key or a value.
///
/// # Safety
/// The pointer is null, or points to `len` bytes that live as long as the slice.
unsafe fn bytes<'a>(start: *const c_char, len: usize) -> &'a [u8] {
    assert!(!start.is_null());
    // SAFETY: The caller guarantees it.
    unsafe { std::slice::from_raw_parts(start.cast(), len) }
}

/// Calls a function that reports errors through `errptr`. Panics if the function reports an error.
fn checked<T>(call: impl FnOnce(*mut *mut c_char) -> T) -> T {
    let mut message = null_mut();
    let result = call(&raw mut message);
    // SAFETY: A message that is not null is a text.
    assert!(message.is_null(), "{}", unsafe { CStr::from_ptr(message) }.to_string_lossy());
    result
}

/// An open store with its options.
pub(crate) struct Db {
    handle: *mut c::leveldb_t,
    options: *mut c::leveldb_options_t,
    reads: *mut c::leveldb_readoptions_t,
    writes: *mut c::leveldb_writeoptions_t,
}

impl Db {
    /// Opens a store with small memtables. Creates a missing store.
    pub(crate) fn open(directory: &Path) -> Self {
        let name = CString::new(directory.to_str().unwrap()).unwrap();
        // SAFETY: All pointers are from the library or live through the calls.
        unsafe {
            let options = c::leveldb_options_create();
            c::leveldb_options_set_create_if_missing(options, 1);
            c::leveldb_options_set_write_buffer_size(options, 64 << 10);
            let handle = checked(|message| c::leveldb_open(options, name.as_ptr(), message));
            let (reads, writes) = (c::leveldb_readoptions_create(), c::leveldb_writeoptions_create());
            Self { handle, options, reads, writes }
        }
    }

    pub(crate) fn put(&self, key: &[u8], value: &[u8]) {
        let ((key, klen), (value, vlen)) = (raw(key), raw(value));
        // SAFETY: The handles are alive, and the bytes live through the call.
        checked(|message| unsafe {
            c::leveldb_put(self.handle, self.writes, key, klen, value, vlen, message);
        });
    }

    pub(crate) fn delete(&self, key: &[u8]) {
        let (key, klen) = raw(key);
        // SAFETY: As above.
        checked(|message| unsafe { c::leveldb_delete(self.handle, self.writes, key, klen, message) });
    }

    /// Writes a batch of puts and deletes.
    pub(crate) fn write(&self, entries: &[(Vec<u8>, Option<Vec<u8>>)]) {
        // SAFETY: As above. The batch is destroyed once.
        unsafe {
            let batch = c::leveldb_writebatch_create();
            for (key, value) in entries {
                let (key, klen) = raw(key);
                match value.as_deref().map(raw) {
                    Some((value, vlen)) => c::leveldb_writebatch_put(batch, key, klen, value, vlen),
                    None => c::leveldb_writebatch_delete(batch, key, klen),
                }
            }
            checked(|message| c::leveldb_write(self.handle, self.writes, batch, message));
            c::leveldb_writebatch_destroy(batch);
        }
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let ((key, klen), mut vlen) = (raw(key), 0);
        // SAFETY: As above. The value is freed once.
        unsafe {
            let value =
                checked(|message| c::leveldb_get(self.handle, self.reads, key, klen, &raw mut vlen, message));
            let copy = (!value.is_null()).then(|| bytes(value, vlen).to_vec());
            c::leveldb_free(value.cast());
            copy
        }
    }

    /// Takes a snapshot. All reads use this snapshot until the snapshot is released.
    pub(crate) fn read_snapshot(&self) -> *const c::leveldb_snapshot_t {
        // SAFETY: The handles are alive.
        unsafe {
            let snapshot = c::leveldb_create_snapshot(self.handle);
            c::leveldb_readoptions_set_snapshot(self.reads, snapshot);
            snapshot
        }
    }

    pub(crate) fn release(&self, snapshot: *const c::leveldb_snapshot_t) {
        // SAFETY: The snapshot is released once, and no read uses it any more.
        unsafe {
            c::leveldb_readoptions_set_snapshot(self.reads, std::ptr::null());
            c::leveldb_release_snapshot(self.handle, snapshot);
        }
    }

    pub(crate) fn compact_range(&self, low: &[u8], high: &[u8]) {
        let ((low, low_len), (high, high_len)) = (raw(low), raw(high));
        // SAFETY: The handle is alive, and the bytes live through the call.
        unsafe { c::leveldb_compact_range(self.handle, low, low_len, high, high_len) };
    }

    pub(crate) fn iterator(&self) -> Walk {
        // SAFETY: The handles are alive.
        Walk(unsafe { c::leveldb_create_iterator(self.handle, self.reads) })
    }
}

impl Drop for Db {
    fn drop(&mut self) {
        // SAFETY: Each object is destroyed once.
        unsafe {
            c::leveldb_close(self.handle);
            c::leveldb_options_destroy(self.options);
            c::leveldb_readoptions_destroy(self.reads);
            c::leveldb_writeoptions_destroy(self.writes);
        }
    }
}

/// An iterator over a store.
pub(crate) struct Walk(*mut c::leveldb_iterator_t);

impl Walk {
    pub(crate) fn seek_to_first(&self) {
        // SAFETY: The iterator is alive.
        unsafe { c::leveldb_iter_seek_to_first(self.0) };
    }

    pub(crate) fn seek_to_last(&self) {
        // SAFETY: As above.
        unsafe { c::leveldb_iter_seek_to_last(self.0) };
    }

    pub(crate) fn seek(&self, key: &[u8]) {
        let (key, klen) = raw(key);
        // SAFETY: As above, and the key lives through the call.
        unsafe { c::leveldb_iter_seek(self.0, key, klen) };
    }

    pub(crate) fn next(&self) {
        // SAFETY: As above.
        unsafe { c::leveldb_iter_next(self.0) };
    }

    pub(crate) fn prev(&self) {
        // SAFETY: As above.
        unsafe { c::leveldb_iter_prev(self.0) };
    }

    /// Returns the current entry. Returns `None` if there is no current entry.
    pub(crate) fn entry(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let (mut klen, mut vlen) = (0, 0);
        // SAFETY: As above. Key and value are copied before the iterator moves.
        unsafe {
            checked(|message| c::leveldb_iter_get_error(self.0, message));
            (c::leveldb_iter_valid(self.0) == 1).then(|| {
                let key = c::leveldb_iter_key(self.0, &raw mut klen);
                let value = c::leveldb_iter_value(self.0, &raw mut vlen);
                (bytes(key, klen).to_vec(), bytes(value, vlen).to_vec())
            })
        }
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        // SAFETY: The iterator is destroyed once.
        unsafe { c::leveldb_iter_destroy(self.0) };
    }
}
