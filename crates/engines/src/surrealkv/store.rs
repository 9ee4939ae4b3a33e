//! Implements a store of `SurrealKV`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use surrealkv::{
    CompactRangeOptions, CompressionType, Durability, Error, FilterPolicy, LSMIterator, Mode, Options,
    ReadOptions, RibbonFilter, Transaction, Tree, TreeBuilder,
};
use tokio::runtime::{Builder, Runtime};
use types::Direction;
use workload::{Scan, Target, TargetError, Write};

use super::terms::{BACKGROUND_THREADS, stall_threshold};
use crate::options::{Codec, EngineOptions, Log, ValuePlace};
use crate::settle;
use crate::stats::EngineStats;
use crate::store::Store;

/// The smallest key, because `SurrealKV` accepts no empty key.
const SMALLEST_KEY: &[u8] = &[0];

/// The name of the folder with the SSTables, in the directory of a store.
const TABLES: &str = "sstables";

/// A store of `SurrealKV`, with the runtime on which its commits, flushes and compactions run.
pub(super) struct SurrealKvStore {
    // Declared before the runtime, so that it is dropped first.
    tree: Tree,
    runtime: Runtime,
    durability: Durability,
    tables: PathBuf,
}

impl SurrealKvStore {
    pub(super) fn open(directory: &Path, settings: &EngineOptions) -> Result<Self, TargetError> {
        // Flushes and compactions block their threads, so the task that commits has a thread of its own.
        let threads = 1 + BACKGROUND_THREADS as usize;
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("surrealkv")
            .enable_time()
            .build()?;
        let tree = {
            // The tree starts its tasks on the runtime that this thread has entered.
            let _entered = runtime.enter();
            TreeBuilder::with_options(options(directory, settings)).build()?
        };
        let durability = match settings.log {
            Log::Sync => Durability::Immediate,
            Log::None | Log::Buffered | Log::Interval { .. } => Durability::Eventual,
        };
        Ok(Self { tree, runtime, durability, tables: directory.join(TABLES) })
    }

    /// Begins a transaction that reads a snapshot of the store.
    fn read(&self) -> Result<Transaction, TargetError> {
        Ok(self.tree.begin_with_mode(Mode::ReadOnly)?)
    }

    /// Runs `work` in a transaction, and commits the transaction. If `SurrealKV` rejects the commit because another
    /// transaction wrote one of its keys at the same time, begins again.
    fn commit(
        &self,
        mode: Mode,
        mut work: impl FnMut(&mut Transaction) -> Result<(), Error>,
    ) -> Result<(), TargetError> {
        loop {
            let mut transaction = self.tree.begin_with_mode(mode)?.with_durability(self.durability);
            work(&mut transaction).map_err(rejected)?;
            match self.runtime.block_on(transaction.commit()) {
                Err(Error::TransactionWriteConflict) => std::thread::yield_now(),
                committed => return Ok(committed?),
            }
        }
    }
}

/// Returns the error of a write that `SurrealKV` rejects.
fn rejected(error: Error) -> TargetError {
    match error {
        Error::EmptyKey => {
            "SurrealKV accepts keys of at least one byte, not of 0 bytes; use a key that is not empty".into()
        }
        other => other.into(),
    }
}

/// Returns the options of a store.
fn options(directory: &Path, settings: &EngineOptions) -> Options {
    let bits = settings.filter_bits_per_key.round() as usize;
    let filters = (bits > 0).then(|| Arc::new(RibbonFilter::new(bits)) as Arc<dyn FilterPolicy>);
    let options = Options::new()
        .with_path(directory.to_owned())
        .with_max_memtable_size(settings.memtable_bytes as usize)
        .with_memtable_stall_threshold(stall_threshold(settings) as usize)
        .with_block_cache_capacity(settings.cache_bytes)
        .with_block_size(settings.block_bytes as usize)
        .with_block_restart_interval(settings.restart_interval as usize)
        .with_filter_policy(filters)
        .with_compression_per_level(match settings.codec {
            Codec::Snappy => vec![CompressionType::SnappyCompression],
            Codec::Zstd { .. } => vec![CompressionType::ZstdCompression],
            Codec::None | Codec::Lz4 | Codec::Other(_) => Vec::new(),
        });
    match settings.values {
        ValuePlace::BlobFiles { threshold, file_bytes, .. } => options
            .with_enable_vlog(true)
            // Unlike its documentation, SurrealKV 1.2 stores only values above the threshold in the value log.
            .with_vlog_value_threshold((threshold as usize).saturating_sub(1))
            .with_vlog_max_file_size(file_bytes),
        ValuePlace::Inline | ValuePlace::Other(_) => options,
    }
}

/// Appends the value of a key to `value`. Returns whether the key exists.
fn look_up(transaction: &Transaction, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
    // A get of an empty key is an error in `SurrealKV`.
    let found = if key.is_empty() { None } else { transaction.get(key)? };
    if let Some(found) = &found {
        value.extend_from_slice(found);
    }
    Ok(found.is_some())
}

