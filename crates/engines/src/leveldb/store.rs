//! Implements a store of `LevelDB` through its C interface.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::time::Duration;

use results::columns as c;
use types::Direction;
use workload::{Scan, Target, TargetError, Write};

use crate::options::{Codec, EngineOptions, Log};
use crate::settle;
use crate::stats::EngineStats;
use crate::store::Store;
use crate::symbols::{Loaded, bytes_at, functions};

/// The names of the called C functions. All supported versions of the library have these functions.
pub(super) const REQUIRED: &[&str] = Api::REQUIRED;

/// The largest number of open files that `LevelDB` accepts. With its default of 1,000, a store with more than 990
/// SSTables, which is about 2 GB of data, opens and closes a file for almost every get.
pub(super) const MAX_OPEN_FILES: c_int = 50_000;

/// An opaque object of the library; only the library dereferences the pointer.
type Object = *mut c_void;
/// Pointer through which the library returns an error message; the caller frees the message.
type Message = *mut *mut c_char;

functions! {
    /// The functions of `leveldb/c.h` that the adapter calls.
    Api, "leveldb_", linked(any()), newest(any()),
    required {
        free: fn(*mut c_void);
        open: fn(Object, *const c_char, Message) -> Object;
        close: fn(Object);
        put: fn(Object, Object, *const c_char, usize, *const c_char, usize, Message);
        delete: fn(Object, Object, *const c_char, usize, Message);
        get: fn(Object, Object, *const c_char, usize, *mut usize, Message) -> *mut c_char;
        write: fn(Object, Object, Object, Message);
        writebatch_create: fn() -> Object;
        writebatch_destroy: fn(Object);
        writebatch_put: fn(Object, *const c_char, usize, *const c_char, usize);
        writebatch_delete: fn(Object, *const c_char, usize);
        create_iterator: fn(Object, Object) -> Object;
        iter_destroy: fn(Object);
        iter_valid: fn(Object) -> c_uchar;
        iter_seek: fn(Object, *const c_char, usize);
        iter_seek_to_last: fn(Object);
        iter_next: fn(Object);
        iter_prev: fn(Object);
        iter_key: fn(Object, *mut usize) -> *const c_char;
        iter_value: fn(Object, *mut usize) -> *const c_char;
        iter_get_error: fn(Object, Message);
        compact_range: fn(Object, *const c_char, usize, *const c_char, usize);
        property_value: fn(Object, *const c_char) -> *mut c_char;
        options_create: fn() -> Object;
        options_destroy: fn(Object);
        options_set_create_if_missing: fn(Object, c_uchar);
        options_set_write_buffer_size: fn(Object, usize);
        options_set_max_open_files: fn(Object, c_int);
        options_set_cache: fn(Object, Object);
        options_set_block_size: fn(Object, usize);
        options_set_block_restart_interval: fn(Object, c_int);
        options_set_compression: fn(Object, c_int);
        options_set_filter_policy: fn(Object, Object);
        filterpolicy_create_bloom: fn(c_int) -> Object;
        filterpolicy_destroy: fn(Object);
        cache_create_lru: fn(usize) -> Object;
        cache_destroy: fn(Object);
        readoptions_create: fn() -> Object;
        readoptions_destroy: fn(Object);
        writeoptions_create: fn() -> Object;
        writeoptions_destroy: fn(Object);
        writeoptions_set_sync: fn(Object, c_uchar);
        major_version: fn() -> c_int;
        minor_version: fn() -> c_int;
    }
    optional {
        // Only lsmbench's own library has the function (crate `leveldb`).
        settle: fn(Object, Message);
    }
    newest {}
}

/// A key that sorts after all keys of a workload. A compaction of only this key flushes the memtable and rewrites no
/// SSTable.
const BEHIND_ALL: [u8; 64] = [0xff; 64];

/// The number of files in level 0 from which a compaction is due.
const LEVEL0_FILES: u64 = 4;

/// The size of level 1 above which a compaction is due, in megabytes. The threshold of each deeper level is ten times
/// the threshold of the level above.
const LEVEL1_MEGABYTES: u64 = 10;

