//! A decorator that records every call that changes stored data. Tests can replay the recorded calls on another disk,
//! up to any call.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::storage::{DeviceTime, Purpose, ReadFile, Storage, StorageError, WriteFile};

/// A storage decorator that forwards every call to another storage, and records the successful calls that change data.
pub struct RecordingStorage {
    inner: Arc<dyn Storage>,
    steps: Arc<Mutex<Vec<StorageChange>>>,
}

/// A recorded storage call that changes stored data or makes data durable.
///
/// Each recorded call is one step. Later steps identify a file by the number of the step that created it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageChange {
    /// A call of [`Storage::create`].
    Create(Arc<Path>, Purpose),
    /// A call of [`WriteFile::append`]. The fields are the number of the step that created the file, and the appended
    /// bytes.
    Append(usize, Arc<[u8]>),
    /// A call of [`WriteFile::sync`]. The field is the number of the step that created the file.
    Sync(usize),
    /// A call of [`Storage::rename`]. The fields are the old name and the new name.
    Rename(Arc<Path>, Arc<Path>),
    /// A call of [`Storage::remove`].
    Remove(Arc<Path>),
    /// A call of [`Storage::hard_link`]. The fields are the existing name and the new name.
    Link(Arc<Path>, Arc<Path>),
    /// A call of [`Storage::create_directory`].
    CreateDirectory(Arc<Path>),
    /// A call of [`Storage::sync_directory`].
    SyncDirectory(Arc<Path>),
    /// A call of [`Storage::lock`], which creates the file.
    Lock(Arc<Path>),
}

impl RecordingStorage {
    /// Creates a decorator that records the calls of the storage `inner`.
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, steps: Arc::default() }
    }

    /// Returns the number of storage calls recorded so far, which is also the number of the next recorded call.
    pub fn position(&self) -> usize {
        self.steps.lock().len()
    }

    /// Returns all recorded storage calls, in order.
    pub fn steps(&self) -> Vec<StorageChange> {
        self.steps.lock().clone()
    }

    fn record<R>(
        &self,
        done: Result<R, StorageError>,
        step: impl FnOnce() -> StorageChange,
    ) -> Result<R, StorageError> {
        let done = done?;
        self.steps.lock().push(step());
        Ok(done)
    }
}

impl Storage for RecordingStorage {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        let inner = self.inner.create(path, purpose)?;
        let mut steps = self.steps.lock();
        let file = steps.len();
        steps.push(StorageChange::Create(path.into(), purpose));
        Ok(Box::new(RecordingWriter { inner, file, steps: Arc::clone(&self.steps) }))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        self.inner.open(path, purpose)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.record(self.inner.rename(from, to), || StorageChange::Rename(from.into(), to.into()))
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        self.record(self.inner.remove(path), || StorageChange::Remove(path.into()))
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError> {
        self.record(self.inner.hard_link(existing, new), || StorageChange::Link(existing.into(), new.into()))
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError> {
        self.inner.list(directory)
    }

    fn create_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.record(self.inner.create_directory(directory), || {
            StorageChange::CreateDirectory(directory.into())
        })
    }

    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.record(self.inner.sync_directory(directory), || StorageChange::SyncDirectory(directory.into()))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        self.record(self.inner.lock(path), || StorageChange::Lock(path.into()))
    }

    fn set_waiting(&self, is_waiting: bool) {
        self.inner.set_waiting(is_waiting);
    }

    fn device_time(&self) -> Option<DeviceTime> {
        self.inner.device_time()
    }
}

struct RecordingWriter {
    inner: Box<dyn WriteFile>,
    file: usize,
    steps: Arc<Mutex<Vec<StorageChange>>>,
}

impl WriteFile for RecordingWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.inner.append(bytes)?;
        self.steps.lock().push(StorageChange::Append(self.file, bytes.into()));
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.inner.sync()?;
        self.steps.lock().push(StorageChange::Sync(self.file));
        Ok(())
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }
}

