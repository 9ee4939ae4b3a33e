//! A disk in memory that tests can observe, pause and copy while many threads use the disk.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, RwLock};
use storage::{
    DiskError, FileOperation, Memory, Purpose, ReadFile, Storage, StorageError, Unsynced, WriteFile,
};

/// The function that a probe calls before every change of the disk. The function may block or take images. If the
/// function returns an error, the change fails with this error and has no effect.
type Before = dyn Fn(&Disk, FileOperation, &Path) -> Result<(), DiskError> + Send + Sync;

/// A disk in memory ([`Memory`]) whose images are taken between two calls and never during a call.
#[derive(Clone)]
pub(crate) struct Probe(Arc<Disk>);

/// The disk of a probe: a disk in memory, with a function that runs before every change.
pub(crate) struct Disk {
    memory: Memory,
    /// A lock that every change of the disk takes shared, and that an image takes exclusively.
    still: RwLock<()>,
    before: Box<Before>,
    /// The gate that every reservation of space passes.
    reservations: Gate,
}

impl Probe {
    /// Creates a disk that calls `before` before every change.
    pub(crate) fn new(before: impl Fn(&Disk, FileOperation, &Path) + Send + Sync + 'static) -> Self {
        Self::failing(move |disk, operation, path| {
            before(disk, operation, path);
            Ok(())
        })
    }

    /// Creates a disk that calls `before` before every change. The change fails if `before` returns an error.
    pub(crate) fn failing(
        before: impl Fn(&Disk, FileOperation, &Path) -> Result<(), DiskError> + Send + Sync + 'static,
    ) -> Self {
        let (memory, still, reservations) = (Memory::default(), RwLock::default(), Gate::default());
        Self(Arc::new(Disk { memory, still, before: Box::new(before), reservations }))
    }

    /// Returns the gate that every reservation of space passes.
    pub(crate) fn reservations(&self) -> &Gate {
        &self.0.reservations
    }

    /// Returns the disk as it is after a power failure now. `unsynced` defines what remains of unsynced bytes.
    pub(crate) fn after_crash(&self, unsynced: Unsynced) -> Arc<Memory> {
        self.0.after_crash(unsynced)
    }
}

impl Disk {
    /// Returns the disk as it is after a power failure now. `unsynced` defines what remains of unsynced bytes.
    pub(crate) fn after_crash(&self, unsynced: Unsynced) -> Arc<Memory> {
        let _still = self.still.write();
        Arc::new(self.memory.after_crash(unsynced))
    }

    fn change<R>(
        &self,
        operation: FileOperation,
        path: &Path,
        change: impl FnOnce() -> Result<R, StorageError>,
    ) -> Result<R, StorageError> {
        (self.before)(self, operation, path)
            .map_err(|error| StorageError::new("change", path, error.reported_by(operation)))?;
        let _moving = self.still.read();
        change()
    }
}

impl Storage for Probe {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        let inner = self.0.change(FileOperation::Create, path, || self.0.memory.create(path, purpose))?;
        Ok(Box::new(ProbeWriter { inner, path: path.into(), disk: Arc::clone(&self.0) }))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        self.0.memory.open(path, purpose)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.0.change(FileOperation::Rename, from, || self.0.memory.rename(from, to))
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        self.0.change(FileOperation::Remove, path, || self.0.memory.remove(path))
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError> {
        self.0.change(FileOperation::HardLink, new, || self.0.memory.hard_link(existing, new))
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError> {
        self.0.memory.list(directory)
    }

    fn create_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.0.change(FileOperation::CreateDirectory, directory, || self.0.memory.create_directory(directory))
    }

    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.0.change(FileOperation::SyncDirectory, directory, || self.0.memory.sync_directory(directory))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        self.0.memory.lock(path)
    }
}

struct ProbeWriter {
    inner: Box<dyn WriteFile>,
    path: Arc<Path>,
    disk: Arc<Disk>,
}

impl WriteFile for ProbeWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.disk.change(FileOperation::Append, &self.path, || self.inner.append(bytes))
    }

    fn reserve(&mut self, _: u64) {
        self.disk.reservations.pass();
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.disk.change(FileOperation::Sync, &self.path, || self.inner.sync())
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }
}

/// A gate that lets threads pass only while it is open.
#[derive(Default)]
pub(crate) struct Gate {
    is_closed: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    /// Closes the gate: from now on, the gate blocks all threads.
    pub(crate) fn close(&self) {
        *self.is_closed.lock() = true;
    }

    /// Opens the gate: the gate lets all threads pass.
    pub(crate) fn open(&self) {
        *self.is_closed.lock() = false;
        self.changed.notify_all();
    }

    /// Waits until the gate is open.
    pub(crate) fn pass(&self) {
        let mut is_closed = self.is_closed.lock();
        while *is_closed {
            self.changed.wait(&mut is_closed);
        }
    }
}

/// Returns a disk on which SSTables can be created only while the gate is open.
pub(crate) fn gated_disk() -> (Probe, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let passed = Arc::clone(&gate);
    let probe = Probe::new(move |_, operation, path| {
        if operation == FileOperation::Create && is_a(path, "table") {
            passed.pass();
        }
    });
    (probe, gate)
}

/// Returns whether the file name of a path has this extension.
pub(crate) fn is_a(path: impl AsRef<Path>, ending: &str) -> bool {
    path.as_ref().extension().is_some_and(|extension| extension == ending)
}

/// Runs `work` on its own thread. The test fails if `work` takes longer than five minutes. `what` names the work in the
/// failure message.
pub(crate) fn in_time<R: Send + 'static>(what: &str, work: impl FnOnce() -> R + Send + 'static) -> R {
    const LIMIT: Duration = Duration::from_mins(5);
    let (done, outcome) = mpsc::channel();
    let thread = thread::spawn(move || done.send(work()).is_ok());
    match outcome.recv_timeout(LIMIT) {
        Ok(outcome) => outcome,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: it hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().expect_err("the thread ended without an outcome"))
        }
    }
}
