//! A decorator that fails chosen calls, for tests that ask what a store makes of every error it can meet.
//!
//! Every call has a position, counted from 0. A test runs a task once without faults, looks at
//! [`Faulty::calls`], and then runs it again for each position at which it wants a fault: an error at every
//! write and every sync is a loop. That needs a task that makes the same calls each time.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::io::Errno;
use types::Bytes;

use crate::fuse::Fuse;
use crate::storage::{DeviceTime, Purpose, ReadFile, Storage, StorageError, WriteFile};

/// Hands every call through, except for those that a fault hits.
pub struct Faulty {
    inner: Arc<dyn Storage>,
    script: Arc<Script>,
}

/// A call that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What was asked.
    pub operation: Operation,
    /// The file or directory it was asked of; the old name of a rename, the new one of a link.
    pub path: Arc<Path>,
    /// What the file is for, where the call says so.
    pub purpose: Option<Purpose>,
    /// The bytes to be read or appended; 0 for other calls.
    pub bytes: usize,
}

/// What storage can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// [`Storage::create`].
    Create,
    /// [`Storage::open`].
    Open,
    /// [`Storage::rename`].
    Rename,
    /// [`Storage::remove`].
    Remove,
    /// [`Storage::hard_link`].
    HardLink,
    /// [`Storage::list`].
    List,
    /// [`Storage::create_directory`].
    CreateDirectory,
    /// [`Storage::sync_directory`].
    SyncDirectory,
    /// [`Storage::lock`].
    Lock,
    /// [`WriteFile::append`].
    Append,
    /// [`WriteFile::sync`].
    Sync,
    /// [`ReadFile::read`].
    Read,
}

impl Operation {
    /// Whether the call changes what is stored or makes it durable.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Open | Self::List | Self::Lock | Self::Read)
    }

    /// Whether the call can find the disk full.
    pub fn takes_space(self) -> bool {
        self.writes() && self != Self::Remove
    }

    /// The verb of its errors.
    fn verb(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Open => "open",
            Self::Rename => "rename",
            Self::Remove => "remove",
            Self::HardLink => "link",
            Self::List => "list",
            Self::CreateDirectory => "create directory",
            Self::SyncDirectory => "sync directory",
            Self::Lock => "lock",
            Self::Append => "append to",
            Self::Sync => "sync",
            Self::Read => "read",
        }
    }
}

/// A fault to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The position of the first call that it may hit.
    pub at: usize,
    /// How many calls it hits.
    pub extent: Extent,
    /// What is reported.
    pub error: DiskError,
    /// What the call does all the same.
    pub effect: Effect,
}

/// How many calls a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The one at its position.
    Once,
    /// That one and all that follow: the disk is gone.
    Onwards,
}

/// What a call that fails reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskError {
    /// The device failed: `EIO`. It hits every call.
    Io,
    /// The device is full: `ENOSPC`. It hits the calls that take space.
    NoSpace,
    /// The file system went read-only after an error: `EROFS`. It hits the calls that write.
    ReadOnly,
    /// A signal interrupted the call: `EINTR`. Back ends begin reads, writes, syncs and opens again by
    /// themselves, so that a store meets it only where the system says so of a call that is not begun again:
    /// it is an error like any other. It hits every call.
    Interrupted,
    /// Fewer bytes were read or written than asked for, and asking again gave none: kind
    /// [`io::ErrorKind::UnexpectedEof`] or [`io::ErrorKind::WriteZero`]. It hits reads and appends.
    Short,
}

