//! Implements a store of `RocksDB` through its C interface.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_uchar};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::time::Duration;

use results::{columns as c, counters as n};
use types::{Direction, MergeOperator};
use workload::{Scan, Target, TargetError, Write, get_one_by_one};

use super::api::{Api, BatchedMultiGet, GetIntoBuffer, Object};
use super::merge_operator;
use super::source::LibrarySource;
use crate::options::{EngineOptions, Log};
use crate::stats::EngineStats;
use crate::store::Store;
use crate::symbols::{Loaded, bytes_at};

/// The statistics level that counts events, but measures no times and has no histograms:
/// `StatsLevel::kExceptHistogramOrTimers`.
const COUNTERS_ALONE: c_int = 1;

/// The initial capacity of a buffer for values, in bytes. It is large enough to read most values with one call.
const VALUE_BYTES: usize = 1024;

/// The interval between two checks whether background work is running.
const SETTLE_PERIOD: Duration = Duration::from_millis(1);

/// The number of consecutive checks that must find no background work before the background work counts as finished.
/// One check is not enough, because no work runs between the end of a flush and the start of a due compaction.
const IDLE_LOOKS: u32 = 2;

/// The number of consecutive checks that must find no running work while a compaction is reported as pending. Universal
/// compaction may report a pending compaction although it has nothing to compact.
const IDLE_LOOKS_WHILE_PENDING: u32 = 50;

/// The properties of the library that are all 0 when no background work is running or due.
const BUSY: [&CStr; 4] = [
    c"rocksdb.num-immutable-mem-table",
    c"rocksdb.mem-table-flush-pending",
    c"rocksdb.num-running-flushes",
    c"rocksdb.num-running-compactions",
];

/// The settings with which a store is opened.
pub(super) struct Setup<'a> {
    /// The options, in the syntax of options files.
    pub(super) options: String,
    pub(super) log: Log,
    /// The merge operator of the design.
    pub(super) merge_operator: Option<MergeOperator>,
    pub(super) statistics: bool,
    /// Whether gets and scans verify the checksum of each block that is not in the block cache.
    pub(super) verify_checksums: bool,
    /// The version of the library, if known.
    pub(super) version: Option<String>,
    /// The settings of the block cache and of SSTables if the cache is a `HyperClockCache`. Options files cannot set
    /// this cache.
    pub(super) hyper_clock: Option<&'a EngineOptions>,
}

/// Returns the functions of a library, and a handle that keeps a shared library loaded.
fn functions(source: &LibrarySource) -> Result<(Api, Option<Loaded>), TargetError> {
    match source {
        LibrarySource::File(path) => {
            let library = Loaded::open(path)?;
            // SAFETY: The signatures are those of `rocksdb/c.h`; for the functions called here they are the same from
            // version 5.18 to 11.8.
            let api = unsafe { Api::of(&library) }?;
            Ok((api, Some(library)))
        }
        #[cfg(any(feature = "rocksdb", feature = "speedb"))]
        LibrarySource::Program => Ok((Api::linked(), None)),
    }
}

/// A store of `RocksDB`.
pub(super) struct RocksDbStore {
    api: Api,
    db: Object,
    options: Object,
    read: Object,
    write: Object,
    /// The default column family, for functions that need a column family. `None` if the version has no such functions.
    family: Option<Object>,
    log: Log,
    /// Whether the store has a merge operator.
    merges: bool,
    statistics: bool,
    verify_checksums: bool,
    directory: PathBuf,
    /// The version of the library, if known.
    library_version: Option<String>,
    /// Handle that keeps the library loaded. `None` if the functions are linked into this program.
    _library: Option<Loaded>,
}

// SAFETY: A database, and read and write options that no thread changes, may be used from many threads at once
// (`include/rocksdb/db.h`: "a DB is safe for concurrent access from multiple threads without any external
// synchronization"). The options object is only read, by `options_statistics_get_string`, of a thread-safe
// `Statistics`.
unsafe impl Send for RocksDbStore {}
// SAFETY: As above.
unsafe impl Sync for RocksDbStore {}

