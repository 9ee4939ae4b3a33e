//! Implements a store of `WiredTiger` through the functions of `shim.c`.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::time::Duration;

use thread_local::ThreadLocal;
use types::Direction;
use workload::{Scan, Target, TargetError, Write};

use crate::settle;
use crate::stats::EngineStats;
use crate::store::Store;
use crate::symbols::bytes_at;

type Connection = *mut c_void;
type Thread = *mut c_void;

unsafe extern "C" {
    fn shim_open(home: *const c_char, config: *const c_char, connection: *mut Connection) -> c_int;
    fn shim_close(connection: Connection) -> c_int;
    fn shim_begin_thread(
        connection: Connection,
        uri: *const c_char,
        create: *const c_char,
        thread: *mut Thread,
    ) -> c_int;
    fn shim_end_thread(thread: Thread);
    fn shim_put(thread: Thread, key: *const u8, key_bytes: usize, value: *const u8, bytes: usize) -> c_int;
    fn shim_remove(thread: Thread, key: *const u8, bytes: usize) -> c_int;
    fn shim_search(thread: Thread, key: *const u8, bytes: usize) -> c_int;
    fn shim_search_near(thread: Thread, key: *const u8, bytes: usize, place: *mut c_int) -> c_int;
    fn shim_next(thread: Thread) -> c_int;
    fn shim_prev(thread: Thread) -> c_int;
    fn shim_reset(thread: Thread) -> c_int;
    fn shim_key(thread: Thread, data: *mut *const c_char, bytes: *mut usize) -> c_int;
    fn shim_value(thread: Thread, data: *mut *const c_char, bytes: *mut usize) -> c_int;
    fn shim_begin(thread: Thread) -> c_int;
    fn shim_commit(thread: Thread) -> c_int;
    fn shim_rollback(thread: Thread) -> c_int;
    fn shim_checkpoint(thread: Thread) -> c_int;
    fn shim_is_conflict(error: c_int) -> c_int;
    fn shim_is_missing(error: c_int) -> c_int;
    fn shim_text(error: c_int) -> *const c_char;
    fn shim_version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int);
}

/// The name of the only table of a store.
const TABLE: &CStr = c"table:data";

/// A store of `WiredTiger`.
pub(super) struct WiredTigerStore {
    connection: Connection,
    table: CString,
    directory: PathBuf,
    /// The session of each thread. Threads never share a session.
    threads: ThreadLocal<Session>,
}

// SAFETY: Many threads may use a connection at once (`WT_CONNECTION`, "Thread safety"). A session stays with the thread
// that created it.
unsafe impl Send for WiredTigerStore {}
// SAFETY: As above.
unsafe impl Sync for WiredTigerStore {}

/// The session and the cursor of one thread.
struct Session(Thread);

// SAFETY: Only the thread that created the session uses it. Another thread may drop the session together with the
// store, when no thread uses it any more.
unsafe impl Send for Session {}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: The session is destroyed once.
        unsafe { shim_end_thread(self.0) }
    }
}

/// Converts the error code of a library call to a `Result` with the message of the library.
fn check(error: c_int) -> Result<(), TargetError> {
    if error == 0 {
        return Ok(());
    }
    // SAFETY: The text is NUL-terminated and is the library's own.
    Err(unsafe { CStr::from_ptr(shim_text(error)) }.to_string_lossy().into_owned().into())
}

/// Returns whether a lookup found its entry, from the error code of the lookup.
fn check_found(error: c_int) -> Result<bool, TargetError> {
    // SAFETY: The function takes a number and returns a number.
    match unsafe { shim_is_missing(error) } {
        0 => check(error).map(|()| true),
        _ => Ok(false),
    }
}

impl WiredTigerStore {
    pub(super) fn open(directory: &Path, connection: &str, table: &str) -> Result<Self, TargetError> {
        let (home, config) =
            (CString::new(directory.to_string_lossy().into_owned())?, CString::new(connection)?);
        let mut opened = null_mut();
        // SAFETY: The strings live through the call.
        check(unsafe { shim_open(home.as_ptr(), config.as_ptr(), &raw mut opened) })?;
        let store = Self {
            connection: opened,
            table: CString::new(table)?,
            directory: directory.to_owned(),
            threads: ThreadLocal::new(),
        };
        store.thread()?;
        Ok(store)
    }

    /// Returns the session of the calling thread.
    fn thread(&self) -> Result<Thread, TargetError> {
        let session = self.threads.get_or_try(|| {
            let mut thread = null_mut();
            // SAFETY: The connection is alive, and the strings live through the call.
            check(unsafe {
                shim_begin_thread(self.connection, TABLE.as_ptr(), self.table.as_ptr(), &raw mut thread)
            })?;
            Ok::<_, TargetError>(Session(thread))
        })?;
        Ok(session.0)
    }

    /// Retries a write until it does not conflict with another transaction.
    fn without_conflict(&self, mut work: impl FnMut(Thread) -> c_int) -> Result<(), TargetError> {
        let thread = self.thread()?;
        loop {
            let error = work(thread);
            // SAFETY: The function takes a number and returns a number.
            if unsafe { shim_is_conflict(error) } == 0 {
                return check(error);
            }
        }
    }