impl DiskError {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Io, Self::NoSpace, Self::ReadOnly, Self::Interrupted, Self::Short];

    /// Whether a call of this kind can report it.
    pub fn hits(self, operation: Operation) -> bool {
        match self {
            Self::Io | Self::Interrupted => true,
            Self::NoSpace => operation.takes_space(),
            Self::ReadOnly => operation.writes(),
            Self::Short => matches!(operation, Operation::Read | Operation::Append),
        }
    }

    /// What a call of this kind reports.
    pub fn reported_by(self, operation: Operation) -> io::Error {
        match self {
            Self::Io => Errno::IO.into(),
            Self::NoSpace => Errno::NOSPC.into(),
            Self::ReadOnly => Errno::ROFS.into(),
            Self::Interrupted => Errno::INTR.into(),
            Self::Short if operation == Operation::Append => io::ErrorKind::WriteZero.into(),
            Self::Short => io::ErrorKind::UnexpectedEof.into(),
        }
    }
}

/// What a call that fails does all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Nothing,
    /// An append adds its first bytes, this many of them; other calls do nothing.
    Prefix(usize),
    /// All that was asked: the error came too late.
    Whole,
}

impl Faulty {
    /// Decorates `inner`; nothing fails before a fault is put in.
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, script: Arc::default() }
    }

    /// Puts in a fault. Where several hit one call, the first one put in counts.
    pub fn inject(&self, fault: Fault) {
        self.script.state.lock().faults.push(fault);
    }

    /// Takes out all faults: the disk is well again.
    pub fn heal(&self) {
        self.script.state.lock().faults.clear();
    }

    /// The calls made so far, those that failed included, in their order; the index is the position.
    pub fn calls(&self) -> Vec<Call> {
        self.script.state.lock().calls.clone()
    }

    /// The number of calls that a fault has hit.
    pub fn hits(&self) -> usize {
        self.script.state.lock().failed.len()
    }

    /// The calls that a fault has hit, in their order.
    pub fn failed(&self) -> Vec<Call> {
        let state = self.script.state.lock();
        state.failed.iter().map(|position| state.calls[*position].clone()).collect()
    }

    fn call<R>(
        &self,
        operation: Operation,
        path: &Path,
        purpose: Option<Purpose>,
        inner: impl FnOnce() -> Result<R, StorageError>,
    ) -> Result<R, StorageError> {
        let call = Call { operation, path: path.into(), purpose, bytes: 0 };
        let Some(fault) = self.script.enter(call) else { return inner() };
        if fault.effect == Effect::Whole {
            inner()?;
        }
        Err(StorageError::new(operation.verb(), path, fault.error.reported_by(operation)))
    }
}

