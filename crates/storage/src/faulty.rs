//! A decorator that makes selected storage calls fail. Tests use the decorator to check how a store handles errors.
//!
//! Every call has a position, counted from 0. A test first runs a task without faults, and gets the calls of the task
//! from [`Faulty::calls`]. The test then runs the task again for each position, with a fault at this position. This
//! method can test an error at every write and sync. The task must make the same storage calls in each run.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::io::Errno;
use types::Bytes;

use crate::fuse::Fuse;
use crate::storage::{DeviceTime, Purpose, ReadFile, Storage, StorageError, WriteFile};

/// A storage decorator that makes selected calls fail, and forwards all other calls to another storage. Tests use it to
/// check how a store handles errors.
pub struct Faulty {
    inner: Arc<dyn Storage>,
    script: Arc<Script>,
}

/// A storage call that [`Faulty`] has recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The operation of the recorded call.
    pub operation: FileOperation,
    /// The path of the file or directory. For a rename, this is the old name. For a link, this is the new name.
    pub path: Arc<Path>,
    /// The purpose of the file. `None` if calls of this operation have no argument for the purpose.
    pub purpose: Option<Purpose>,
    /// The number of bytes that the call reads or appends, or 0 for other calls.
    pub bytes: usize,
}

/// The operation of a storage call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileOperation {
    /// A call of [`Storage::create`].
    Create,
    /// A call of [`Storage::open`].
    Open,
    /// A call of [`Storage::rename`].
    Rename,
    /// A call of [`Storage::remove`].
    Remove,
    /// A call of [`Storage::hard_link`].
    HardLink,
    /// A call of [`Storage::list`].
    List,
    /// A call of [`Storage::create_directory`].
    CreateDirectory,
    /// A call of [`Storage::sync_directory`].
    SyncDirectory,
    /// A call of [`Storage::lock`].
    Lock,
    /// A call of [`WriteFile::append`].
    Append,
    /// A call of [`WriteFile::sync`].
    Sync,
    /// A call of [`ReadFile::read`].
    Read,
}

impl FileOperation {
    /// Returns whether the operation changes stored data or makes data durable.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Open | Self::List | Self::Lock | Self::Read)
    }

    /// Returns whether the operation can fail because the disk is full.
    pub fn takes_space(self) -> bool {
        self.writes() && self != Self::Remove
    }

    /// Returns the verb that names the operation in error messages, such as `append to`.
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

/// An error that a test injects into later calls of the storage decorator [`Faulty`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InjectedFault {
    /// The position of the first call to which the fault may apply. Calls are counted from 0.
    pub at: usize,
    /// The number of failing calls: only one call, or also all later calls.
    pub extent: FaultExtent,
    /// The error that a failing call returns.
    pub error: DiskError,
    /// The effect of a failing call on the storage.
    pub effect: FaultEffect,
}

/// The number of calls that an injected fault makes fail. A fault never applies to a call that cannot return its error.
/// For example, a read cannot report a full disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultExtent {
    /// Only the call at the position of the fault fails. If this call cannot return the error, no call fails.
    Once,
    /// Each call from the position of the fault on fails if it can return the error. A lost disk has this behavior.
    Onwards,
}

/// The error that a call returns because of an injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskError {
    /// The device failed (`EIO`). Every call can return this error.
    Io,
    /// The device is full (`ENOSPC`). Only calls that allocate space can return this error.
    NoSpace,
    /// The file system became read-only after an error (`EROFS`). Only calls that write can return this error.
    ReadOnly,
    /// A signal interrupted the call (`EINTR`). Every call can return this error. Back ends retry reads, writes, syncs
    /// and opens, so a store gets `EINTR` only from other calls, and must handle it like any other error.
    Interrupted,
    /// A call reads or writes fewer bytes than requested, and its retry returns 0. The error has the kind
    /// [`io::ErrorKind::UnexpectedEof`] or [`io::ErrorKind::WriteZero`]. Only reads and appends can return this error.
    Short,
}

impl DiskError {
    /// All errors that an injected fault can cause.
    pub const ALL: [Self; 5] = [Self::Io, Self::NoSpace, Self::ReadOnly, Self::Interrupted, Self::Short];

    /// Returns whether a call of `operation` can return this error.
    pub fn hits(self, operation: FileOperation) -> bool {
        match self {
            Self::Io | Self::Interrupted => true,
            Self::NoSpace => operation.takes_space(),
            Self::ReadOnly => operation.writes(),
            Self::Short => matches!(operation, FileOperation::Read | FileOperation::Append),
        }
    }