/// A store of `LevelDB`.
pub(super) struct LevelDbStore {
    api: Api,
    db: Object,
    options: Object,
    cache: Object,
    filter: Object,
    read: Object,
    write: Object,
    /// A handle that keeps the library loaded, so that its functions stay valid.
    _library: Loaded,
}

// SAFETY: A database may be used from many threads at once, and so may options that no thread changes (`doc/index.md`,
// "Concurrency").
unsafe impl Send for LevelDbStore {}
// SAFETY: As above.
unsafe impl Sync for LevelDbStore {}

impl LevelDbStore {
    /// Opens the store in `directory`.
    pub(super) fn open(
        library: &Path,
        directory: &Path,
        settings: &EngineOptions,
    ) -> Result<Self, TargetError> {
        let library = Loaded::open(library)?;
        // SAFETY: The signatures are those of `leveldb/c.h`.
        let api = unsafe { Api::of(&library) }?;
        let path = CString::new(directory.to_string_lossy().into_owned())?;
        // SAFETY: Objects are created, used and destroyed as the header requires; the path lives through the call.
        unsafe {
            let options = (api.options_create)();
            (api.options_set_create_if_missing)(options, 1);
            (api.options_set_write_buffer_size)(options, settings.memtable_bytes as usize);
            (api.options_set_max_open_files)(options, MAX_OPEN_FILES);
            let cache = (api.cache_create_lru)(settings.cache_bytes as usize);
            (api.options_set_cache)(options, cache);
            (api.options_set_block_size)(options, settings.block_bytes as usize);
            (api.options_set_block_restart_interval)(options, settings.restart_interval.cast_signed());
            (api.options_set_compression)(options, c_int::from(settings.codec == Codec::Snappy));
            let bits = settings.filter_bits_per_key.round() as c_int;
            let filter = if bits > 0 { (api.filterpolicy_create_bloom)(bits) } else { null_mut() };
            (api.options_set_filter_policy)(options, filter);
            let (read, write) = ((api.readoptions_create)(), (api.writeoptions_create)());
            (api.writeoptions_set_sync)(write, c_uchar::from(settings.log == Log::Sync));
            let mut store =
                Self { api, db: null_mut(), options, cache, filter, read, write, _library: library };
            store.db = api.fallible(|message| (api.open)(options, path.as_ptr(), message))?;
            Ok(store)
        }
    }

    /// Returns the text of a property. Returns `None` if the library has no such property.
    fn text(&self, name: &CStr) -> Option<String> {
        // SAFETY: The name is NUL-terminated; the returned text is too, and is ours to free.
        unsafe { self.api.take_text((self.api.property_value)(self.db, name.as_ptr())) }
    }

    /// Returns the non-empty levels, each with its number, its number of files, and its size in megabytes.
    fn levels(&self) -> Vec<(u32, u64, u64)> {
        parse_levels(&self.text(c"leveldb.stats").unwrap_or_default())
    }

    /// Moves the iterator to the first entry in the direction of the scan. For a backward scan, this is the last key
    /// before `scan.high`.
    fn seek(&self, iterator: Object, scan: &Scan<'_>) {
        // SAFETY: The iterator is alive, and the keys live through the calls.
        unsafe {
            match (scan.direction, scan.high) {
                (Direction::Forward, _) => {
                    (self.api.iter_seek)(iterator, scan.low.as_ptr().cast(), scan.low.len());
                }
                (Direction::Backward, None) => (self.api.iter_seek_to_last)(iterator),
                (Direction::Backward, Some(high)) => {
                    // Moves to the first key after the scan, and one back.
                    (self.api.iter_seek)(iterator, high.as_ptr().cast(), high.len());
                    match (self.api.iter_valid)(iterator) {
                        0 => (self.api.iter_seek_to_last)(iterator),
                        _ => (self.api.iter_prev)(iterator),
                    }
                }
            }
        }
    }

