//! Implements a store of Fjall 3.

use std::path::Path;
use std::time::Duration;

use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
    RestartIntervalPolicy,
};
use fjall::{
    CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode, Readable,
};
use results::columns as c;
use workload::{Scan, Target, TargetError, Write};

use crate::options::{Codec, EngineOptions, Log, ValuePlace};
use crate::stats::EngineStats;
use crate::store::Store;
use crate::{settle, walk};

/// A store of Fjall 3, which keeps all entries in one keyspace.
pub(super) struct FjallStore {
    database: Database,
    keyspace: Keyspace,
    syncs: bool,
}

impl FjallStore {
    pub(super) fn open(directory: &Path, settings: &EngineOptions) -> Result<Self, TargetError> {
        let database = Database::builder(directory)
            .cache_size(settings.cache_bytes)
            .worker_threads(settings.background_threads as usize)
            .manual_journal_persist(settings.log == Log::None)
            .open()?;
        let keyspace = database.keyspace("data", || options(settings))?;
        Ok(Self { database, keyspace, syncs: settings.log == Log::Sync })
    }

    /// Syncs all previous writes if the WAL mode is [`Log::Sync`]. Otherwise, does nothing.
    fn sync(&self) -> Result<(), TargetError> {
        if self.syncs {
            self.database.persist(PersistMode::SyncData)?;
        }
        Ok(())
    }
}

fn options(settings: &EngineOptions) -> KeyspaceCreateOptions {
    let codec = if settings.codec == Codec::Lz4 { CompressionType::Lz4 } else { CompressionType::None };
    let bits = settings.filter_bits_per_key as f32;
    let filters = match bits > 0.0 {
        true => FilterPolicy::all(FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(bits))),
        false => FilterPolicy::disabled(),
    };
    KeyspaceCreateOptions::default()
        .max_memtable_size(settings.memtable_bytes)
        .manual_journal_persist(settings.log == Log::None)
        .data_block_size_policy(BlockSizePolicy::all(settings.block_bytes as u32))
        .data_block_restart_interval_policy(RestartIntervalPolicy::all(
            u8::try_from(settings.restart_interval).unwrap_or(u8::MAX),
        ))
        .data_block_compression_policy(CompressionPolicy::all(codec))
        .index_block_compression_policy(CompressionPolicy::all(codec))
        .filter_policy(filters)
        .with_kv_separation(separation(settings, codec))
}

/// Returns the options of Fjall that store large values in blob files. Returns `None` if the design stores all values
/// with their keys.
fn separation(settings: &EngineOptions, codec: CompressionType) -> Option<KvSeparationOptions> {
    let ValuePlace::BlobFiles { threshold, file_bytes, stale_share } = settings.values else { return None };
    Some(
        KvSeparationOptions::default()
            .separation_threshold(u32::try_from(threshold).unwrap_or(u32::MAX))
            .file_target_size(file_bytes)
            .staleness_threshold(stale_share as f32)
            .age_cutoff(1.0)
            .compression(codec),
    )
}

impl Target for FjallStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.keyspace.insert(key, value)?;
        self.sync()
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let found = self.keyspace.get(key)?;
        if let Some(found) = &found {
            value.extend_from_slice(found);
        }
        Ok(found.is_some())
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.keyspace.remove(key)?;
        self.sync()
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let Some(bounds) = walk::bounds(scan) else { return Ok(0) };
        // A scan of the keyspace itself sees concurrent writes, and half of a batch.
        let snapshot = self.database.snapshot();
        let range = snapshot.range::<&[u8], _>(&self.keyspace, bounds);
        walk::walk(scan, range, |entry| {
            let (key, value) = entry.into_inner()?;
            visit(&key, &value);
            Ok(())
        })
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let mut batch = self.database.batch();
        for write in writes {
            match *write {
                Write::Put { key, value } => batch.insert(&self.keyspace, key, value),
                Write::Delete { key } => batch.remove(&self.keyspace, key),
                other => return Err(other.unsupported()),
            }
        }
        batch.commit()?;
        self.sync()
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(self.keyspace.rotate_memtable_and_wait()?)
    }

    fn settle(&self) -> Result<(), TargetError> {
        settle::until_idle(settle::SEEN, || {
            let database = &self.database;
            let is_busy = database.outstanding_flushes() > 0 || database.active_compactions() > 0;
            (is_busy, (database.compactions_completed(), self.keyspace.table_count()))
        });
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }
}

impl Store for FjallStore {
    fn version(&self) -> Option<String> {
        Some(env!("PEERS_FJALL").to_owned())
    }

    fn settle_margin(&self) -> Duration {
        settle::margin(settle::SEEN)
    }

    fn stats(&self) -> EngineStats {
        let mut stats = EngineStats::default();
        stats
            .whole
            .gauge(&c::TABLE_BYTES, self.keyspace.disk_space())
            .gauge(&c::MEMTABLE_BYTES, self.database.write_buffer_size())
            .gauge(&c::CACHE_BYTES, self.database.cache_size());
        stats
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        Some(self.keyspace.major_compact().map_err(Into::into))
    }
}