    /// Moves the cursor to the first entry in the direction of the scan. For a backward scan, this is the last key
    /// before `scan.high`. Returns whether the cursor is on an entry.
    fn seek(thread: Thread, scan: &Scan<'_>) -> Result<bool, TargetError> {
        let key = match scan.direction {
            Direction::Forward => Some(scan.low).filter(|low| !low.is_empty()),
            Direction::Backward => scan.high,
        };
        let mut place = 0;
        // SAFETY: The session belongs to the calling thread, and the keys live through the calls.
        unsafe {
            let Some(key) = key else {
                return check_found(Self::step(thread, scan.direction));
            };
            if !check_found(shim_search_near(thread, key.as_ptr(), key.len(), &raw mut place))? {
                return Ok(false);
            }
            let is_before = match scan.direction {
                Direction::Forward => place < 0,
                Direction::Backward => place >= 0,
            };
            if is_before { check_found(Self::step(thread, scan.direction)) } else { Ok(true) }
        }
    }

    /// Moves the cursor to the next entry in the given direction. Returns the error code of the library.
    fn step(thread: Thread, direction: Direction) -> c_int {
        // SAFETY: The session belongs to the calling thread.
        unsafe {
            match direction {
                Direction::Forward => shim_next(thread),
                Direction::Backward => shim_prev(thread),
            }
        }
    }

    /// Passes the entries of a scan to `visit`. `scan.limit` must be at least 1. Returns the number of passed entries.
    fn walk(
        thread: Thread,
        scan: &Scan<'_>,
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<usize, TargetError> {
        let mut entries = 0;
        let mut is_there = Self::seek(thread, scan)?;
        while is_there {
            let (mut key, mut key_bytes, mut value, mut value_bytes) = (null(), 0, null(), 0);
            // SAFETY: Key and value stay where they are until the cursor moves.
            unsafe {
                check(shim_key(thread, &raw mut key, &raw mut key_bytes))?;
                let key: &[u8] = bytes_at(key, key_bytes);
                let is_beyond = match scan.direction {
                    Direction::Forward => scan.high.is_some_and(|high| key >= high),
                    Direction::Backward => key < scan.low,
                };
                if is_beyond {
                    break;
                }
                check(shim_value(thread, &raw mut value, &raw mut value_bytes))?;
                visit(key, bytes_at(value, value_bytes));
            }
            entries += 1;
            is_there = entries < scan.limit && check_found(Self::step(thread, scan.direction))?;
        }
        Ok(entries)
    }
}

impl Target for WiredTigerStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        // SAFETY: The session belongs to the calling thread; key and value live through the call.
        self.without_conflict(|thread| unsafe {
            shim_put(thread, key.as_ptr(), key.len(), value.as_ptr(), value.len())
        })
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let thread = self.thread()?;
        let (mut data, mut bytes) = (null(), 0);
        // SAFETY: The session belongs to the calling thread; the value stays in place until the cursor is reset.
        unsafe {
            let found = check_found(shim_search(thread, key.as_ptr(), key.len()))?;
            if found {
                check(shim_value(thread, &raw mut data, &raw mut bytes))?;
                value.extend_from_slice(bytes_at(data, bytes));
            }
            check(shim_reset(thread))?;
            Ok(found)
        }
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        // SAFETY: The session belongs to the calling thread; the key lives through the call.
        self.without_conflict(|thread| unsafe { shim_remove(thread, key.as_ptr(), key.len()) })
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        if scan.limit == 0 || scan.high.is_some_and(|high| high <= scan.low) {
            return Ok(0);
        }
        let thread = self.thread()?;
        // SAFETY: The session belongs to the calling thread, and is in no transaction.
        unsafe {
            check(shim_begin(thread))?;
            let walked = Self::walk(thread, scan, visit);
            check(shim_reset(thread))?;
            check(shim_rollback(thread))?;
            walked
        }
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        Write::only_puts_and_deletes(writes)?;
        // SAFETY: The session belongs to the calling thread, and is in no transaction; keys and values live through the
        // calls.
        self.without_conflict(|thread| unsafe {
            let begun = shim_begin(thread);
            if begun != 0 {
                return begun;
            }
            for write in writes {
                let error = match write {
                    Write::Put { key, value } => {
                        shim_put(thread, key.as_ptr(), key.len(), value.as_ptr(), value.len())
                    }
                    Write::Delete { key } => shim_remove(thread, key.as_ptr(), key.len()),
                    _ => 0, // rejected above
                };
                if error != 0 {
                    shim_rollback(thread);
                    return error;
                }
            }
            shim_commit(thread)
        })
    }

    fn flush(&self) -> Result<(), TargetError> {
        // SAFETY: The session belongs to the calling thread.
        check(unsafe { shim_checkpoint(self.thread()?) })
    }

    fn settle(&self) -> Result<(), TargetError> {
        // Compactions of an LSM-tree create and remove files. A row store has no background work.
        settle::until_idle(settle::UNSEEN, || (false, data_files(&self.directory)));
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        self.flush()
    }
}

/// Returns the path and the size in bytes of each data file, sorted by path.
fn data_files(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = settle::files(directory);
    files.retain(|(path, _)| !path.to_string_lossy().contains("WiredTiger"));
    files
}

impl Store for WiredTigerStore {
    fn version(&self) -> Option<String> {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: The function writes three numbers.
        unsafe { shim_version(&raw mut major, &raw mut minor, &raw mut patch) };
        Some(format!("{major}.{minor}.{patch}"))
    }

    fn settle_margin(&self) -> Duration {
        settle::margin(settle::UNSEEN)
    }

    /// Returns empty statistics. The size of the files does not show the size of the contents, because changes stay in
    /// the cache until a checkpoint.
    fn stats(&self) -> EngineStats {
        EngineStats::default()
    }
}

impl Drop for WiredTigerStore {
    fn drop(&mut self) {
        // SAFETY: The connection is closed once, after the last call; its sessions are closed with it.
        unsafe { shim_close(self.connection) };
    }
}
