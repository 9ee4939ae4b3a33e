//! Opens and reopens a store, and measures the size of its files on disk.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use workload::{Target, TargetError};

use crate::engine::Engine;
use crate::family_target::FamilyTarget;
use crate::opening::Opening;
use crate::stats::EngineStats;
use crate::store::Store;

/// The unit in which the kernel counts the allocated space of a file, in bytes.
const BLOCK_BYTES: u64 = 512;

/// An open store together with the parameters needed to reopen it.
pub struct OpenStore {
    engine: Box<dyn Engine>,
    opening: Opening,
    store: Box<dyn Store>,
}

/// A closed store together with the parameters needed to reopen it.
pub struct ClosedStore {
    engine: Box<dyn Engine>,
    opening: Opening,
}

impl ClosedStore {
    /// Opens the store again. The counters of the store restart at 0.
    ///
    /// # Errors
    /// The error of the engine.
    pub fn open(self) -> Result<OpenStore, TargetError> {
        OpenStore::open(self.engine, self.opening)
    }
}

impl OpenStore {
    /// Opens a store. Creates its directory if the directory does not exist. A store that is kept in memory gets no
    /// directory.
    ///
    /// # Errors
    /// The error of the engine, or the error of the kernel if the directory cannot be created.
    pub fn open(engine: Box<dyn Engine>, opening: Opening) -> Result<Self, TargetError> {
        // A design that keeps its files in memory needs no directory.
        if !engine.limits(&opening.design).contains(&catalog::Limit::NotDurable) {
            fs::create_dir_all(&opening.directory)?;
        }
        let store = engine.open(&opening)?;
        Ok(Self { engine, opening, store })
    }

    /// Closes the store: makes all writes durable, stops background work, and releases its files.
    ///
    /// # Errors
    /// The error of the engine.
    pub fn close(self) -> Result<ClosedStore, TargetError> {
        let Self { engine, opening, store } = self;
        store.end()?;
        Ok(ClosedStore { engine, opening })
    }

    /// Flushes the store, waits for its background work, closes it, runs `between`, and reopens the store. The counters
    /// of the store restart at 0.
    ///
    /// # Errors
    /// The error of the engine, or of `between`.
    pub fn reopen(self, between: &dyn Fn() -> Result<(), TargetError>) -> Result<Self, TargetError> {
        // Without a WAL the memtables exist only in memory.
        self.store.flush()?;
        self.store.settle()?;
        let closed = self.close()?;
        between()?;
        closed.open()
    }

    /// Returns the engine of the store.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Returns the whole store as a [`Target`], the interface through which a workload runs.
    pub fn target(&self) -> &dyn Target {
        &*self.store
    }

    /// Returns a handle for the operations on a column family. If `family` is `None`, the handle is for the whole
    /// store.
    ///
    /// # Errors
    /// The store does not have the family.
    pub fn family(&self, family: Option<&str>) -> Result<FamilyTarget<'_>, TargetError> {
        self.family_of(&*self.store, family)
    }

    /// Returns a handle for the operations on a column family of `copy`, a store that [`open_copy`](Self::open_copy)
    /// has opened. If `family` is `None`, the handle is for the whole copy.
    ///
    /// # Errors
    /// The copy does not have the family.
    pub fn family_of<'s>(
        &self,
        copy: &'s dyn Store,
        family: Option<&str>,
    ) -> Result<FamilyTarget<'s>, TargetError> {
        FamilyTarget::of(copy, &self.opening.design, family)
    }

    /// Returns the current counters and gauges of the store.
    pub fn stats(&self) -> EngineStats {
        self.store.stats()
    }

    /// Returns the time for which [`Target::settle`] waits after the last background work has ended.
    pub fn settle_margin(&self) -> Duration {
        self.store.settle_margin()
    }

    /// Returns the version that the engine reports when it runs. `None` if the engine reports no version.
    pub fn version(&self) -> Option<String> {
        self.store.version()
    }

    /// Compacts the whole store. Returns `None` if the engine has no call that compacts the whole store.
    pub fn compact(&self) -> Option<Result<(), TargetError>> {
        self.store.compact()
    }

    /// Makes a copy of the store in `directory`, which must not exist. Returns `None` if the engine has no call that
    /// makes copies.
    pub fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        self.store.checkpoint(directory)
    }

    /// Opens a copy that [`checkpoint`](Self::checkpoint) has made, as a separate store.
    ///
    /// # Errors
    /// The error of the engine.
    pub fn open_copy(&self, directory: &Path) -> Result<Box<dyn Store>, TargetError> {
        self.engine.open(&Opening { directory: directory.to_owned(), ..self.opening.clone() })
    }

    /// Returns the number of bytes that the files of the store occupy on the file system. Returns `None` if the store
    /// has no directory.
    pub fn disk_bytes(&self) -> Option<u64> {
        disk_bytes(&self.opening.directory)
    }
}

/// Returns the number of bytes that the files below `folder` occupy on the file system. Returns `None` if the folder
/// does not exist.
pub fn disk_bytes(folder: &Path) -> Option<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).ok()?.filter_map(Result::ok) {
        // A file that is deleted during the walk takes no space.
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes += disk_bytes(&entry.path()).unwrap_or(0),
            Ok(metadata) => bytes += metadata.blocks() * BLOCK_BYTES,
            Err(_) => {}
        }
    }
    Some(bytes)
}
