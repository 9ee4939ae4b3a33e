//! Implements a store of `TidesDB`.

use std::path::Path;
use std::time::Duration;

use results::columns as c;
use results::counters as n;
use self_cell::self_cell;
use tidesdb::{
    ColumnFamily, ColumnFamilyConfig, Config, ErrorCode, IsolationLevel, Iterator, LogLevel, SyncMode,
    TidesDB, Transaction,
};
use types::Direction;
use workload::{Scan, Target, TargetError, Write};

use super::terms::{compaction_threads, false_positives};
use crate::options::{EngineOptions, Log};
use crate::settle;
use crate::stats::EngineStats;
use crate::store::Store;

/// The result of a call of the `TidesDB` library.
type Outcome<T> = tidesdb::Result<T>;

/// The name of the only column family of a store.
const DATA: &str = "data";

/// One day in microseconds: a sync interval that is longer than any run. With this interval, each commit passes its
/// record to the kernel, and no commit syncs.
const DAY_US: u64 = 24 * 3600 * 1_000_000;

self_cell!(
    /// An open database and its only column family. The column family borrows from the database.
    struct Opened {
        owner: TidesDB,
        #[covariant]
        dependent: ColumnFamily,
    }
);

/// A store of `TidesDB`, which keeps all entries in one column family.
pub(super) struct TidesDbStore(Opened);

impl TidesDbStore {
    pub(super) fn open(directory: &Path, settings: &EngineOptions) -> Result<Self, TargetError> {
        let (sync, period_us) = match settings.log {
            Log::None => (SyncMode::None, 0),
            Log::Buffered => (SyncMode::Interval, DAY_US),
            Log::Sync => (SyncMode::Full, 0),
            Log::Interval { period_ns } => (SyncMode::Interval, (period_ns / 1000).max(1)),
        };
        let config = Config::new(directory)
            .log_level(LogLevel::None)
            .num_flush_threads(1)
            .num_compaction_threads(i32::try_from(compaction_threads(settings)).unwrap_or(i32::MAX))
            // A size of 0 would mean the default.
            .block_cache_size((settings.cache_bytes as usize).max(1))
            .memtable_write_buffer_size(settings.memtable_bytes as usize)
            .memtable_sync_mode(sync)
            .memtable_sync_interval_us(period_us)
            .memtable_idle_flush_seconds(0);
        let database = TidesDB::open(config)?;
        let bits = settings.filter_bits_per_key;
        let family = ColumnFamilyConfig::new()
            .btree_klog_block_size(settings.block_bytes as usize)
            .enable_bloom_filter(bits > 0.0)
            .bloom_fpr(false_positives(bits));
        match database.create_column_family(DATA, family) {
            Err(error) if error.code() != Some(ErrorCode::Exists) => return Err(error.into()),
            _ => {}
        }
        Ok(Self(Opened::try_new(database, |database| database.get_column_family(DATA))?))
    }

    fn database(&self) -> &TidesDB {
        self.0.borrow_owner()
    }