impl Storage for Faulty {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        let create = || self.inner.create(path, purpose);
        let inner = self.call(Operation::Create, path, Some(purpose), create)?;
        let file = File { path: path.into(), purpose, script: Arc::clone(&self.script) };
        Ok(Box::new(FaultyWriter { inner, file, fuse: Fuse::new(path), len: 0 }))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        let inner = self.call(Operation::Open, path, Some(purpose), || self.inner.open(path, purpose))?;
        let file = File { path: path.into(), purpose, script: Arc::clone(&self.script) };
        Ok(Arc::new(FaultyFile { inner, file }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.call(Operation::Rename, from, None, || self.inner.rename(from, to))
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        self.call(Operation::Remove, path, None, || self.inner.remove(path))
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError> {
        self.call(Operation::HardLink, new, None, || self.inner.hard_link(existing, new))
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError> {
        self.call(Operation::List, directory, None, || self.inner.list(directory))
    }

    fn create_directory(&self, directory: &Path) -> Result<(), StorageError> {
        let create = || self.inner.create_directory(directory);
        self.call(Operation::CreateDirectory, directory, None, create)
    }

    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.call(Operation::SyncDirectory, directory, None, || self.inner.sync_directory(directory))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        self.call(Operation::Lock, path, None, || self.inner.lock(path))
    }

    fn set_waiting(&self, is_waiting: bool) {
        self.inner.set_waiting(is_waiting);
    }

    fn device_time(&self) -> Option<DeviceTime> {
        self.inner.device_time()
    }
}

/// What was called, and what is to fail.
#[derive(Default)]
struct Script {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    faults: Vec<Fault>,
    /// The positions of the calls that failed.
    failed: Vec<usize>,
}

impl Script {
    /// Notes a call and says which fault hits it.
    fn enter(&self, call: Call) -> Option<Fault> {
        let mut state = self.state.lock();
        let (position, operation) = (state.calls.len(), call.operation);
        state.calls.push(call);
        let hits = |fault: &&Fault| {
            let reached = match fault.extent {
                Extent::Once => fault.at == position,
                Extent::Onwards => fault.at <= position,
            };
            reached && fault.error.hits(operation)
        };
        let fault = state.faults.iter().find(hits).copied();
        state.failed.extend(fault.map(|_| position));
        fault
    }
}

/// What an open file needs to note its calls.
struct File {
    path: Arc<Path>,
    purpose: Purpose,
    script: Arc<Script>,
}

impl File {
    fn enter(&self, operation: Operation, bytes: usize) -> Option<Fault> {
        let call = Call { operation, path: Arc::clone(&self.path), purpose: Some(self.purpose), bytes };
        self.script.enter(call)
    }
}

struct FaultyWriter {
    inner: Box<dyn WriteFile>,
    file: File,
    fuse: Fuse,
    len: u64,
}

impl WriteFile for FaultyWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        let fault = self.file.enter(Operation::Append, bytes.len());
        let arrive = match fault.map(|fault| fault.effect) {
            Some(Effect::Nothing) => 0,
            Some(Effect::Prefix(len)) => len.min(bytes.len()),
            Some(Effect::Whole) | None => bytes.len(),
        };
        self.fuse.attempt(Operation::Append.verb(), || {
            self.inner.append(&bytes[..arrive]).map_err(|error| error.source)?;
            report(fault, Operation::Append)
        })?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        let fault = self.file.enter(Operation::Sync, 0);
        self.fuse.attempt(Operation::Sync.verb(), || {
            if fault.is_none_or(|fault| fault.effect == Effect::Whole) {
                self.inner.sync().map_err(|error| error.source)?;
            }
            report(fault, Operation::Sync)
        })
    }

    fn len(&self) -> u64 {
        self.len
    }
}

struct FaultyFile {
    inner: Arc<dyn ReadFile>,
    file: File,
}

impl ReadFile for FaultyFile {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        let fault = self.file.enter(Operation::Read, len);
        report(fault, Operation::Read)
            .map_err(|error| StorageError::new(Operation::Read.verb(), &*self.file.path, error))?;
        self.inner.read(offset, len)
    }

    // Parts read together are calls of their own here, so that each of them can fail: `read_many` is left as it
    // is. How many the caller hands over at a time is up to the back end below.
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

fn report(fault: Option<Fault>, operation: Operation) -> io::Result<()> {
    fault.map_or(Ok(()), |fault| Err(fault.error.reported_by(operation)))
}

#[cfg(test)]
mod tests {
    use super::Operation::{Append, Create, Open, Read, Sync, SyncDirectory};
    use super::*;
    use crate::{Memory, Unsynced};

    /// Writes two pieces and reads them back; returns the first error.
    fn task(storage: &dyn Storage) -> Result<Vec<u8>, StorageError> {
        let path = Path::new("file");
        let mut writer = storage.create(path, Purpose::Log)?;
        writer.append(b"first ")?;
        writer.append(b"second")?;
        writer.sync()?;
        storage.sync_directory(Path::new(""))?;
        Ok(storage.open(path, Purpose::Log)?.read(0, 12)?.to_vec())
    }

    fn faulty() -> (Arc<Memory>, Faulty) {
        let memory = Arc::new(Memory::default());
        (Arc::clone(&memory), Faulty::new(memory))
    }

    const EIO: Fault = Fault { at: 0, extent: Extent::Once, error: DiskError::Io, effect: Effect::Nothing };