impl RocksDbStore {
    /// Opens the store in `directory`.
    pub(super) fn open(
        source: &LibrarySource,
        directory: &Path,
        setup: &Setup<'_>,
    ) -> Result<Self, TargetError> {
        let (api, library) = functions(source)?;
        let text = CString::new(setup.options.as_str())?;
        let path = CString::new(directory.to_string_lossy().into_owned())?;
        // SAFETY: Objects are created, used and destroyed as the header requires; strings are NUL-terminated and live
        // through the calls. `options` does not refer to `base`, so `base` can be destroyed first.
        unsafe {
            let (base, options) = ((api.options_create)(), (api.options_create)());
            let read_options = api.fallible(|message| {
                (api.get_options_from_string)(base, text.as_ptr(), options, message);
            });
            (api.options_destroy)(base);
            if setup.statistics {
                (api.options_enable_statistics)(options);
                if let Some(set_level) = api.options_set_statistics_level {
                    set_level(options, COUNTERS_ALONE);
                }
            }
            let read_options = read_options.and_then(|()| match setup.hyper_clock {
                Some(settings) => api.set_hyper_clock(options, settings),
                None => Ok(()),
            });
            if let Some(operator) = setup.merge_operator {
                (api.options_set_merge_operator)(options, merge_operator::create(&api, operator));
            }
            let opened = read_options
                .and_then(|()| api.fallible(|message| (api.open)(options, path.as_ptr(), message)));
            let db = opened.inspect_err(|_| (api.options_destroy)(options))?;
            let (read, write) = (api.read_options(setup.verify_checksums), (api.writeoptions_create)());
            (api.writeoptions_disable_WAL)(write, c_int::from(setup.log == Log::None));
            (api.writeoptions_set_sync)(write, c_uchar::from(setup.log == Log::Sync));
            Ok(Self {
                api,
                db,
                options,
                read,
                write,
                family: api.get_default_column_family_handle.map(|family| family(db)),
                log: setup.log,
                merges: setup.merge_operator.is_some(),
                statistics: setup.statistics,
                verify_checksums: setup.verify_checksums,
                directory: directory.to_owned(),
                library_version: setup.version.clone(),
                _library: library,
            })
        }
    }

    /// Returns the value of a numeric property, or `None` if this version has no property with this name.
    fn number(&self, name: &CStr) -> Option<u64> {
        let mut number = 0;
        // SAFETY: The name is NUL-terminated, and the number is written to before the call returns.
        let failed = unsafe { (self.api.property_int)(self.db, name.as_ptr(), &raw mut number) };
        (failed == 0).then_some(number)
    }

    /// Returns the text of a property. `None` if this version has no property with this name.
    fn text(&self, name: &CStr) -> Option<String> {
        // SAFETY: The name is NUL-terminated; the returned text is too, and is ours to free.
        unsafe {
            let text = (self.api.property_value)(self.db, name.as_ptr());
            self.api.take_text(text)
        }
    }

    /// Returns the counters of the library, each with its name. Empty if the library does not count events.
    fn tickers(&self) -> Vec<(String, u64)> {
        if !self.statistics {
            return Vec::new();
        }
        // SAFETY: The store was opened with these options; the text is ours to free.
        let text = unsafe { self.api.take_text((self.api.options_statistics_get_string)(self.options)) };
        parse_tickers(&text.unwrap_or_default())
    }

    /// Appends the value of a key to `value`. Returns whether the key exists. `get` is the function that writes into a
    /// buffer of the caller.
    fn get_into(&self, get: GetIntoBuffer, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        value.reserve(VALUE_BYTES);
        loop {
            let room = value.spare_capacity_mut();
            let (mut bytes, mut found) = (0, 0);
            // SAFETY: The library writes at most the given number of bytes, and returns the length of the value.
            let fits = self.api.fallible(|message| unsafe {
                get(
                    self.db,
                    self.read,
                    key.as_ptr().cast(),
                    key.len(),
                    room.as_mut_ptr().cast(),
                    room.len(),
                    &raw mut bytes,
                    &raw mut found,
                    message,
                )
            })?;
            if found == 0 {
                return Ok(false);
            }
            if fits == 1 {
                // SAFETY: The value fits, so that all its bytes are written after the previous length.
                unsafe { value.set_len(value.len() + bytes) };
                return Ok(true);
            }
            value.reserve(bytes);
        }
    }

