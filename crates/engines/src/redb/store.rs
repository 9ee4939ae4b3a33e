//! Implements a store of redb.

use std::path::{Path, PathBuf};

use redb::{Database, Durability, ReadableDatabase, ReadableTable, Table, TableDefinition};
use results::columns as c;
use workload::{Scan, Target, TargetError, Write};

use crate::options::{EngineOptions, Log};
use crate::stats::EngineStats;
use crate::store::Store;
use crate::walk;

/// The definition of the only table of a store.
const DATA: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("data");

/// A store of redb, which keeps all entries in one table.
pub(super) struct RedbStore {
    database: Database,
    file: PathBuf,
    durability: Durability,
}

impl RedbStore {
    pub(super) fn open(directory: &Path, settings: &EngineOptions) -> Result<Self, TargetError> {
        let file = directory.join("redb");
        let database = Database::builder().set_cache_size(settings.cache_bytes as usize).create(&file)?;
        let durability = if settings.log == Log::Sync { Durability::Immediate } else { Durability::None };
        let store = Self { database, file, durability };
        // Creates the table, so that readers find it from the beginning.
        store.commit(Durability::Immediate, |_| Ok(()))?;
        Ok(store)
    }

    /// Runs `work` in a write transaction, and commits the transaction.
    fn commit(
        &self,
        durability: Durability,
        work: impl FnOnce(&mut Table<'_, &[u8], &[u8]>) -> Result<(), redb::StorageError>,
    ) -> Result<(), TargetError> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(durability)?;
        work(&mut transaction.open_table(DATA)?)?;
        Ok(transaction.commit()?)
    }
}

impl Target for RedbStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.commit(self.durability, |table| table.insert(key, value).map(drop))
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let table = self.database.begin_read()?.open_table(DATA)?;
        let found = table.get(key)?;
        if let Some(found) = &found {
            value.extend_from_slice(found.value());
        }
        Ok(found.is_some())
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.commit(self.durability, |table| table.remove(key).map(drop))
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        let mut is_absent = false;
        let committed = self.commit(self.durability, |table| {
            is_absent = table.get(key)?.is_none();
            if is_absent { table.insert(key, value).map(drop) } else { Ok(()) }
        });
        Some(committed.map(|()| is_absent))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let Some(bounds) = walk::bounds(scan) else { return Ok(0) };
        let table = self.database.begin_read()?.open_table(DATA)?;
        let range = table.range::<&[u8]>(bounds)?;
        walk::walk(scan, range, |entry| {
            let (key, value) = entry?;
            visit(key.value(), value.value());
            Ok(())
        })
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        Write::only_puts_and_deletes(writes)?;
        self.commit(self.durability, |table| {
            for write in writes {
                match *write {
                    Write::Put { key, value } => drop(table.insert(key, value)?),
                    Write::Delete { key } => drop(table.remove(key)?),
                    _ => {} // rejected above
                }
            }
            Ok(())
        })
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let table = self.database.begin_read()?.open_table(DATA)?;
        for (place, key) in keys.iter().enumerate() {
            visit(place, table.get(*key)?.as_ref().map(redb::AccessGuard::value));
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        self.commit(Durability::Immediate, |_| Ok(()))
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        self.flush()
    }
}

impl Store for RedbStore {
    fn version(&self) -> Option<String> {
        Some(env!("PEERS_REDB").to_owned())
    }

    fn stats(&self) -> EngineStats {
        // redb counts accesses to its cache only in builds with its feature `cache_metrics`, which slows them.
        let mut stats = EngineStats::default();
        stats.whole.gauge(&c::TABLE_BYTES, std::fs::metadata(&self.file).ok().map(|metadata| metadata.len()));
        stats
    }
}
