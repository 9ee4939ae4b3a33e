//! Implements a store of sled.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use results::columns as c;
use sled::{Batch, Config, Db, Error, Mode};
use workload::{Scan, Target, TargetError, Write};

use crate::options::{EngineOptions, Log};
use crate::stats::EngineStats;
use crate::store::Store;
use crate::walk;

/// The maximum time for which an open waits for the lock of the folder. sled keeps the lock until its background threads
/// have ended, which can be shortly after the store was closed.
const MOST_LOCKED: Duration = Duration::from_secs(5);

/// Returns whether sled cannot open a folder because of its lock. Such an error has no kind of its own.
fn is_locked(error: &std::io::Error) -> bool {
    error.to_string().contains("could not acquire lock")
}

/// The default interval at which sled writes its log to the file, in milliseconds.
const USUAL_FLUSH_MS: u64 = 500;

/// The smallest cache with which sled works, in bytes. Smaller cache capacities are raised to this size.
const LEAST_CACHE_BYTES: u64 = 1 << 20;

/// A store of sled, which keeps all entries in its default tree.
pub(super) struct SledStore {
    db: Db,
    syncs: bool,
}

impl SledStore {
    pub(super) fn open(directory: &Path, settings: &EngineOptions) -> Result<Self, TargetError> {
        let flush_ms = match settings.log {
            Log::None | Log::Sync => None,
            Log::Buffered => Some(USUAL_FLUSH_MS),
            Log::Interval { period_ns } => Some((period_ns / 1_000_000).max(1)),
        };
        let config = Config::new()
            .path(directory)
            .cache_capacity(settings.cache_bytes.max(LEAST_CACHE_BYTES))
            .mode(Mode::HighThroughput)
            .flush_every_ms(flush_ms);
        let began = Instant::now();
        let db = loop {
            match config.open() {
                Err(Error::Io(error)) if is_locked(&error) && began.elapsed() < MOST_LOCKED => {
                    thread::sleep(Duration::from_millis(2));
                }
                opened => break opened?,
            }
        };
        Ok(Self { db, syncs: settings.log == Log::Sync })
    }

    /// Syncs all previous writes if the WAL mode is [`Log::Sync`]. Otherwise, does nothing.
    fn sync(&self) -> Result<(), TargetError> {
        if self.syncs { self.flush() } else { Ok(()) }
    }
}

impl Target for SledStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.db.insert(key, value)?;
        self.sync()
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let found = self.db.get(key)?;
        if let Some(found) = &found {
            value.extend_from_slice(found);
        }
        Ok(found.is_some())
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.db.remove(key)?;
        self.sync()
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        let swap = || -> Result<bool, TargetError> {
            let swapped = self.db.compare_and_swap(key, None::<&[u8]>, Some(value))?;
            self.sync().map(|()| swapped.is_ok())
        };
        Some(swap())
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let Some(bounds) = walk::bounds(scan) else { return Ok(0) };
        let range = self.db.range::<&[u8], _>(bounds);
        walk::walk(scan, range, |entry| {
            let (key, value) = entry?;
            visit(&key, &value);
            Ok(())
        })
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let mut batch = Batch::default();
        for write in writes {
            match *write {
                Write::Put { key, value } => batch.insert(key, value),
                Write::Delete { key } => batch.remove(key),
                other => return Err(other.unsupported()),
            }
        }
        self.db.apply_batch(batch)?;
        self.sync()
    }

    fn flush(&self) -> Result<(), TargetError> {
        self.db.flush()?;
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        self.flush()
    }
}

impl Store for SledStore {
    fn version(&self) -> Option<String> {
        Some(env!("PEERS_SLED").to_owned())
    }

    fn stats(&self) -> EngineStats {
        let mut stats = EngineStats::default();
        stats.whole.gauge(&c::TABLE_BYTES, self.db.size_on_disk().ok());
        stats
    }
}
