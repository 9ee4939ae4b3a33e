//! Files in the memory of the process, which are the fastest possible storage. Crash tests use these files, because the
//! simulated disk records which data is durable.
//!
//! For every file, the simulated disk records the number of synced bytes. For every change of a file name, the disk
//! records whether the directory was synced after this change. [`Memory::after_crash`] can therefore return any state
//! that a real disk may have after a power failure. The model makes as few guarantees as the file systems that storage
//! engines support (Pillai et al., "All File Systems Are Not Created Equal: On the Complexity of Crafting
//! Crash-Consistent Applications", OSDI 2014). Changes of different names reach the disk in any order, but changes of
//! one name reach the disk in their original order. A rename is atomic. Unsynced bytes survive as a prefix, or as any
//! set of sectors.

mod content;
mod names;
mod states;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::{Build, Limit, Variant};
use parking_lot::Mutex;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use types::Bytes;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use self::content::Inode;
use self::names::Names;
pub use self::states::States;
use crate::holder::Held;
use crate::storage::{Purpose, ReadFile, Storage, StorageError, WriteFile, check_bounds};

pub(crate) const VARIANT: Variant<dyn Storage> = Variant::new::<Memory>(
    "memory",
    "files in memory, to measure a design without the time of storage",
    "# Whether readers use blocks in place without a copy, as with \"mmap\".\n\
     mapped = false\n",
)
.limited(&[Limit::NotDurable]);

/// Storage of files in memory, on a simulated disk that can lose unsynced data. Each value of this type is a separate
/// disk, whose files are lost when the value is dropped.
///
/// A removed file stays in memory until its directory is synced, because a crash before the sync may restore the file.
#[derive(Default)]
pub struct Memory {
    names: Mutex<Names>,
    locks: Arc<Mutex<HashSet<PathBuf>>>,
    is_mapped: bool,
}

/// A rule that decides which unsynced bytes and names survive a power failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsynced {
    /// All unsynced bytes and names are lost.
    Dropped,
    /// All unsynced bytes and names survive, as when the process ends but the machine does not.
    Kept,
    /// A random generator decides for each change of a name whether it survives. The generator also decides for each
    /// file which of its unsynced bytes survive: none, all, or a part of them.
    Torn {
        /// The seed of the generator. Equal seeds give equal disk states.
        seed: u64,
    },
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    mapped: bool,
}

impl Build<dyn Storage> for Memory {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Storage>, String> {
        Ok(Box::new(Self { is_mapped: params.mapped, ..Self::default() }))
    }
}

impl Memory {
    /// Creates an empty disk whose files can be memory-[mapped](ReadFile::mapped).
    #[must_use]
    pub fn mapped() -> Self {
        Self { is_mapped: true, ..Self::default() }
    }

    /// Returns the disk after a power failure at the current time. Synced bytes of files with durable names survive.
    /// The rule `unsynced` decides which other bytes and names survive. The result is a separate disk on which
    /// everything is durable and nothing is locked. The original disk does not change.
    #[must_use]
    pub fn after_crash(&self, unsynced: Unsynced) -> Self {
        let names = self.names.lock();
        let names = match unsynced {
            Unsynced::Dropped => names.after_crash(|| false, Inode::synced),
            Unsynced::Kept => names.after_crash(|| true, Inode::whole),
            Unsynced::Torn { seed } => {
                let mut for_names = Xoshiro256PlusPlus::seed_from_u64(seed);
                let mut for_bytes = Xoshiro256PlusPlus::seed_from_u64(!seed);
                names.after_crash(|| for_names.random(), |inode| inode.torn(&mut for_bytes))
            }
        };
        Self { names: Mutex::new(names), locks: Arc::default(), is_mapped: self.is_mapped }
    }
}

impl Memory {
    /// Returns a hash of all file names and all bytes on the disk. Disks with equal contents have equal hashes.
    pub fn fingerprint(&self) -> u128 {
        let names = self.names.lock();
        let mut hash = Xxh3::new();
        for (path, inode) in names.current() {
            let (name, bytes) = (path.as_os_str().as_encoded_bytes(), inode.snapshot());
            hash.update(&(name.len() as u64).to_le_bytes());
            hash.update(name);
            hash.update(&xxh3_128(&bytes).to_le_bytes());
        }
        hash.digest128()
    }
}

impl Storage for Memory {
    fn create(&self, path: &Path, _: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        let inode =
            self.names.lock().create(path).map_err(|error| StorageError::new("create", path, error))?;
        Ok(Box::new(MemoryWriter { inode, len: 0 }))
    }

    fn open(&self, path: &Path, _: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        let inode = self.names.lock().get(path).map_err(|error| StorageError::new("open", path, error))?;
        let (path, bytes) = (path.to_owned(), inode.snapshot());
        Ok(Arc::new(MemoryFile { path, bytes, is_mapped: self.is_mapped }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.names.lock().rename(from, to).map_err(|error| StorageError::new("rename", from, error))
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        self.names.lock().remove(path).map_err(|error| StorageError::new("remove", path, error))
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError> {
        self.names.lock().hard_link(existing, new).map_err(|error| StorageError::new("link", new, error))
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError> {
        self.names.lock().list(directory).map_err(|error| StorageError::new("list", directory, error))
    }

    fn create_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.names
            .lock()
            .create_directory(directory)
            .map_err(|error| StorageError::new("create directory", directory, error))
    }

    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.names
            .lock()
            .sync_directory(directory)
            .map_err(|error| StorageError::new("sync directory", directory, error))
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        let error = |error| StorageError::new("lock", path, error);
        let mut names = self.names.lock();
        if names.get(path).is_err() {
            names.create(path).map_err(error)?;
        }
        if !self.locks.lock().insert(path.to_owned()) {
            return Err(error(Held { holder: Some(std::process::id()) }.into()));
        }
        Ok(Box::new(Guard { locks: Arc::clone(&self.locks), path: path.to_owned() }))
    }
}

/// A lock of a file on the simulated disk, which is held until this value is dropped.
struct Guard {
    locks: Arc<Mutex<HashSet<PathBuf>>>,
    path: PathBuf,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.locks.lock().remove(&self.path);
    }
}

/// A file on the simulated disk that is open for appends.
struct MemoryWriter {
    inode: Arc<Inode>,
    len: u64,
}

impl WriteFile for MemoryWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.inode.append(bytes);
        self.len += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.inode.sync();
        Ok(())
    }

    fn len(&self) -> u64 {
        self.len
    }
}

/// A file on the simulated disk that is open for reading. The reader sees the content at the time when the file was
/// opened.
struct MemoryFile {
    path: PathBuf,
    bytes: Arc<Vec<u8>>,
    is_mapped: bool,
}

impl ReadFile for MemoryFile {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        check_bounds(&self.path, offset, len, self.bytes.len() as u64)?;
        let start = offset as usize;
        let owner: Arc<dyn AsRef<[u8]> + Send + Sync> = Arc::<Vec<u8>>::clone(&self.bytes);
        Ok(Bytes::from_owner(owner, start..start + len))
    }

    fn mapped(&self) -> Option<&[u8]> {
        self.is_mapped.then_some(&**self.bytes)
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}