    /// Passes entries to `visit`, in the direction of the scan, from the current entry of the iterator to the end of
    /// the key range. Stops after `scan.limit` entries. Returns the number of passed entries.
    fn walk(&self, iterator: Object, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> usize {
        let mut entries = 0;
        while entries < scan.limit {
            let (mut key_bytes, mut value_bytes) = (0, 0);
            // SAFETY: The iterator is alive. While it is valid, its key and value stay in place until it moves.
            unsafe {
                if (self.api.iter_valid)(iterator) == 0 {
                    break;
                }
                let key = bytes_at((self.api.iter_key)(iterator, &raw mut key_bytes), key_bytes);
                let is_beyond = match scan.direction {
                    Direction::Forward => scan.high.is_some_and(|high| key >= high),
                    Direction::Backward => key < scan.low,
                };
                if is_beyond {
                    break;
                }
                visit(key, bytes_at((self.api.iter_value)(iterator, &raw mut value_bytes), value_bytes));
                entries += 1;
                match scan.direction {
                    _ if entries == scan.limit => {}
                    Direction::Forward => (self.api.iter_next)(iterator),
                    Direction::Backward => (self.api.iter_prev)(iterator),
                }
            }
        }
        entries
    }
}

impl Api {
    /// Calls a C function that reports an error through a message pointer.
    ///
    /// # Errors
    /// The library returned a message. The error contains the message.
    fn fallible<T>(&self, call: impl FnOnce(Message) -> T) -> Result<T, TargetError> {
        let mut message = null_mut();
        let result = call(&raw mut message);
        // SAFETY: A message, if any, is NUL-terminated and is ours to free.
        match unsafe { self.take_text(message) } {
            None => Ok(result),
            Some(text) => Err(text.into()),
        }
    }

    /// Copies a text that the library allocated, and frees it. Returns `None` for a null pointer.
    ///
    /// # Safety
    /// `text` must be null, or a NUL-terminated text that the caller owns. The text must not be used afterwards.
    unsafe fn take_text(&self, text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        // SAFETY: The caller guarantees it.
        unsafe {
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            (self.free)(text.cast());
            Some(copy)
        }
    }
}

impl Target for LevelDbStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        let (key, key_bytes) = (key.as_ptr().cast(), key.len());
        let (value, value_bytes) = (value.as_ptr().cast(), value.len());
        // SAFETY: Key and value live through the call.
        self.api.fallible(|message| unsafe {
            (self.api.put)(self.db, self.write, key, key_bytes, value, value_bytes, message);
        })
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let mut bytes = 0;
        // SAFETY: The key lives through the call; the value, if any, is ours and freed after it is copied.
        unsafe {
            let found = self.api.fallible(|message| {
                (self.api.get)(self.db, self.read, key.as_ptr().cast(), key.len(), &raw mut bytes, message)
            })?;
            if found.is_null() {
                return Ok(false);
            }
            value.extend_from_slice(bytes_at(found, bytes));
            (self.api.free)(found.cast());
        }
        Ok(true)
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        // SAFETY: The key lives through the call.
        self.api.fallible(|message| unsafe {
            (self.api.delete)(self.db, self.write, key.as_ptr().cast(), key.len(), message);
        })
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        if scan.limit == 0 || scan.high.is_some_and(|high| high <= scan.low) {
            return Ok(0);
        }
        // SAFETY: The iterator is destroyed after the scan.
        unsafe {
            let iterator = (self.api.create_iterator)(self.db, self.read);
            self.seek(iterator, scan);
            let entries = self.walk(iterator, scan, visit);
            let walked = self.api.fallible(|message| (self.api.iter_get_error)(iterator, message));
            (self.api.iter_destroy)(iterator);
            walked.map(|()| entries)
        }
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        Write::only_puts_and_deletes(writes)?;
        // SAFETY: The batch copies keys and values, and is destroyed whether the write succeeds or fails.
        unsafe {
            let batch = (self.api.writebatch_create)();
            for write in writes {
                match write {
                    Write::Put { key, value } => {
                        let (value, bytes) = (value.as_ptr().cast(), value.len());
                        (self.api.writebatch_put)(batch, key.as_ptr().cast(), key.len(), value, bytes);
                    }
                    Write::Delete { key } => {
                        (self.api.writebatch_delete)(batch, key.as_ptr().cast(), key.len());
                    }
                    _ => {} // rejected above
                }
            }
            let written = self.api.fallible(|message| (self.api.write)(self.db, self.write, batch, message));
            (self.api.writebatch_destroy)(batch);
            written
        }
    }

    fn flush(&self) -> Result<(), TargetError> {
        let (key, bytes) = (BEHIND_ALL.as_ptr().cast(), BEHIND_ALL.len());
        // SAFETY: The keys live through the call.
        unsafe { (self.api.compact_range)(self.db, key, bytes, key, bytes) };
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        if let Some(wait) = self.api.settle {
            // SAFETY: The store is open.
            return self.api.fallible(|message| unsafe { wait(self.db, message) });
        }
        settle::until_idle(settle::UNSEEN, || {
            let levels = self.levels();
            (levels.iter().any(is_due), self.text(c"leveldb.stats"))
        });
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        // A synced write of an empty batch also syncs all earlier records of the WAL.
        // SAFETY: Each object is destroyed once.
        unsafe {
            let (options, batch) = ((self.api.writeoptions_create)(), (self.api.writebatch_create)());
            (self.api.writeoptions_set_sync)(options, 1);
            let synced = self.api.fallible(|message| (self.api.write)(self.db, options, batch, message));
            (self.api.writebatch_destroy)(batch);
            (self.api.writeoptions_destroy)(options);
            synced
        }
    }
}

