//! A decorator that counts storage calls, separately for each purpose of a file.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use types::Bytes;

use crate::storage::{DeviceTime, Purpose, ReadFile, Storage, StorageError, WriteFile};

/// A storage decorator that forwards every call to another storage, and counts the calls that succeed.
pub struct Counting {
    inner: Arc<dyn Storage>,
    counters: [Arc<Counters>; Purpose::ALL.len()],
}

/// The numbers of storage calls and bytes, separately for each purpose of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    by_purpose: [PurposeCounts; Purpose::ALL.len()],
}

/// The numbers of successful calls on files with one purpose, such as SSTables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurposeCounts {
    /// The number of reads that succeeded.
    pub reads: u64,
    /// The number of bytes that reads returned.
    pub bytes_read: u64,
    /// The number of appends that succeeded.
    pub appends: u64,
    /// The number of appended bytes.
    pub bytes_written: u64,
    /// The number of file syncs that succeeded.
    pub syncs: u64,
}

impl FileCounts {
    /// Returns the numbers of storage calls on files with the purpose `purpose`.
    pub fn of(&self, purpose: Purpose) -> PurposeCounts {
        self.by_purpose[purpose as usize]
    }

    /// Returns the numbers of storage calls on files of all purposes together.
    pub fn total(&self) -> PurposeCounts {
        self.by_purpose.iter().fold(PurposeCounts::default(), |sum, counts| PurposeCounts {
            reads: sum.reads + counts.reads,
            bytes_read: sum.bytes_read + counts.bytes_read,
            appends: sum.appends + counts.appends,
            bytes_written: sum.bytes_written + counts.bytes_written,
            syncs: sum.syncs + counts.syncs,
        })
    }
}

impl Counting {
    /// Creates a decorator that counts the calls of the storage `inner`.
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, counters: Default::default() }
    }

    /// Returns the numbers of storage calls so far. If another thread makes a call at the same time, the result may
    /// include only some of the effects of this call.
    pub fn counts(&self) -> FileCounts {
        FileCounts { by_purpose: self.counters.each_ref().map(|counters| counters.snapshot()) }
    }

    fn counters(&self, purpose: Purpose) -> Arc<Counters> {
        Arc::clone(&self.counters[purpose as usize])
    }
}

impl Storage for Counting {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        let inner = self.inner.create(path, purpose)?;
        Ok(Box::new(CountingWriter { inner, counters: self.counters(purpose) }))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        let inner = self.inner.open(path, purpose)?;
        Ok(Arc::new(CountingFile { inner, counters: self.counters(purpose) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.inner.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        self.inner.remove(path)
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError> {
        self.inner.hard_link(existing, new)
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError> {
        self.inner.list(directory)
    }

    fn create_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.inner.create_directory(directory)
    }

    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.inner.sync_directory(directory)
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        self.inner.lock(path)
    }

    fn set_waiting(&self, is_waiting: bool) {
        self.inner.set_waiting(is_waiting);
    }

    fn device_time(&self) -> Option<DeviceTime> {
        self.inner.device_time()
    }
}

/// The counters of the calls on files with one purpose. Reads and writes have their counters in different cache lines,
/// so that readers and writers do not slow each other down.
#[derive(Default)]
struct Counters {
    read: Calls,
    written: Calls,
    syncs: AtomicU64,
}

/// A counter of calls and their bytes. The type is aligned to two cache lines, because CPUs fetch cache lines in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Calls {
    calls: AtomicU64,
    bytes: AtomicU64,
}

impl Calls {
    fn add(&self, bytes: usize) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Counters {
    fn snapshot(&self) -> PurposeCounts {
        PurposeCounts {
            reads: self.read.calls.load(Ordering::Relaxed),
            bytes_read: self.read.bytes.load(Ordering::Relaxed),
            appends: self.written.calls.load(Ordering::Relaxed),
            bytes_written: self.written.bytes.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
        }
    }
}

struct CountingWriter {
    inner: Box<dyn WriteFile>,
    counters: Arc<Counters>,
}

impl WriteFile for CountingWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.inner.append(bytes)?;
        self.counters.written.add(bytes.len());
        Ok(())
    }

    fn reserve(&mut self, bytes: u64) {
        self.inner.reserve(bytes);
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.inner.sync()?;
        self.counters.syncs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }
}

struct CountingFile {
    inner: Arc<dyn ReadFile>,
    counters: Arc<Counters>,
}

impl ReadFile for CountingFile {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        let bytes = self.inner.read(offset, len)?;
        self.counters.read.add(len);
        Ok(bytes)
    }

    fn read_many(&self, parts: &[(u64, usize)]) -> Vec<Result<Bytes, StorageError>> {
        let answers = self.inner.read_many(parts);
        answers.iter().flatten().for_each(|bytes| self.counters.read.add(bytes.len()));
        answers
    }

    fn queue_depth(&self) -> usize {
        self.inner.queue_depth()
    }

    fn mapped(&self) -> Option<&[u8]> {
        self.inner.mapped()
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    #[test]
    fn calls_are_counted_by_purpose_where_they_succeed() {
        let storage = Counting::new(Arc::new(Memory::default()));
        let (table, log) = (Path::new("table"), Path::new("log"));
        let mut writer = storage.create(table, Purpose::Table).unwrap();
        writer.append(&[0; 100]).unwrap();
        writer.append(&[0; 20]).unwrap();
        writer.sync().unwrap();
        storage.create(log, Purpose::Log).unwrap().append(&[0; 7]).unwrap();
        let reader = storage.open(table, Purpose::Table).unwrap();
        reader.read(10, 30).unwrap();
        assert!(reader.read(100, 21).is_err());
        assert_eq!(reader.read_many(&[(0, 5), (100, 21), (7, 0)]).iter().flatten().count(), 2);
        let counts = storage.counts();
        let tables = PurposeCounts { reads: 3, bytes_read: 35, appends: 2, bytes_written: 120, syncs: 1 };
        assert_eq!(counts.of(Purpose::Table), tables);
        let logs = PurposeCounts { appends: 1, bytes_written: 7, ..PurposeCounts::default() };
        assert_eq!(counts.of(Purpose::Log), logs);
        assert_eq!(counts.of(Purpose::Manifest), PurposeCounts::default());
        assert_eq!(counts.total(), PurposeCounts { appends: 3, bytes_written: 127, ..tables });
    }
}
