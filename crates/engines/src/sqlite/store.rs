//! Implements a store of `SQLite`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use results::columns as c;
use rusqlite::{CachedStatement, Connection, OpenFlags, OptionalExtension, params};
use thread_local::ThreadLocal;
use types::Direction;
use workload::{Scan, Target, TargetError, Write};

use crate::options::{EngineOptions, Log, Reads};
use crate::stats::EngineStats;
use crate::store::Store;

/// The name of the database file in the directory of a store.
const DATA: &str = "sqlite";

/// The requested size of the memory map in bytes, if reads use memory maps. `SQLite` maps at most 2 GiB.
const MAP_BYTES: u64 = 1 << 38;

/// The maximum time that a statement or a checkpoint waits for other connections.
const PATIENCE: Duration = Duration::from_mins(1);

const PUT: &str = "INSERT INTO data VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
const GET: &str = "SELECT value FROM data WHERE key = ?1";
const DELETE: &str = "DELETE FROM data WHERE key = ?1";
const DELETE_RANGE: &str = "DELETE FROM data WHERE key >= ?1 AND key < ?2";
const PUT_IF_ABSENT: &str = "INSERT INTO data VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING";

/// Returns the SQL statement of a scan, from `?1` inclusive to `?3` exclusive, with at most `?2` entries.
fn scan_sql(has_high: bool, direction: Direction) -> &'static str {
    match (has_high, direction) {
        (false, Direction::Forward) => "SELECT key, value FROM data WHERE key >= ?1 ORDER BY key LIMIT ?2",
        (false, Direction::Backward) => {
            "SELECT key, value FROM data WHERE key >= ?1 ORDER BY key DESC LIMIT ?2"
        }
        (true, Direction::Forward) => {
            "SELECT key, value FROM data WHERE key >= ?1 AND key < ?3 ORDER BY key LIMIT ?2"
        }
        (true, Direction::Backward) => {
            "SELECT key, value FROM data WHERE key >= ?1 AND key < ?3 ORDER BY key DESC LIMIT ?2"
        }
    }
}

/// A store of `SQLite`, which keeps all entries in one table. Each thread has its own connection.
pub(super) struct SqliteStore {
    file: PathBuf,
    /// The SQL statements with which the store configures each new connection.
    settings: String,
    synchronous: &'static str,
    connections: ThreadLocal<Connection>,
    /// Serializes writers. `SQLite` allows one writer at a time, and a writer that waits inside `SQLite` sleeps and
    /// polls.
    writing: Mutex<()>,
}

impl SqliteStore {
    pub(super) fn open(
        directory: &Path,
        (settings, (page_bytes, checkpoint_pages)): (&EngineOptions, (u64, u64)),
    ) -> Result<Self, TargetError> {
        let synchronous = if settings.log == Log::Sync { "FULL" } else { "OFF" };
        let map_bytes = if settings.reads == Reads::Mapped { MAP_BYTES } else { 0 };
        // A negative size of the cache is in KiB.
        let cache_kib = (settings.cache_bytes >> 10).max(1);
        let store = Self {
            file: directory.join(DATA),
            settings: format!(
                "PRAGMA page_size = {page_bytes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; \
                 PRAGMA wal_autocheckpoint = {checkpoint_pages}; PRAGMA cache_size = -{cache_kib}; \
                 PRAGMA mmap_size = {map_bytes};"
            ),
            synchronous,
            connections: ThreadLocal::new(),
            writing: Mutex::new(()),
        };
        store.connection()?.execute_batch(
            "CREATE TABLE IF NOT EXISTS data (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL) WITHOUT ROWID",
        )?;
        Ok(store)
    }

    /// Returns the connection of the calling thread. The first call of a thread opens it.
    fn connection(&self) -> Result<&Connection, TargetError> {
        Ok(self.connections.get_or_try(|| {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
                | OpenFlags::SQLITE_OPEN_CREATE
                | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(&self.file, flags)?;
            connection.busy_timeout(PATIENCE)?;
            connection.execute_batch(&self.settings)?;
            Ok::<_, rusqlite::Error>(connection)
        })?)
    }