    /// Returns an iterator for a scan. Its read options contain the end of the key range in the direction of the scan.
    fn iterator(&self, scan: &Scan<'_>) -> Iterator<'_> {
        let forward = scan.direction == Direction::Forward;
        let bound = if forward { scan.high } else { Some(scan.low).filter(|low| !low.is_empty()) };
        let set: Option<unsafe extern "C" fn(Object, *const c_char, usize)> = match forward {
            true => Some(self.api.readoptions_set_iterate_upper_bound),
            false => self.api.readoptions_set_iterate_lower_bound,
        };
        let own = bound.zip(set).map(|(bound, set)| {
            // SAFETY: The bound lives as long as the scan, which outlives the iterator; the options are destroyed after
            // it.
            unsafe {
                let options = self.api.read_options(self.verify_checksums);
                set(options, bound.as_ptr().cast(), bound.len());
                options
            }
        });
        // SAFETY: The database and the options are alive.
        let at = unsafe { (self.api.create_iterator)(self.db, own.unwrap_or(self.read)) };
        Iterator { api: &self.api, at, options: own }
    }

    /// Gets the values of many keys with one call of the library, and passes the position and the value of each key to
    /// `visit`.
    fn batched_multi_get(
        &self,
        (get, family): (BatchedMultiGet, Object),
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let starts: Vec<*const c_char> = keys.iter().map(|key| key.as_ptr().cast()).collect();
        let lengths: Vec<usize> = keys.iter().map(|key| key.len()).collect();
        let (mut values, mut messages) = (vec![null_mut(); keys.len()], vec![null_mut(); keys.len()]);
        // SAFETY: All four lists have one place for each key; the library fills the last two.
        unsafe {
            let (values, messages) = (values.as_mut_ptr(), messages.as_mut_ptr());
            get(
                self.db,
                self.read,
                family,
                keys.len(),
                starts.as_ptr(),
                lengths.as_ptr(),
                values,
                messages,
                false,
            );
        }
        let mut outcome = Ok(());
        for (place, (value, message)) in values.into_iter().zip(messages).enumerate() {
            // SAFETY: A place contains a message, or a value where the key was found; each is freed once.
            unsafe {
                if let Some(text) = self.api.take_text(message) {
                    outcome = Err(text.into());
                } else if value.is_null() {
                    visit(place, None);
                } else {
                    visit(place, Some(self.api.pinned(value)));
                }
                if !value.is_null() {
                    (self.api.pinnableslice_destroy)(value);
                }
            }
        }
        outcome
    }
}

/// An iterator of the library, with its own read options if the scan has a bound.
struct Iterator<'a> {
    api: &'a Api,
    at: Object,
    options: Option<Object>,
}

impl Iterator<'_> {
    /// Moves the iterator to the first entry in the direction of the scan. For a backward scan, this is the last key
    /// before `scan.high`.
    fn seek(&self, scan: &Scan<'_>) {
        // SAFETY: The iterator is alive, and the keys live through the calls.
        unsafe {
            match (scan.direction, scan.high) {
                (Direction::Forward, _) => {
                    (self.api.iter_seek)(self.at, scan.low.as_ptr().cast(), scan.low.len());
                }
                (Direction::Backward, None) => (self.api.iter_seek_to_last)(self.at),
                (Direction::Backward, Some(high)) => {
                    (self.api.iter_seek_for_prev)(self.at, high.as_ptr().cast(), high.len());
                    if self.entry().is_some_and(|(key, _)| key == high) {
                        (self.api.iter_prev)(self.at);
                    }
                }
            }
        }
    }

    /// Returns the current key and value. `None` if the iterator is past the end.
    fn entry(&self) -> Option<(&[u8], &[u8])> {
        let (mut key_bytes, mut value_bytes) = (0, 0);
        // SAFETY: Key and value of a valid iterator stay in place until the iterator moves, and moving it ends their
        // borrow.
        unsafe {
            if (self.api.iter_valid)(self.at) == 0 {
                return None;
            }
            let key = (self.api.iter_key)(self.at, &raw mut key_bytes);
            let value = (self.api.iter_value)(self.at, &raw mut value_bytes);
            Some((bytes_at(key, key_bytes), bytes_at(value, value_bytes)))
        }
    }

    /// Moves to the next entry in the given direction. The iterator must be on an entry.
    fn step(&mut self, direction: Direction) {
        // SAFETY: The iterator is valid, as the caller has checked.
        unsafe {
            match direction {
                Direction::Forward => (self.api.iter_next)(self.at),
                Direction::Backward => (self.api.iter_prev)(self.at),
            }
        }
    }
}