    /// Returns the error of the operating system with which a call of `operation` fails.
    pub fn reported_by(self, operation: FileOperation) -> io::Error {
        match self {
            Self::Io => Errno::IO.into(),
            Self::NoSpace => Errno::NOSPC.into(),
            Self::ReadOnly => Errno::ROFS.into(),
            Self::Interrupted => Errno::INTR.into(),
            Self::Short if operation == FileOperation::Append => io::ErrorKind::WriteZero.into(),
            Self::Short => io::ErrorKind::UnexpectedEof.into(),
        }
    }
}

/// The effect of a failing call on the storage: whether the call does nothing, a part of its work, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEffect {
    /// The call does nothing and returns the error.
    Nothing,
    /// An append writes only its first bytes. The field is the number of these bytes. Any other call does nothing.
    Prefix(usize),
    /// The call does all its work, and then returns the error.
    Whole,
}

impl Faulty {
    /// Creates a decorator of the storage `inner`. Calls fail only after a fault is injected.
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, script: Arc::default() }
    }

    /// Injects a fault. If several faults apply to one call, the earliest injected fault is used.
    pub fn inject(&self, fault: InjectedFault) {
        self.script.state.lock().faults.push(fault);
    }

    /// Removes all injected faults. Later calls fail only if the inner storage fails.
    pub fn heal(&self) {
        self.script.state.lock().faults.clear();
    }

    /// Returns all calls so far in order, including failed calls. The index of a call in the result is its position.
    pub fn calls(&self) -> Vec<Call> {
        self.script.state.lock().calls.clone()
    }

    /// Returns the number of calls that failed because of an injected fault.
    pub fn hits(&self) -> usize {
        self.script.state.lock().failed.len()
    }

    /// Returns the calls that failed because of an injected fault, in order.
    pub fn failed(&self) -> Vec<Call> {
        let state = self.script.state.lock();
        state.failed.iter().map(|position| state.calls[*position].clone()).collect()
    }

    fn call<R>(
        &self,
        operation: FileOperation,
        path: &Path,
        purpose: Option<Purpose>,
        inner: impl FnOnce() -> Result<R, StorageError>,
    ) -> Result<R, StorageError> {
        let call = Call { operation, path: path.into(), purpose, bytes: 0 };
        let Some(fault) = self.script.enter(call) else { return inner() };
        if fault.effect == FaultEffect::Whole {
            inner()?;
        }
        Err(StorageError::new(operation.verb(), path, fault.error.reported_by(operation)))
    }
}