impl Target for SurrealKvStore {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.commit(Mode::WriteOnly, |transaction| transaction.set(key, value))
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        look_up(&self.read()?, key, value)
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.commit(Mode::WriteOnly, |transaction| transaction.delete(key))
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        let low = low.max(SMALLEST_KEY);
        Some(self.commit(Mode::WriteOnly, |transaction| transaction.delete_range(low, high)))
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        let mut is_absent = false;
        let committed = self.commit(Mode::ReadWrite, |transaction| {
            is_absent = transaction.get_for_update(key)?.is_none();
            if is_absent { transaction.set(key, value) } else { Ok(()) }
        });
        Some(committed.map(|()| is_absent))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        if scan.limit == 0 || scan.high.is_some_and(|high| high <= scan.low) {
            return Ok(0);
        }
        let transaction = self.read()?;
        let mut bounds = ReadOptions::new();
        bounds.set_iterate_lower_bound(Some(scan.low.to_vec()));
        bounds.set_iterate_upper_bound(scan.high.map(<[u8]>::to_vec));
        let mut entries = transaction.range_with_options(&bounds)?;
        let mut is_valid = match scan.direction {
            Direction::Forward => entries.seek_first()?,
            Direction::Backward => entries.seek_last()?,
        };
        let mut visited = 0;
        while is_valid {
            visit(entries.key().user_key(), &entries.value_ref()?);
            visited += 1;
            if visited == scan.limit {
                break;
            }
            is_valid = match scan.direction {
                Direction::Forward => entries.next()?,
                Direction::Backward => entries.prev()?,
            };
        }
        Ok(visited)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        Write::only_puts_and_deletes(writes)?;
        self.commit(Mode::WriteOnly, |transaction| {
            writes.iter().try_for_each(|write| match *write {
                Write::Put { key, value } => transaction.set(key, value),
                Write::Delete { key } => transaction.delete(key),
                _ => Ok(()), // rejected above
            })
        })
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let transaction = self.read()?;
        let mut value = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            value.clear();
            let is_found = look_up(&transaction, key, &mut value)?;
            visit(place, is_found.then_some(&*value));
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        // A compaction into level 0 only flushes the memtables.
        let only_flush =
            CompactRangeOptions { flush_memtable: true, target_level: Some(0), rewrite_bottommost: false };
        Ok(self.tree.compact_range(None, None, &only_flush)?)
    }

    fn settle(&self) -> Result<(), TargetError> {
        settle::until_idle(settle::UNSEEN, || (false, settle::files(&self.tables)));
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(self.runtime.block_on(self.tree.close())?)
    }
}

impl Store for SurrealKvStore {
    fn version(&self) -> Option<String> {
        Some(env!("PEERS_SURREALKV").to_owned())
    }

    fn compact(&self) -> Option<Result<(), TargetError>> {
        Some(self.tree.compact_range(None, None, &CompactRangeOptions::default()).map_err(Into::into))
    }

    fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        Some(self.tree.create_checkpoint(directory).map(drop).map_err(Into::into))
    }

    fn settle_margin(&self) -> Duration {
        settle::margin(settle::UNSEEN)
    }

    /// Returns empty statistics, because `SurrealKV` has no counters. The size of the SSTables alone would be
    /// misleading: entries may be in a memtable, whose size `SurrealKV` does not report, or in the value log.
    fn stats(&self) -> EngineStats {
        EngineStats::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineOptions;

    #[test]
    fn large_values_are_in_the_value_log_and_survive_a_reopening() {
        let home = tempfile::tempdir().unwrap();
        let values = ValuePlace::BlobFiles { threshold: 1_000, file_bytes: 1 << 20, stale_share: 0.5 };
        let settings = EngineOptions { values, ..EngineOptions::default() };
        let store = SurrealKvStore::open(home.path(), &settings).unwrap();
        store.put(b"large", &[7; 1_000]).unwrap();
        store.put(b"small", &[8; 999]).unwrap();
        store.close().unwrap();
        drop(store);
        let bytes: u64 = settle::files(&home.path().join("vlog")).iter().map(|(_, bytes)| bytes).sum();
        assert!((1_000..1_999).contains(&bytes), "{bytes}");
        let store = SurrealKvStore::open(home.path(), &settings).unwrap();
        for (key, expected) in [(&b"large"[..], vec![7; 1_000]), (b"small", vec![8; 999])] {
            let mut value = Vec::new();
            assert!(store.get(key, &mut value).unwrap());
            assert_eq!(value, expected);
        }
        store.close().unwrap();
    }

    #[test]
    fn an_empty_key_is_absent_and_cannot_be_written() {
        let home = tempfile::tempdir().unwrap();
        let store = SurrealKvStore::open(home.path(), &EngineOptions::default()).unwrap();
        assert!(!store.get(b"", &mut Vec::new()).unwrap());
        let error = store.put(b"", b"value").unwrap_err().to_string();
        assert!(error.starts_with("SurrealKV accepts keys of at least one byte"), "{error}");
        store.put(b"a", b"value").unwrap();
        store.delete_range(b"", b"b").unwrap().unwrap();
        assert!(!store.get(b"a", &mut Vec::new()).unwrap());
        store.close().unwrap();
    }
}