impl Drop for Iterator<'_> {
    fn drop(&mut self) {
        // SAFETY: Each object is destroyed once, the iterator before its options.
        unsafe {
            (self.api.iter_destroy)(self.at);
            if let Some(options) = self.options {
                (self.api.readoptions_destroy)(options);
            }
        }
    }
}

impl Target for RocksDbStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        let (key, key_bytes) = (key.as_ptr().cast(), key.len());
        let (value, value_bytes) = (value.as_ptr().cast(), value.len());
        // SAFETY: Key and value live through the call.
        self.api.fallible(|message| unsafe {
            (self.api.put)(self.db, self.write, key, key_bytes, value, value_bytes, message);
        })
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        if let Some(get) = self.api.get_into_buffer {
            return self.get_into(get, key, value);
        }
        // SAFETY: The key lives through the call; the slice is destroyed after its bytes are copied.
        unsafe {
            let slice = self.api.fallible(|message| {
                (self.api.get_pinned)(self.db, self.read, key.as_ptr().cast(), key.len(), message)
            })?;
            if slice.is_null() {
                return Ok(false);
            }
            value.extend_from_slice(self.api.pinned(slice));
            (self.api.pinnableslice_destroy)(slice);
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
        let mut iterator = self.iterator(scan);
        iterator.seek(scan);
        let mut entries = 0;
        while let Some((key, value)) = iterator.entry() {
            let is_beyond = match scan.direction {
                Direction::Forward => scan.high.is_some_and(|high| key >= high),
                Direction::Backward => key < scan.low,
            };
            if is_beyond {
                break;
            }
            visit(key, value);
            entries += 1;
            if entries == scan.limit {
                break;
            }
            iterator.step(scan.direction);
        }
        // SAFETY: The iterator is alive.
        self.api.fallible(|message| unsafe { (self.api.iter_get_error)(iterator.at, message) })?;
        Ok(entries)
    }

    fn merge(&self, key: &[u8], operand: &[u8]) -> Option<Result<(), TargetError>> {
        if !self.merges {
            return None;
        }
        let (start, from) = (key.as_ptr().cast(), operand.as_ptr().cast());
        // SAFETY: Key and operand live through the call, which copies them.
        Some(self.api.fallible(|message| unsafe {
            (self.api.merge)(self.db, self.write, start, key.len(), from, operand.len(), message);
        }))
    }

    fn single_delete(&self, key: &[u8]) -> Option<Result<(), TargetError>> {
        let single_delete = self.api.singledelete?;
        let start = key.as_ptr().cast();
        // SAFETY: The key lives through the call, which copies the key.
        Some(self.api.fallible(|message| unsafe {
            single_delete(self.db, self.write, start, key.len(), message);
        }))
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        // SAFETY: The batch copies both keys, and is destroyed whether the write succeeds or fails.
        Some(unsafe {
            let batch = (self.api.writebatch_create)();
            let (start, end) = (low.as_ptr().cast(), high.as_ptr().cast());
            (self.api.writebatch_delete_range)(batch, start, low.len(), end, high.len());
            let written = self.api.fallible(|message| (self.api.write)(self.db, self.write, batch, message));
            (self.api.writebatch_destroy)(batch);
            written
        })
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        // SAFETY: The batch copies keys and values, and is destroyed whether the write succeeds or fails.
        unsafe {
            let mut refused = None;
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
                    Write::DeleteRange { low, high } => {
                        let (start, end) = (low.as_ptr().cast(), high.as_ptr().cast());
                        (self.api.writebatch_delete_range)(batch, start, low.len(), end, high.len());
                    }
                    Write::SingleDelete { key } => match self.api.writebatch_singledelete {
                        Some(delete) => delete(batch, key.as_ptr().cast(), key.len()),
                        None => refused = Some(write.unsupported()),
                    },
                    Write::Merge { key, operand } => {
                        match self.api.writebatch_merge.filter(|_| self.merges) {
                            Some(merge) => {
                                let (operand, bytes) = (operand.as_ptr().cast(), operand.len());
                                merge(batch, key.as_ptr().cast(), key.len(), operand, bytes);
                            }
                            None => refused = Some(write.unsupported()),
                        }
                    }
                }
            }
            let written = match refused {
                Some(error) => Err(error),
                None => self.api.fallible(|message| (self.api.write)(self.db, self.write, batch, message)),
            };
            (self.api.writebatch_destroy)(batch);
            written
        }
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        match self.api.batched_multi_get_cf.zip(self.family) {
            Some(functions) => self.batched_multi_get(functions, keys, visit),
            None => get_one_by_one(self, keys, visit),
        }
    }

    fn flush(&self) -> Result<(), TargetError> {
        // SAFETY: The options, which wait by default, are destroyed after the call.
        unsafe {
            let options = (self.api.flushoptions_create)();
            let flushed = self.api.fallible(|message| (self.api.flush)(self.db, options, message));
            (self.api.flushoptions_destroy)(options);
            flushed
        }
    }

    fn settle(&self) -> Result<(), TargetError> {
        let mut idle = 0;
        loop {
            let is_busy = BUSY.iter().any(|name| self.number(name).unwrap_or(0) > 0);
            let is_pending = self.number(c"rocksdb.compaction-pending").unwrap_or(0) > 0;
            idle = if is_busy { 0 } else { idle + 1 };
            if idle >= if is_pending { IDLE_LOOKS_WHILE_PENDING } else { IDLE_LOOKS } {
                return Ok(());
            }
            std::thread::sleep(SETTLE_PERIOD);
        }
    }

    fn close(&self) -> Result<(), TargetError> {
        match self.api.flush_wal {
            Some(flush) if self.log != Log::None => {
                // SAFETY: The database is alive.
                self.api.fallible(|message| unsafe { flush(self.db, 1, message) })?;
            }
            _ => self.flush()?,
        }
        if let Some(cancel) = self.api.cancel_all_background_work {
            // SAFETY: The database is alive; the call waits for running background work.
            unsafe { cancel(self.db, 1) };
        }
        Ok(())
    }
}