impl Storage for Faulty {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        let create = || self.inner.create(path, purpose);
        let inner = self.call(FileOperation::Create, path, Some(purpose), create)?;
        let file = File { path: path.into(), purpose, script: Arc::clone(&self.script) };
        Ok(Box::new(FaultyWriter { inner, file, fuse: Fuse::new(path), len: 0 }))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        let inner = self.call(FileOperation::Open, path, Some(purpose), || self.inner.open(path, purpose))?;
        let file = File { path: path.into(), purpose, script: Arc::clone(&self.script) };
        Ok(Arc::new(FaultyFile { inner, file }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.call(FileOperation::Rename, from, None, || self.inner.rename(from, to))
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        self.call(FileOperation::Remove, path, None, || self.inner.remove(path))
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError> {
        self.call(FileOperation::HardLink, new, None, || self.inner.hard_link(existing, new))
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError> {
        self.call(FileOperation::List, directory, None, || self.inner.list(directory))
    }

    fn create_directory(&self, directory: &Path) -> Result<(), StorageError> {
        let create = || self.inner.create_directory(directory);
        self.call(FileOperation::CreateDirectory, directory, None, create)
    }

    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.call(FileOperation::SyncDirectory, directory, None, || self.inner.sync_directory(directory))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        self.call(FileOperation::Lock, path, None, || self.inner.lock(path))
    }

    fn set_waiting(&self, is_waiting: bool) {
        self.inner.set_waiting(is_waiting);
    }

    fn device_time(&self) -> Option<DeviceTime> {
        self.inner.device_time()
    }
}

/// The recorded calls, and the injected faults that may apply to later calls.
#[derive(Default)]
struct Script {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    faults: Vec<InjectedFault>,
    /// The positions of the calls that failed because of an injected fault.
    failed: Vec<usize>,
}

impl Script {
    /// Records a call. Returns the injected fault that applies to this call, or `None` if the call must be forwarded.
    fn enter(&self, call: Call) -> Option<InjectedFault> {
        let mut state = self.state.lock();
        let (position, operation) = (state.calls.len(), call.operation);
        state.calls.push(call);
        let hits = |fault: &&InjectedFault| {
            let reached = match fault.extent {
                FaultExtent::Once => fault.at == position,
                FaultExtent::Onwards => fault.at <= position,
            };
            reached && fault.error.hits(operation)
        };
        let fault = state.faults.iter().find(hits).copied();
        state.failed.extend(fault.map(|_| position));
        fault
    }
}

/// The path and the purpose of an open file, for the records of its calls.
struct File {
    path: Arc<Path>,
    purpose: Purpose,
    script: Arc<Script>,
}

impl File {
    fn enter(&self, operation: FileOperation, bytes: usize) -> Option<InjectedFault> {
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
        let fault = self.file.enter(FileOperation::Append, bytes.len());
        let arrive = match fault.map(|fault| fault.effect) {
            Some(FaultEffect::Nothing) => 0,
            Some(FaultEffect::Prefix(len)) => len.min(bytes.len()),
            Some(FaultEffect::Whole) | None => bytes.len(),
        };
        self.fuse.attempt(FileOperation::Append.verb(), || {
            self.inner.append(&bytes[..arrive]).map_err(|error| error.source)?;
            report(fault, FileOperation::Append)
        })?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        let fault = self.file.enter(FileOperation::Sync, 0);
        self.fuse.attempt(FileOperation::Sync.verb(), || {
            if fault.is_none_or(|fault| fault.effect == FaultEffect::Whole) {
                self.inner.sync().map_err(|error| error.source)?;
            }
            report(fault, FileOperation::Sync)
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
        let fault = self.file.enter(FileOperation::Read, len);
        report(fault, FileOperation::Read)
            .map_err(|error| StorageError::new(FileOperation::Read.verb(), &*self.file.path, error))?;
        self.inner.read(offset, len)
    }

    // Here, parts that are read together are separate calls, so that each call can fail. `read_many` therefore keeps
    // its default implementation. The decorated back end determines how many parts the caller passes at a time.
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

fn report(fault: Option<InjectedFault>, operation: FileOperation) -> io::Result<()> {
    fault.map_or(Ok(()), |fault| Err(fault.error.reported_by(operation)))
}

#[cfg(test)]
mod tests {
    use super::FileOperation::{Append, Create, Open, Read, Sync, SyncDirectory};
    use super::*;
    use crate::{Memory, Unsynced};

    /// Writes a file in two pieces, and then reads the file. Returns its content, or the first error.
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

    const EIO: InjectedFault = InjectedFault {
        at: 0,
        extent: FaultExtent::Once,
        error: DiskError::Io,
        effect: FaultEffect::Nothing,
    };

    #[test]
    fn without_faults_calls_go_through_and_are_noted() {
        let (_, storage) = faulty();
        assert_eq!(task(&storage).unwrap(), b"first second");
        let calls = storage.calls();
        let operations: Vec<FileOperation> = calls.iter().map(|call| call.operation).collect();
        assert_eq!(operations, [Create, Append, Append, Sync, SyncDirectory, Open, Read]);
        assert_eq!(calls[1].bytes, 6);
        assert_eq!((&*calls[0].path, calls[0].purpose), (Path::new("file"), Some(Purpose::Log)));
        assert_eq!(storage.hits(), 0);
    }

    #[test]
    fn every_position_can_fail_once_or_for_good() {
        for at in 0..7 {
            for extent in [FaultExtent::Once, FaultExtent::Onwards] {
                let (_, storage) = faulty();
                storage.inject(InjectedFault { at, extent, ..EIO });
                let error = task(&storage).unwrap_err();
                let call = storage.calls()[at].clone();
                assert_eq!(error.operation, call.operation.verb());
                assert_eq!(error.source.raw_os_error(), Some(Errno::IO.raw_os_error()));
                assert_eq!(storage.calls().len(), at + 1);
                assert_eq!(task(&storage).is_ok(), extent == FaultExtent::Once);
                storage.heal();
                assert!(task(&storage).is_ok());
            }
        }
    }

    #[test]
    fn calls_that_came_short_say_so_and_other_calls_do_not() {
        let outcome = |at, error| {
            let (_, storage) = faulty();
            storage.inject(InjectedFault { at, error, ..EIO });
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
        storage.inject(InjectedFault {
            at: 2,
            extent: FaultExtent::Onwards,
            error: DiskError::NoSpace,
            ..EIO
        });
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
        for (effect, arrived) in
            [(FaultEffect::Nothing, 0), (FaultEffect::Prefix(4), 4), (FaultEffect::Whole, 6)]
        {
            let (memory, storage) = faulty();
            storage.inject(InjectedFault { at: 1, effect, ..EIO });
            task(&storage).unwrap_err();
            let reader = memory.open(Path::new("file"), Purpose::Log).unwrap();
            assert_eq!(&*reader.read(0, arrived).unwrap(), &b"first "[..arrived]);
            assert_eq!(reader.len(), arrived as u64);
        }
        let (memory, storage) = faulty();
        storage.inject(InjectedFault { at: 4, effect: FaultEffect::Whole, ..EIO });
        task(&storage).unwrap_err();
        assert!(memory.after_crash(Unsynced::Dropped).open(Path::new("file"), Purpose::Log).is_ok());
    }
}