    #[test]
    fn without_faults_calls_go_through_and_are_noted() {
        let (_, storage) = faulty();
        assert_eq!(task(&storage).unwrap(), b"first second");
        let calls = storage.calls();
        let operations: Vec<Operation> = calls.iter().map(|call| call.operation).collect();
        assert_eq!(operations, [Create, Append, Append, Sync, SyncDirectory, Open, Read]);
        assert_eq!(calls[1].bytes, 6);
        assert_eq!((&*calls[0].path, calls[0].purpose), (Path::new("file"), Some(Purpose::Log)));
        assert_eq!(storage.hits(), 0);
    }

    #[test]
    fn every_position_can_fail_once_or_for_good() {
        for at in 0..7 {
            for extent in [Extent::Once, Extent::Onwards] {
                let (_, storage) = faulty();
                storage.inject(Fault { at, extent, ..EIO });
                let error = task(&storage).unwrap_err();
                let call = storage.calls()[at].clone();
                assert_eq!(error.operation, call.operation.verb());
                assert_eq!(error.source.raw_os_error(), Some(Errno::IO.raw_os_error()));
                assert_eq!(storage.calls().len(), at + 1);
                assert_eq!(task(&storage).is_ok(), extent == Extent::Once);
                storage.heal();
                assert!(task(&storage).is_ok());
            }
        }
    }

    #[test]
    fn calls_that_came_short_say_so_and_other_calls_do_not() {
        let outcome = |at, error| {
            let (_, storage) = faulty();
            storage.inject(Fault { at, error, ..EIO });
            task(&storage).map_err(|error| error.kind())
        };
        assert_eq!(outcome(1, DiskError::Short), Err(io::ErrorKind::WriteZero));
        assert_eq!(outcome(6, DiskError::Short), Err(io::ErrorKind::UnexpectedEof));
        assert!(outcome(3, DiskError::Short).is_ok());
        assert!((0..7).all(|at| outcome(at, DiskError::Interrupted) == Err(io::ErrorKind::Interrupted)));
        let hit = |error: DiskError| (0..7).filter(|at| outcome(*at, error).is_err()).count();
        assert_eq!(DiskError::ALL.map(hit), [7, 5, 5, 7, 3]);
    }

    #[test]
    fn a_full_disk_still_reads_and_a_broken_file_takes_no_more() {
        let (_, storage) = faulty();
        let mut writer = storage.create(Path::new("file"), Purpose::Table).unwrap();
        writer.append(b"there").unwrap();
        storage.inject(Fault { at: 2, extent: Extent::Onwards, error: DiskError::NoSpace, ..EIO });
        assert_eq!(writer.append(b"not").unwrap_err().kind(), io::ErrorKind::StorageFull);
        let reader = storage.open(Path::new("file"), Purpose::Table).unwrap();
        assert_eq!(&*reader.read(0, 5).unwrap(), b"there");
        storage.heal();
        assert!(writer.append(b"still not").is_err());
        assert!(writer.sync().is_err());
        assert_eq!((writer.len(), storage.hits()), (5, 1));
        assert_eq!(storage.failed(), storage.calls()[2..3]);
        storage.remove(Path::new("file")).unwrap();
    }

    #[test]
    fn a_call_that_fails_can_have_had_its_effect() {
        for (effect, arrived) in [(Effect::Nothing, 0), (Effect::Prefix(4), 4), (Effect::Whole, 6)] {
            let (memory, storage) = faulty();
            storage.inject(Fault { at: 1, effect, ..EIO });
            task(&storage).unwrap_err();
            let reader = memory.open(Path::new("file"), Purpose::Log).unwrap();
            assert_eq!(&*reader.read(0, arrived).unwrap(), &b"first "[..arrived]);
            assert_eq!(reader.len(), arrived as u64);
        }
        let (memory, storage) = faulty();
        storage.inject(Fault { at: 4, effect: Effect::Whole, ..EIO });
        task(&storage).unwrap_err();
        assert!(memory.after_crash(Unsynced::Dropped).open(Path::new("file"), Purpose::Log).is_ok());
    }
}