impl Store for RocksDbStore {
    fn version(&self) -> Option<String> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.directory)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("OPTIONS-"))
            })
            .collect();
        files.sort();
        let text = std::fs::read_to_string(files.last()?).ok()?;
        let value = |key: &str| {
            text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
        };
        let base = value("rocksdb_version")?;
        // Forks of RocksDB have their own version numbers in addition to RocksDB's: in their log, or in the name of
        // their library.
        let in_log = || own_version(&std::fs::read_to_string(self.directory.join("LOG")).ok()?);
        let own = value("speedb_version").or_else(in_log).or_else(|| self.library_version.clone());
        let own = own.filter(|own| *own != base);
        Some(own.map_or_else(|| base.clone(), |own| format!("{own} on RocksDB {base}")))
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        // SAFETY: The database is alive; a null bound means no bound.
        unsafe { (self.api.compact_range)(self.db, null(), 0, null(), 0) };
        // The call returns no error. The engine keeps its first error, and every later write and flush returns this
        // error.
        Some(self.flush())
    }

    fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        let create = self.api.checkpoint_object_create?;
        let (copy, destroy) = self.api.checkpoint_create.zip(self.api.checkpoint_object_destroy)?;
        let checkpoint = || {
            let path = CString::new(directory.as_os_str().as_encoded_bytes())?;
            // SAFETY: The database is alive, the path lives through the call, and the object is destroyed once. The
            // argument 0 is the size of the WAL from which the call flushes the memtables, so it always flushes them.
            unsafe {
                let object = self.api.fallible(|message| create(self.db, message))?;
                let copied = self.api.fallible(|message| copy(object, path.as_ptr(), 0, message));
                destroy(object);
                copied
            }
        };
        Some(checkpoint())
    }

    fn stats(&self) -> EngineStats {
        let tickers = self.tickers();
        let ticker = |name: &str| tickers.iter().find(|(known, _)| known == name).map(|(_, count)| *count);
        let files: Vec<u64> = [c"0", c"1", c"2", c"3", c"4", c"5", c"6"]
            .into_iter()
            .filter_map(|level| {
                let name = [b"rocksdb.num-files-at-level", level.to_bytes()].concat();
                self.text(&CString::new(name).ok()?)?.trim().parse().ok()
            })
            .collect();
        let filled = |levels: &[u64]| levels.iter().filter(|files| **files > 0).count() as u64;
        let table_bytes = self
            .number(c"rocksdb.live-sst-files-size")
            .or_else(|| self.number(c"rocksdb.total-sst-files-size"))
            .map(|bytes| bytes + self.number(c"rocksdb.live-blob-file-size").unwrap_or(0));
        let mut stats = EngineStats::default();
        stats
            .whole
            .counter(&c::WAL_BYTES, ticker("rocksdb.wal.bytes"))
            .counter(&c::FLUSH_BYTES, ticker("rocksdb.flush.write.bytes"))
            .counter(&c::COMPACTION_BYTES_READ, ticker("rocksdb.compact.read.bytes"))
            .counter(&c::COMPACTION_BYTES_WRITTEN, ticker("rocksdb.compact.write.bytes"))
            .counter(&c::BLOCKS_FROM_CACHE, ticker("rocksdb.block.cache.data.hit"))
            .counter(&c::BLOCKS_READ, ticker("rocksdb.block.cache.data.miss"))
            .counter(&n::STALL_NS, ticker("rocksdb.stall.micros").map(|micros| micros * 1000))
            .gauge(&c::TABLE_BYTES, table_bytes)
            .gauge(&c::LEVELS, (!files.is_empty()).then(|| filled(&files)))
            .gauge(&c::RUNS, files.split_first().map(|(level0, rest)| level0 + filled(rest)))
            .gauge(&c::MEMTABLE_BYTES, self.number(c"rocksdb.cur-size-all-mem-tables"))
            .gauge(&c::CACHE_BYTES, self.number(c"rocksdb.block-cache-usage"))
            .gauge(&c::TABLE_MEMORY_BYTES, self.number(c"rocksdb.estimate-table-readers-mem"));
        stats
    }
}

