//! Implements a store of Fjall 2.

use std::path::Path;
use std::time::Duration;

use fjall2::{CompressionType, Config, Keyspace, PartitionCreateOptions, PartitionHandle, PersistMode};
use results::columns as c;
use workload::{Scan, Target, TargetError, Write};

use crate::options::{Codec, EngineOptions, Log};
use crate::stats::EngineStats;
use crate::store::Store;
use crate::{settle, walk};

/// A store of Fjall 2, which keeps all entries in one partition.
pub(super) struct Fjall2Store {
    keyspace: Keyspace,
    partition: PartitionHandle,
    syncs: bool,
}

impl Fjall2Store {
    /// Opens the store in `directory`. `write_buffer_bytes` limits the total size of all memtables.
    pub(super) fn open(
        directory: &Path,
        (settings, write_buffer_bytes): (&EngineOptions, u64),
    ) -> Result<Self, TargetError> {
        let period_ms = match settings.log {
            Log::Interval { period_ns } => {
                Some(u16::try_from(period_ns / 1_000_000).unwrap_or(u16::MAX).max(1))
            }
            _ => None,
        };
        let keyspace = Config::new(directory)
            .cache_size(settings.cache_bytes)
            .max_write_buffer_size(write_buffer_bytes)
            .flush_workers(1)
            .compaction_workers((settings.background_threads as usize).saturating_sub(1).max(1))
            .manual_journal_persist(settings.log == Log::None)
            .fsync_ms(period_ms)
            .open()?;
        let codec = if settings.codec == Codec::Lz4 { CompressionType::Lz4 } else { CompressionType::None };
        let bits = settings.filter_bits_per_key.round() as u8;
        let options = PartitionCreateOptions::default()
            .max_memtable_size(u32::try_from(settings.memtable_bytes).unwrap_or(u32::MAX))
            .block_size(settings.block_bytes as u32)
            .compression(codec)
            .manual_journal_persist(settings.log == Log::None)
            .bloom_filter_bits((bits > 0).then_some(bits));
        let partition = keyspace.open_partition("data", options)?;
        Ok(Self { keyspace, partition, syncs: settings.log == Log::Sync })
    }

    /// Syncs all previous writes if the WAL mode is [`Log::Sync`]. Otherwise, does nothing.
    fn sync(&self) -> Result<(), TargetError> {
        if self.syncs {
            self.keyspace.persist(PersistMode::SyncData)?;
        }
        Ok(())
    }
}

impl Target for Fjall2Store {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.partition.insert(key, value)?;
        self.sync()
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let found = self.partition.get(key)?;
        if let Some(found) = &found {
            value.extend_from_slice(found);
        }
        Ok(found.is_some())
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.partition.remove(key)?;
        self.sync()
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let Some(bounds) = walk::bounds(scan) else { return Ok(0) };
        // A scan of the partition sees concurrent writes, and half of a batch. A scan of its `snapshot` does too,
        // because the snapshot takes the last assigned sequence number and not the last visible one.
        let snapshot = self.partition.snapshot_at(self.keyspace.instant());
        let range = snapshot.range::<&[u8], _>(bounds);
        walk::walk(scan, range, |entry| {
            let (key, value) = entry?;
            visit(&key, &value);
            Ok(())
        })
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let mut batch = self.keyspace.batch();
        for write in writes {
            match *write {
                Write::Put { key, value } => batch.insert(&self.partition, key, value),
                Write::Delete { key } => batch.remove(&self.partition, key),
                other => return Err(other.unsupported()),
            }
        }
        batch.commit()?;
        self.sync()
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(self.partition.rotate_memtable_and_wait()?)
    }

    fn settle(&self) -> Result<(), TargetError> {
        settle::until_idle(settle::SEEN, || {
            let done = (self.keyspace.flushes_completed(), self.keyspace.compactions_completed());
            (self.keyspace.active_compactions() > 0, (done, self.partition.segment_count()))
        });
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(self.keyspace.persist(PersistMode::SyncAll)?)
    }
}

impl Store for Fjall2Store {
    fn version(&self) -> Option<String> {
        Some(env!("PEERS_FJALL2").to_owned())
    }

    fn settle_margin(&self) -> Duration {
        settle::margin(settle::SEEN)
    }

    fn stats(&self) -> EngineStats {
        let mut stats = EngineStats::default();
        stats
            .whole
            .gauge(&c::TABLE_BYTES, self.partition.disk_space())
            .gauge(&c::MEMTABLE_BYTES, self.keyspace.write_buffer_size());
        stats
    }
}
