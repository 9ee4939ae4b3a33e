//! The type `Tree`, its public methods, and the opening of a tree.

use std::ops::RangeBounds;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use types::Entry;

use crate::arbitration::Arbitration;
use crate::batch::WriteBatch;
use crate::design::Design;
use crate::error::Result;
use crate::inner::Inner;
use crate::maintain::Workers;
use crate::open_options::OpenOptions;
use crate::opening::Opening;
use crate::range::Range;
use crate::read::MultiGetValues;
use crate::recovered::Recovery;
use crate::snapshot::Snapshot;
use crate::stats::Stats;

impl OpenOptions {
    /// Opens the tree in `directory`. Creates a new tree if the directory is empty or does not exist.
    ///
    /// # Errors
    /// If the design cannot be built, if the options `create_if_missing` or `error_if_exists` forbid the opening, or if
    /// the directory is in use, has unrelated files, cannot be written or is corrupt.
    pub fn open(self, directory: impl AsRef<Path>) -> Result<Tree> {
        let inner = Arc::new(Opening::begin(self, directory.as_ref())?.finish()?);
        inner.balance_memory();
        match inner.work_inline() {
            // An input of a due flush or compaction is corrupt. The tree then accepts no writes, but all other data is
            // readable.
            Err(error) if error.is_damage() => {}
            done => done?,
        }
        inner.signals.state.lock().shape_changed = true;
        let workers = Workers::start(&inner)?;
        Ok(Tree { inner, _workers: workers })
    }
}

/// A durable ordered map from byte strings to byte strings: a log-structured merge-tree.
///
/// All methods take `&self` and may be called from many threads at once. In [`Mode::Counted`](crate::Mode::Counted),
/// only one thread should write, because otherwise the counters depend on the order of the threads.
pub struct Tree {
    pub(crate) inner: Arc<Inner>,
    /// The background threads of the tree. Dropping this value ends and joins the threads.
    _workers: Workers,
}