/// Extracts the version that `SpeedB` writes to its log, such as `Speedb version: 2.7.0-? (8.1.1)`. The hyphen is
/// followed by the name of the build, and then by the version of the underlying `RocksDB` in parentheses.
fn own_version(log: &str) -> Option<String> {
    let version = log.split_once("Speedb version: ")?.1;
    let end = version.find(|letter: char| letter != '.' && !letter.is_ascii_digit())?;
    Some(version[..end].to_owned()).filter(|version| !version.is_empty())
}

/// Parses lines such as `rocksdb.wal.bytes COUNT : 12` into the name and the count of each ticker.
fn parse_tickers(text: &str) -> Vec<(String, u64)> {
    let ticker = |line: &str| {
        let (name, count) = line.split_once(" COUNT : ")?;
        Some((name.trim().to_owned(), count.trim().parse().ok()?))
    };
    text.lines().filter_map(ticker).collect()
}

impl Drop for RocksDbStore {
    fn drop(&mut self) {
        // SAFETY: Each object is destroyed once, after the last call that uses it.
        unsafe {
            if let Some(family) = self.family {
                (self.api.column_family_handle_destroy)(family);
            }
            (self.api.close)(self.db);
            (self.api.readoptions_destroy)(self.read);
            (self.api.writeoptions_destroy)(self.write);
            (self.api.options_destroy)(self.options);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_its_own_is_read_from_the_log() {
        let told = "2026/11/22-13:28:08.256340 140209582517120 Speedb version: 2.7.0-? (8.1.1)\n";
        assert_eq!(own_version(told).as_deref(), Some("2.7.0"));
        assert_eq!(own_version("0 RocksDB version: 11.8.1\n"), None);
        assert_eq!(own_version("0 Speedb version: "), None);
    }

    #[test]
    fn counters_are_read_and_histograms_are_not() {
        let text = "rocksdb.wal.bytes COUNT : 12\nrocksdb.db.get.micros P50 : 1.5 COUNT : 7 SUM : 9\n\
                    rocksdb.compact.write.bytes COUNT : 18446744073709551615\n";
        let expected =
            [("rocksdb.wal.bytes".to_owned(), 12), ("rocksdb.compact.write.bytes".to_owned(), u64::MAX)];
        assert_eq!(parse_tickers(text), expected);
    }
}