/// A replay of recorded storage calls on another disk, one call at a time.
pub struct StorageReplay<'a> {
    steps: &'a [StorageChange],
    disk: &'a dyn Storage,
    position: usize,
    writers: HashMap<usize, Box<dyn WriteFile>>,
}

impl<'a> StorageReplay<'a> {
    /// Creates a replay of the recorded calls `steps` on `disk`. The disk must have the same files as the recorded disk
    /// had before its first call.
    pub fn new(steps: &'a [StorageChange], disk: &'a dyn Storage) -> Self {
        Self { steps, disk, position: 0, writers: HashMap::new() }
    }

    /// Returns the number of recorded storage calls that were replayed so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Replays recorded storage calls until `position` calls have been replayed in total, or until no call is left.
    ///
    /// # Errors
    /// The disk rejects a call, because its initial state differed from that of the recorded disk.
    pub fn advance_to(&mut self, position: usize) -> Result<(), StorageError> {
        while self.position < position.min(self.steps.len()) {
            self.take(&self.steps[self.position])?;
            self.position += 1;
        }
        Ok(())
    }

    fn take(&mut self, step: &StorageChange) -> Result<(), StorageError> {
        match step {
            StorageChange::Create(path, purpose) => {
                self.writers.insert(self.position, self.disk.create(path, *purpose)?);
            }
            StorageChange::Append(file, bytes) => self.writer(*file).append(bytes)?,
            StorageChange::Sync(file) => self.writer(*file).sync()?,
            StorageChange::Rename(from, to) => self.disk.rename(from, to)?,
            StorageChange::Remove(path) => self.disk.remove(path)?,
            StorageChange::Link(existing, new) => self.disk.hard_link(existing, new)?,
            StorageChange::CreateDirectory(directory) => self.disk.create_directory(directory)?,
            StorageChange::SyncDirectory(directory) => self.disk.sync_directory(directory)?,
            StorageChange::Lock(path) => drop(self.disk.lock(path)?),
        }
        Ok(())
    }

    fn writer(&mut self, file: usize) -> &mut dyn WriteFile {
        &mut **self
            .writers
            .get_mut(&file)
            .expect("a recorded step must refer to a file that an earlier step created")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Memory, Unsynced};

    #[test]
    fn a_replay_leads_another_disk_through_the_same_states() {
        let (a, b, directory) = (Path::new("d/a"), Path::new("d/b"), Path::new("d"));
        let recording = RecordingStorage::new(Arc::new(Memory::default()));
        recording.create_directory(directory).unwrap();
        let _guard = recording.lock(&directory.join("lock")).unwrap();
        let mut file = recording.create(a, Purpose::Log).unwrap();
        file.append(b"one").unwrap();
        file.sync().unwrap();
        recording.hard_link(a, b).unwrap();
        recording.sync_directory(directory).unwrap();
        file.append(b"two").unwrap();
        recording.rename(b, &directory.join("c")).unwrap();
        recording.remove(a).unwrap();
        assert!(recording.remove(a).is_err());
        let steps = recording.steps();
        assert_eq!((steps.len(), recording.position()), (10, 10));
        assert_eq!(steps[7], StorageChange::Append(2, b"two"[..].into()));

        let disk = Memory::default();
        let mut replay = StorageReplay::new(&steps, &disk);
        replay.advance_to(7).unwrap();
        assert_eq!(replay.position(), 7);
        assert_eq!(disk.after_crash(Unsynced::Dropped).list(directory).unwrap(), ["a", "b", "lock"]);
        replay.advance_to(usize::MAX).unwrap();
        assert_eq!(disk.list(directory).unwrap(), ["c", "lock"]);
        let kept = disk.open(&directory.join("c"), Purpose::Log).unwrap();
        assert_eq!(&*kept.read(0, 6).unwrap(), b"onetwo");
        assert_eq!(disk.after_crash(Unsynced::Dropped).open(a, Purpose::Log).unwrap().len(), 3);
    }
}