    fn statement(&self, sql: &str) -> Result<CachedStatement<'_>, TargetError> {
        Ok(self.connection()?.prepare_cached(sql)?)
    }

    /// Runs one statement that writes. Returns the number of changed entries.
    fn execute(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<usize, TargetError> {
        let mut statement = self.statement(sql)?;
        let _writing = self.writing.lock();
        Ok(statement.execute(parameters)?)
    }

    /// Copies all pages of the WAL into the database file, and syncs the file.
    ///
    /// # Errors
    /// A reader is still active after [`PATIENCE`], or the error of `SQLite`.
    fn sync(&self) -> Result<(), TargetError> {
        let connection = self.connection()?;
        let _writing = self.writing.lock();
        connection.execute_batch("PRAGMA synchronous = FULL")?;
        let is_busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        connection.execute_batch(&format!("PRAGMA synchronous = {}", self.synchronous))?;
        match is_busy {
            0 => Ok(()),
            _ => Err(
                "SQLite cannot copy its WAL into the database file, because a reader is still active after \
                 one minute"
                    .into(),
            ),
        }
    }
}

/// Appends the value of a key to `value`. Returns whether the key exists.
fn look_up(
    statement: &mut CachedStatement<'_>,
    key: &[u8],
    value: &mut Vec<u8>,
) -> Result<bool, TargetError> {
    let found = statement.query_row(params![key], |row| {
        value.extend_from_slice(row.get_ref(0)?.as_blob()?);
        Ok(())
    });
    Ok(found.optional()?.is_some())
}

impl Target for SqliteStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.execute(PUT, params![key, value]).map(drop)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        look_up(&mut self.statement(GET)?, key, value)
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.execute(DELETE, params![key]).map(drop)
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        Some(self.execute(PUT_IF_ABSENT, params![key, value]).map(|changed| changed == 1))
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        Some(self.execute(DELETE_RANGE, params![low, high]).map(drop))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let mut statement = self.statement(scan_sql(scan.high.is_some(), scan.direction))?;
        let limit = i64::try_from(scan.limit).unwrap_or(i64::MAX);
        let mut rows = match scan.high {
            Some(high) => statement.query(params![scan.low, limit, high])?,
            None => statement.query(params![scan.low, limit])?,
        };
        let mut visited = 0;
        while let Some(row) = rows.next()? {
            visit(row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
            visited += 1;
        }
        Ok(visited)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let (mut put, mut delete) = (self.statement(PUT)?, self.statement(DELETE)?);
        let _writing = self.writing.lock();
        let transaction = self.connection()?.unchecked_transaction()?;
        for write in writes {
            match *write {
                Write::Put { key, value } => put.execute(params![key, value])?,
                Write::Delete { key } => delete.execute(params![key])?,
                ref other => return Err(other.unsupported()),
            };
        }
        Ok(transaction.commit()?)
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let mut statement = self.statement(GET)?;
        // All gets of one transaction read one snapshot.
        let transaction = self.connection()?.unchecked_transaction()?;
        let mut value = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            value.clear();
            let is_found = look_up(&mut statement, key, &mut value)?;
            visit(place, is_found.then_some(&*value));
        }
        Ok(transaction.commit()?)
    }

    fn flush(&self) -> Result<(), TargetError> {
        self.sync()
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        self.sync()
    }
}

impl Store for SqliteStore {
    fn version(&self) -> Option<String> {
        Some(rusqlite::version().to_owned())
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        let rebuild = || -> Result<(), TargetError> {
            let connection = self.connection()?;
            let writing = self.writing.lock();
            connection.execute_batch("VACUUM")?;
            drop(writing);
            self.sync()
        };
        Some(rebuild())
    }

    fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        let copy = || -> Result<(), TargetError> {
            std::fs::create_dir(directory)?;
            let file = directory.join(DATA);
            let file = file.to_str().ok_or("the path of the checkpoint is not UTF-8")?;
            self.connection()?.execute("VACUUM INTO ?1", params![file])?;
            Ok(())
        };
        Some(copy())
    }

    fn stats(&self) -> EngineStats {
        let mut stats = EngineStats::default();
        stats.whole.gauge(&c::TABLE_BYTES, std::fs::metadata(&self.file).ok().map(|metadata| metadata.len()));
        stats
    }
}