    fn family(&self) -> &ColumnFamily<'_> {
        self.0.borrow_dependent()
    }

    /// Runs `work` in a write transaction, and commits the transaction.
    fn commit(&self, work: impl Fn(&Transaction<'_>) -> Outcome<()>) -> Result<(), TargetError> {
        let committed = until_free(|| {
            let mut transaction = self.database().begin_transaction()?;
            work(&transaction)?;
            transaction.commit()
        });
        Ok(committed?)
    }

    /// Returns the value of a key. `None` if the key is absent.
    fn find(&self, transaction: &Transaction<'_>, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        match until_free(|| transaction.get_notrack(self.family(), key)) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Retries a call while it returns the error code for a resource that another thread uses. The library uses this code
/// for no other error.
fn until_free<T>(mut attempt: impl FnMut() -> Outcome<T>) -> Outcome<T> {
    loop {
        match attempt() {
            Err(error) if error.is_locked() => std::thread::yield_now(),
            outcome => return outcome,
        }
    }
}

/// Moves the iterator to the first entry in the direction of the scan. For a backward scan, this is the last key before
/// `scan.high`.
fn seek(iterator: &mut Iterator<'_>, scan: &Scan<'_>) -> Outcome<()> {
    match (scan.direction, scan.high) {
        (Direction::Forward, _) if scan.low.is_empty() => until_free(|| iterator.seek_to_first()),
        (Direction::Forward, _) => until_free(|| iterator.seek(scan.low)),
        (Direction::Backward, None) => until_free(|| iterator.seek_to_last()),
        (Direction::Backward, Some(high)) => {
            until_free(|| iterator.seek_for_prev(high))?;
            if iterator.is_valid() && iterator.key()? == high {
                until_free(|| iterator.prev())?;
            }
            Ok(())
        }
    }
}

/// Passes entries to `visit`, in the direction of the scan, from the current entry of the iterator to the end of the
/// key range. Stops after `scan.limit` entries. Returns the number of passed entries.
fn walk(iterator: &mut Iterator<'_>, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Outcome<usize> {
    let mut entries = 0;
    while entries < scan.limit && iterator.is_valid() {
        let (key, value) = until_free(|| iterator.key_value())?;
        let is_beyond = match scan.direction {
            Direction::Forward => scan.high.is_some_and(|high| *key >= *high),
            Direction::Backward => *key < *scan.low,
        };
        if is_beyond {
            break;
        }
        visit(&key, &value);
        entries += 1;
        if entries < scan.limit {
            match scan.direction {
                Direction::Forward => until_free(|| iterator.next())?,
                Direction::Backward => until_free(|| iterator.prev())?,
            }
        }
    }
    Ok(entries)
}

impl Target for TidesDbStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.commit(|transaction| transaction.put(self.family(), key, value))
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let transaction = self.database().begin_transaction()?;
        let found = self.find(&transaction, key)?;
        if let Some(found) = &found {
            value.extend_from_slice(found);
        }
        Ok(found.is_some())
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.commit(|transaction| transaction.delete(self.family(), key))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        if scan.limit == 0 || scan.high.is_some_and(|high| high <= scan.low) {
            return Ok(0);
        }
        // This isolation level reads one snapshot, and does not track reads for conflicts.
        let transaction = self.database().begin_transaction_with_isolation(IsolationLevel::Snapshot)?;
        let mut iterator = match (scan.direction, scan.high) {
            // This iterator opens only the SSTables that overlap the range.
            (_, Some(high)) => until_free(|| transaction.new_range_iterator(self.family(), scan.low, high))?,
            (_, None) => until_free(|| transaction.new_iterator(self.family()))?,
        };
        seek(&mut iterator, scan)?;
        Ok(walk(&mut iterator, scan, visit)?)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        Write::only_puts_and_deletes(writes)?;
        self.commit(|transaction| {
            writes.iter().try_for_each(|write| match *write {
                Write::Put { key, value } => transaction.put(self.family(), key, value),
                Write::Delete { key } => transaction.delete(self.family(), key),
                _ => Ok(()), // rejected above
            })
        })
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let transaction = self.database().begin_transaction_with_isolation(IsolationLevel::Snapshot)?;
        for (place, key) in keys.iter().enumerate() {
            visit(place, self.find(&transaction, key)?.as_deref());
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(until_free(|| self.database().flush_memtable())?)
    }

    fn settle(&self) -> Result<(), TargetError> {
        settle::until_idle(settle::SEEN, || {
            let stats = self.database().get_db_stats().ok();
            let is_pending = stats.as_ref().is_some_and(|stats| {
                stats.immutable_memtable_count > 0 || stats.compaction_pending_count > 0 || stats.is_flushing
            });
            let done =
                stats.map(|stats| (stats.flush_count, stats.compaction_count, stats.total_sstable_count));
            (is_pending || self.family().is_compacting(), done)
        });
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(self.database().sync_wal()?)
    }
}

impl Store for TidesDbStore {
    fn version(&self) -> Option<String> {
        Some(tidesdb::TIDESDB_LINKED_VERSION.to_owned())
    }

    fn settle_margin(&self) -> Duration {
        settle::margin(settle::SEEN)
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        let whole = || {
            until_free(|| self.database().flush_memtable())?;
            until_free(|| self.family().compact())
        };
        Some(whole().map_err(Into::into))
    }

    fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        Some(until_free(|| self.database().backup(directory)).map_err(Into::into))
    }

    fn stats(&self) -> EngineStats {
        let mut stats = EngineStats::default();
        let (Ok(all), Ok(family)) = (self.database().get_db_stats(), self.family().get_stats()) else {
            return stats;
        };
        let cache = self.database().get_cache_stats().ok().filter(|cache| cache.enabled);
        // Runs of the first level overlap. Each level below is one run.
        let files: Vec<u64> =
            family.level_num_sstables.iter().map(|files| u64::try_from(*files).unwrap_or(0)).collect();
        let filled = |levels: &[u64]| levels.iter().filter(|files| **files > 0).count() as u64;
        // The contents of an immutable memtable are not reported until it is flushed.
        let is_whole = all.immutable_memtable_count == 0 && !all.is_flushing;
        stats
            .whole
            .counter(&c::WAL_BYTES, all.wal_bytes_written)
            // A flush also writes large values to a value log, and the garbage collection of this log rewrites the
            // values.
            .counter(&c::FLUSH_BYTES, all.flush_bytes_written + all.vlog_bytes_written)
            .counter(&c::COMPACTION_BYTES_READ, all.compaction_bytes_read)
            .counter(&c::COMPACTION_BYTES_WRITTEN, all.compaction_bytes_written)
            .counter(&c::BLOCKS_FROM_CACHE, cache.as_ref().map(|cache| cache.hits))
            .counter(&c::BLOCKS_READ, cache.as_ref().map(|cache| cache.misses))
            .counter(&n::STALL_NS, all.write_stall_us * 1000)
            .gauge(&c::TABLE_BYTES, is_whole.then_some(all.total_data_size_bytes + all.vlog_file_size))
            .gauge(&c::LEVELS, filled(&files))
            .gauge(&c::RUNS, files.split_first().map(|(first, rest)| first + filled(rest)))
            .gauge(&c::MEMTABLE_BYTES, all.memtable_bytes as u64)
            .gauge(&c::CACHE_BYTES, cache.as_ref().map(|cache| cache.total_bytes as u64))
            .gauge(&c::TABLE_MEMORY_BYTES, family.filter_resident_bytes);
        stats
    }
}