impl Tree {
    /// Sets the value of a key.
    ///
    /// # Errors
    /// If the key or the value is longer than its limit, or if writing the WAL fails. The tree is then unchanged.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        self.inner.write_entry(Entry { key, value: Some(value) })
    }

    /// Deletes a key. An absent key is not an error.
    ///
    /// # Errors
    /// If the key is longer than its limit, or if writing the WAL fails. The tree is then unchanged.
    pub fn delete(&self, key: &[u8]) -> Result<()> {
        self.inner.write_entry(Entry { key, value: None })
    }

    /// Sets the value of a key if the key is absent, in one atomic step. Returns whether the value was set.
    ///
    /// # Errors
    /// If the key or the value is longer than its limit, if the key cannot be looked up, or if writing the WAL fails.
    /// After a failed lookup the key is unchanged, but recovery after a crash may set its value.
    pub fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Result<bool> {
        self.inner.put_if_absent(key, value)
    }

    /// Merges an operand into the value of a key with the operator of the design. The operator treats an absent key as
    /// an empty value.
    ///
    /// # Errors
    /// If the key or the operand is longer than its limit, if writing the WAL fails, or if the design has no merge
    /// operator.
    pub fn merge(&self, key: &[u8], operand: &[u8]) -> Result<()> {
        self.inner.merge_entry(key, operand)
    }

    /// Deletes a key that has at most one put since its previous single delete, and no merge and no other delete. If a
    /// flush or a compaction reads both the tombstone and the put, both are dropped. The tombstone of
    /// [`delete`](Self::delete) must reach the last sorted run.
    ///
    /// If the key has other writes, an older value of the key may reappear after a flush or a compaction. Until then,
    /// the key is absent.
    ///
    /// # Errors
    /// If the key is longer than its limit, or if writing the WAL fails. The tree is then unchanged.
    pub fn single_delete(&self, key: &[u8]) -> Result<()> {
        self.inner.single_delete(key)
    }

    /// Deletes all keys from `low`, inclusive, to `high`, exclusive, with one range tombstone. Does nothing if `low`
    /// and `high` are equal.
    ///
    /// # Errors
    /// If a key is longer than its limit, if writing the WAL fails, or if `high` is below `low`.
    pub fn delete_range(&self, low: &[u8], high: &[u8]) -> Result<()> {
        self.inner.delete_range(low, high)
    }

    /// Applies all operations of a batch atomically. Readers see all operations of the batch or none of them, also
    /// after a crash.
    ///
    /// # Errors
    /// If writing the WAL fails, or if the batch has a merge and the design has no merge operator.
    pub fn write(&self, batch: &WriteBatch) -> Result<()> {
        self.inner.write_batch(batch)
    }

    /// Returns the value of a key, or `None` if the key is absent.
    ///
    /// # Errors
    /// If the key is longer than its limit, or if a block cannot be read or is corrupt.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        Ok(self.get_into(key, &mut value)?.then_some(value))
    }

    /// Appends the value of a key to `value` and returns `true`. Returns `false` if the key is absent.
    ///
    /// # Errors
    /// If the key is longer than its limit, or if a block cannot be read or is corrupt.
    #[inline]
    pub fn get_into(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let (view, snapshot) = self.inner.now();
        let found = self.inner.get_in(&view, snapshot, key, value)?;
        if self.inner.observes_reads {
            drop(view);
            self.inner.note_gets(1);
        }
        Ok(found)
    }

    /// Returns the values of many keys from one consistent view, in the order of `keys`.
    ///
    /// # Errors
    /// If a key is longer than its limit, or if a block cannot be read or is corrupt.
    pub fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues> {
        let (view, snapshot) = self.inner.now();
        let values = self.inner.multi_get_in(&view, snapshot, keys)?;
        if self.inner.observes_reads {
            drop(view);
            self.inner.note_gets(keys.len() as u64);
        }
        Ok(values)
    }

    /// Opens a scan of the keys between two bounds. The scan sees the current state of the tree, and the caller can
    /// read the scan from both ends.
    ///
    /// # Errors
    /// If a bound is longer than the maximum length of keys. Reading entries from the scan can also fail later.
    #[inline]
    pub fn range(&self, bounds: impl RangeBounds<[u8]>) -> Result<Range<'_>> {
        let (view, snapshot) = self.inner.now();
        Range::new(&self.inner, view, snapshot, &bounds)
    }

    /// Takes a snapshot: a consistent view of the current state of the tree.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::take(&self.inner)
    }

    /// Flushes all memtables to SSTables, and returns after the flush has finished.
    ///
    /// # Errors
    /// If writing fails, or if an earlier write has failed.
    pub fn flush(&self) -> Result<()> {
        self.inner.flush()
    }

    /// Flushes all memtables, and compacts all SSTables into one sorted run in the last level.
    ///
    /// # Errors
    /// If reading or writing fails, or if an earlier write has failed.
    pub fn compact(&self) -> Result<()> {
        self.compact_range(..)
    }

    /// Flushes all memtables, and compacts the SSTables that overlap a range of keys into one sorted run in the last
    /// level. SSTables that overlap these SSTables are compacted, too. All other SSTables stay unchanged.
    ///
    /// # Errors
    /// If reading or writing fails, or if an earlier write has failed.
    pub fn compact_range(&self, bounds: impl RangeBounds<[u8]>) -> Result<()> {
        self.inner.compact_range(bounds.start_bound(), bounds.end_bound())
    }

    /// Returns the approximate size in bytes of the entries with keys from `low`, inclusive, to `high`, exclusive. The
    /// size includes data blocks of SSTables, and keys and values in memtables, but not values in blob files. The call
    /// visits each entry of the range in memtables, and searches the fence pointers of SSTables.
    ///
    /// # Errors
    /// If a part of the fence is on storage and cannot be read, or is corrupt.
    pub fn approximate_bytes(&self, low: &[u8], high: &[u8]) -> Result<u64> {
        self.inner.approximate_bytes(low, high)
    }

    /// Waits until no flush and no compaction is due.
    ///
    /// # Errors
    /// Returns an error if background work fails, or if earlier background work has failed.
    pub fn settle(&self) -> Result<()> {
        self.inner.settle()
    }

    /// Makes all acknowledged writes durable. The tree syncs the WAL and waits for the flush of the immutable
    /// memtables. Without a WAL, the tree flushes all memtables.
    ///
    /// # Errors
    /// If writing fails, or if an earlier write has failed.
    pub fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    /// Creates a copy of the tree in `directory`, which must be new or empty. The copy is an independent tree that
    /// shares the SSTables and blob files through hard links.
    ///
    /// # Errors
    /// If the directory is not empty, if it is on another file system, or if writing fails.
    pub fn checkpoint(&self, directory: impl AsRef<Path>) -> Result<()> {
        self.inner.checkpoint(directory.as_ref(), None)
    }

    /// Returns the counters and the current sizes of the tree.
    pub fn stats(&self) -> Stats {
        let view = self.inner.view.load();
        let (filter_bytes, fence_bytes) = view.version.filter_and_fence_bytes();
        Stats {
            counts: self.inner.counters.sum(),
            levels: view.version.level_stats(),
            level_counts: self.inner.counters.sum_of_levels(),
            memtable_bytes: view.memtables().map(|slot| slot.memory_bytes() as u64).sum(),
            filter_bytes,
            fence_bytes,
            cache_bytes: self.inner.context.cache.weight_bytes(),
            memtable_capacity_bytes: self.inner.memtable_bytes(),
            cache_capacity_bytes: self.inner.context.cache.capacity(),
            filter_bits_per_key: self.inner.filter_bits_per_key(),
            memory_moves: self.inner.arbitration.as_ref().map_or(0, Arbitration::moves),
            expected_fpr: view.version.expected_fpr(),
            blobs: view.version.blob_stats(),
            device: self.inner.storage.device_time(),
        }
    }

    /// Returns the report of the recovery that opened the tree.
    pub fn recovery(&self) -> &Recovery {
        &self.inner.recovery
    }

    /// Returns the design with which the tree was opened.
    pub fn design(&self) -> &Design {
        &self.inner.design
    }

    /// Returns the directory of the tree.
    pub fn directory(&self) -> &PathBuf {
        &self.inner.directory
    }

    /// Closes the tree and makes all writes durable, in every WAL mode. The manifest then records the length of the
    /// WAL, so that the next opening can detect a truncated WAL. Without a WAL, closing flushes the memtables. If a
    /// tree without a WAL is dropped without closing, the writes in its memtables are lost.
    ///
    /// # Errors
    /// If writing fails, or if an earlier write has failed.
    pub fn close(self) -> Result<()> {
        self.inner.close()
    }
}
