//! Implements a store of LMDB.
#![allow(unsafe_code)]

use std::ops::Bound;
use std::path::Path;

use heed::types::Bytes;
use heed::{CommitOrAbort, CompactionOption, Database, Env, EnvFlags, EnvOpenOptions};
use results::columns as c;
use types::Direction;
use workload::{Scan, Target, TargetError, Write};

use crate::options::{EngineOptions, Log};
use crate::stats::EngineStats;
use crate::store::Store;

/// The size in bytes of the reserved address range of the memory map. Only written pages take memory or storage.
const MAP_BYTES: usize = 1 << 38;

/// The name of the file with the entries of a store.
const DATA: &str = "data.mdb";

/// The maximum number of concurrent readers.
const MOST_READERS: u32 = 1024;

/// A store of LMDB.
pub(super) struct LmdbStore {
    env: Env,
    data: Database<'static, Bytes, Bytes>,
}

impl LmdbStore {
    pub(super) fn open(
        directory: &Path,
        (settings, write_map): (&EngineOptions, bool),
    ) -> Result<Self, TargetError> {
        let mut flags = EnvFlags::empty();
        flags.set(EnvFlags::NO_SYNC, settings.log != Log::Sync);
        flags.set(EnvFlags::WRITE_MAP, write_map);
        flags.set(EnvFlags::NO_READ_AHEAD, !settings.reads.has_readahead());
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES).max_readers(MOST_READERS);
        // SAFETY: The directory is the store's own: no other program changes the mapped file. Without syncs, a power
        // failure may corrupt the file, which the WAL mode of the run allows.
        let env = unsafe { options.flags(flags).open(directory)? };
        let created = env.create_databases_and_commit(env.write_txn()?, |opener, transaction| {
            opener.create_database(transaction, None).map(CommitOrAbort::<_, ()>::Commit)
        });
        let data = created?.commit().ok_or("the LMDB environment lacks the database of the store")?;
        Ok(Self { env, data })
    }
}

impl Target for LmdbStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        let mut transaction = self.env.write_txn()?;
        self.data.put(&mut transaction, key, value)?;
        Ok(transaction.commit()?)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let transaction = self.env.read_txn()?;
        let found = self.data.get(&transaction, key)?;
        value.extend_from_slice(found.unwrap_or_default());
        Ok(found.is_some())
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        let mut transaction = self.env.write_txn()?;
        self.data.delete(&mut transaction, key)?;
        Ok(transaction.commit()?)
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        let put = || -> Result<bool, TargetError> {
            let mut transaction = self.env.write_txn()?;
            let is_written = self.data.get_or_put(&mut transaction, key, value)?.is_none();
            transaction.commit()?;
            Ok(is_written)
        };
        Some(put())
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        // LMDB has no empty keys and rejects a search for one.
        let low = if low.is_empty() { Bound::Unbounded } else { Bound::Included(low) };
        let delete = || -> Result<(), TargetError> {
            let mut transaction = self.env.write_txn()?;
            self.data.delete_range(&mut transaction, &(low, Bound::Excluded(high)))?;
            Ok(transaction.commit()?)
        };
        Some(delete())
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        if scan.high.is_some_and(|high| high <= scan.low) {
            return Ok(0);
        }
        // LMDB has no empty keys and rejects a search for one.
        let low = if scan.low.is_empty() { Bound::Unbounded } else { Bound::Included(scan.low) };
        let bounds = (low, scan.high.map_or(Bound::Unbounded, Bound::Excluded));
        let transaction = self.env.read_txn()?;
        let mut entries = 0;
        let mut take = |entry: heed::Result<(&[u8], &[u8])>| {
            let (key, value) = entry?;
            visit(key, value);
            entries += 1;
            Ok::<_, TargetError>(())
        };
        match scan.direction {
            Direction::Forward => {
                self.data.range(&transaction, &bounds)?.take(scan.limit).try_for_each(&mut take)?;
            }
            Direction::Backward => {
                self.data.rev_range(&transaction, &bounds)?.take(scan.limit).try_for_each(&mut take)?;
            }
        }
        Ok(entries)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let mut transaction = self.env.write_txn()?;
        for write in writes {
            match *write {
                Write::Put { key, value } => self.data.put(&mut transaction, key, value)?,
                Write::Delete { key } => _ = self.data.delete(&mut transaction, key)?,
                other => return Err(other.unsupported()),
            }
        }
        Ok(transaction.commit()?)
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let transaction = self.env.read_txn()?;
        for (place, key) in keys.iter().enumerate() {
            visit(place, self.data.get(&transaction, key)?);
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        // No work is pending, because a commit writes its pages.
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(self.env.force_sync()?)
    }
}

impl Store for LmdbStore {
    fn version(&self) -> Option<String> {
        let version = heed::lmdb_version();
        Some(format!("{}.{}.{}", version.major, version.minor, version.patch))
    }

    fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        let copy = || {
            std::fs::create_dir(directory)?;
            self.env.copy_to_path(directory.join(DATA), CompactionOption::Disabled)?.sync_all()?;
            Ok(())
        };
        Some(copy())
    }

    fn stats(&self) -> EngineStats {
        let mut stats = EngineStats::default();
        stats.whole.gauge(&c::TABLE_BYTES, self.env.real_disk_size().ok());
        stats
    }
}
