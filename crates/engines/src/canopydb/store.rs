//! Implements a store of canopydb.

use std::path::Path;
use std::time::Duration;

use canopydb::{Bytes, Database, DbOptions, EnvOptions, Error, Tree};
use workload::{Scan, Target, TargetError, Write};

use crate::options::{EngineOptions, Log};
use crate::stats::EngineStats;
use crate::store::Store;
use crate::walk;

/// The name of the only tree of a store.
const DATA: &[u8] = b"data";

/// The error message for a store that lacks the tree `DATA`, which is created when a store is opened.
const LOST: &str = "the store does not contain the tree \"data\"";

/// A store of canopydb, which keeps all entries in one tree.
pub(super) struct CanopydbStore {
    database: Database,
    has_log: bool,
}

impl CanopydbStore {
    pub(super) fn open(directory: &Path, settings: &EngineOptions) -> Result<Self, TargetError> {
        let mut environment = EnvOptions::new(directory);
        environment.page_cache_size = settings.cache_bytes as usize;
        environment.wal_background_sync_interval = match settings.log {
            Log::Interval { period_ns } => Some(Duration::from_nanos(period_ns)),
            _ => None,
        };
        let mut options = DbOptions::new();
        options.use_wal = settings.log != Log::None;
        options.default_commit_sync = settings.log == Log::Sync;
        options.checkpoint_target_size = settings.memtable_bytes as usize;
        // Writers stall when the changes that are not written back reach this size, as with the immutable memtables of
        // an LSM-tree.
        options.stall_memory_limit = settings.all_memtable_bytes() as usize;
        options.throttle_memory_limit = options.stall_memory_limit;
        let store = Self {
            database: Database::with_options(environment, options)?,
            has_log: settings.log != Log::None,
        };
        // Creates the tree, so that readers find it from the beginning.
        store.commit(|_| Ok(()))?;
        Ok(store)
    }

    /// Runs `work` in a write transaction, and commits the transaction.
    fn commit(&self, work: impl FnOnce(&mut Tree<'_>) -> Result<(), Error>) -> Result<(), TargetError> {
        let transaction = self.database.begin_write()?;
        work(&mut transaction.get_or_create_tree(DATA)?)?;
        transaction.commit()?;
        Ok(())
    }
}

impl Target for CanopydbStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.commit(|tree| tree.insert(key, value))
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let transaction = self.database.begin_read()?;
        let found = transaction.get_tree(DATA)?.ok_or(LOST)?.get(key)?;
        if let Some(found) = &found {
            value.extend_from_slice(found);
        }
        Ok(found.is_some())
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.commit(|tree| tree.delete(key).map(drop))
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        Some(self.commit(|tree| tree.delete_range(low..high)))
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        let mut is_absent = false;
        let committed = self.commit(|tree| {
            is_absent = tree.get(key)?.is_none();
            if is_absent { tree.insert(key, value) } else { Ok(()) }
        });
        Some(committed.map(|()| is_absent))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let Some(bounds) = walk::bounds(scan) else { return Ok(0) };
        let transaction = self.database.begin_read()?;
        let tree = transaction.get_tree(DATA)?.ok_or(LOST)?;
        let range = tree.range::<&[u8]>(bounds)?;
        walk::walk(scan, range, |entry| {
            let (key, value) = entry?;
            visit(&key, &value);
            Ok(())
        })
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        Write::only_puts_and_deletes(writes)?;
        self.commit(|tree| {
            writes.iter().try_for_each(|write| match *write {
                Write::Put { key, value } => tree.insert(key, value),
                Write::Delete { key } => tree.delete(key).map(drop),
                _ => Ok(()), // rejected above
            })
        })
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let transaction = self.database.begin_read()?;
        let tree = transaction.get_tree(DATA)?.ok_or(LOST)?;
        for (place, key) in keys.iter().enumerate() {
            let found: Option<Bytes> = tree.get(key)?;
            visit(place, found.as_deref());
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(self.database.checkpoint()?)
    }

    fn settle(&self) -> Result<(), TargetError> {
        // No work is pending. The changes that are not written back are too few for a checkpoint, like a mutable
        // memtable below its capacity.
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        let closed = if self.has_log { self.database.sync() } else { self.database.checkpoint() };
        Ok(closed?)
    }
}

impl Store for CanopydbStore {
    fn version(&self) -> Option<String> {
        Some(env!("PEERS_CANOPYDB").to_owned())
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        Some(self.database.compact().map_err(Into::into))
    }

    fn stats(&self) -> EngineStats {
        EngineStats::default()
    }
}