impl Store for LevelDbStore {
    fn version(&self) -> Option<String> {
        // SAFETY: The functions take no arguments and change nothing.
        let (major, minor) = unsafe { ((self.api.major_version)(), (self.api.minor_version)()) };
        Some(format!("{major}.{minor}"))
    }

    fn settle_margin(&self) -> Duration {
        // If the library has the function `leveldb_settle`, this function returns when the background work has ended.
        if self.api.settle.is_some() { Duration::ZERO } else { settle::margin(settle::UNSEEN) }
    }

    fn stats(&self) -> EngineStats {
        let (mut stats, levels) = (EngineStats::default(), self.levels());
        let runs: u64 = levels.iter().map(|(level, files, _)| if *level == 0 { *files } else { 1 }).sum();
        stats.whole.gauge(&c::LEVELS, levels.len()).gauge(&c::RUNS, runs);
        stats
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        // SAFETY: A null bound means no bound.
        unsafe { (self.api.compact_range)(self.db, null(), 0, null(), 0) };
        Some(Ok(()))
    }
}

/// Returns whether a level needs a compaction, from its number, its number of files, and its size in megabytes.
fn is_due((level, files, megabytes): &(u32, u64, u64)) -> bool {
    match level {
        0 => *files >= LEVEL0_FILES,
        _ => *megabytes > LEVEL1_MEGABYTES.saturating_mul(10u64.saturating_pow(level - 1)),
    }
}

/// Parses the table of levels in `leveldb.stats`. Returns the number, the number of files, and the size in megabytes of
/// each level.
fn parse_levels(text: &str) -> Vec<(u32, u64, u64)> {
    let level = |line: &str| {
        let mut words = line.split_whitespace();
        let level = words.next()?.parse().ok()?;
        let (files, megabytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        (files > 0).then_some((level, files, megabytes))
    };
    text.lines().filter_map(level).collect()
}

impl Drop for LevelDbStore {
    fn drop(&mut self) {
        // SAFETY: Each object is destroyed once, after the last call that uses it; those that were never created are
        // null.
        unsafe {
            if !self.db.is_null() {
                (self.api.close)(self.db);
            }
            (self.api.readoptions_destroy)(self.read);
            (self.api.writeoptions_destroy)(self.write);
            (self.api.options_destroy)(self.options);
            (self.api.cache_destroy)(self.cache);
            if !self.filter.is_null() {
                (self.api.filterpolicy_destroy)(self.filter);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_and_those_that_are_full_are_due() {
        let text = "                               Compactions\nLevel  Files Size(MB) Time(sec) Read(MB) Write(MB)\n\
                    --------------------------------------------------\n  0        4        9         0        0         9\n\
                    \x20 1        5       10         0       20        20\n  2        0        0         1        2         3\n\
                    \x20 3       60     1001         1        2         3\n";
        let levels = parse_levels(text);
        assert_eq!(levels, [(0, 4, 9), (1, 5, 10), (3, 60, 1001)]);
        let due: Vec<u32> = levels.iter().filter(|level| is_due(level)).map(|level| level.0).collect();
        assert_eq!(due, [0, 3]);
    }
}
