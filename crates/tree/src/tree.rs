//! The tree as its users see it.

use std::ops::RangeBounds;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use types::Entry;

use crate::batch::WriteBatch;
use crate::design::Design;
use crate::error::Result;
use crate::inner::Inner;
use crate::maintain::Workers;
use crate::open_options::OpenOptions;
use crate::opening::Opening;
use crate::range::Range;
use crate::read::Values;
use crate::recovered::Recovery;
use crate::snapshot::Snapshot;
use crate::stats::Stats;

impl OpenOptions {
    /// Opens the tree in `directory`, or makes a new one if the directory is empty or not there.
    ///
    /// # Errors
    /// If the design cannot be built, the directory is in use, holds something else or cannot be written, or
    /// what it holds is damaged.
    pub fn open(self, directory: impl AsRef<Path>) -> Result<Tree> {
        let inner = Arc::new(Opening::begin(self, directory.as_ref())?.finish()?);
        inner.balance_memory();
        match inner.work_inline() {
            // What the work would have read is damaged: nothing more is written, the rest can be read.
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
/// All methods take `&self` and may be called from many threads at once. In [`Mode::Counted`](crate::Mode::Counted) one thread
/// should write at a time, or the counters depend on who came first.
pub struct Tree {
    inner: Arc<Inner>,
    /// Ends and joins the background threads when the tree is dropped.
    _workers: Workers,
}

impl Tree {
    /// Sets the value of a key.
    ///
    /// # Errors
    /// If the key or the value is above its limit, or the write cannot be logged; nothing is written then.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        self.inner.write_entry(Entry { key, value: Some(value) })
    }

    /// Removes a key, if it is there.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn delete(&self, key: &[u8]) -> Result<()> {
        self.inner.write_entry(Entry { key, value: None })
    }

    /// Does all operations of a batch, or none: no reader and no crash sees a part of them.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn write(&self, batch: &WriteBatch) -> Result<()> {
        self.inner.write_batch(batch)
    }

    /// The value of a key, if there is one.
    ///
    /// # Errors
    /// If the key is above its limit, or a block cannot be read or is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        Ok(self.get_into(key, &mut value)?.then_some(value))
    }

    /// Appends the value of a key to `value`; whether there is one.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    #[inline]
    pub fn get_into(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let (view, snapshot) = self.inner.now();
        self.inner.get_in(&view, snapshot, key, value)
    }

    /// The values of many keys, all as of one moment.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn multi_get(&self, keys: &[&[u8]]) -> Result<Values> {
        let (view, snapshot) = self.inner.now();
        self.inner.multi_get_in(&view, snapshot, keys)
    }

    /// The keys between two bounds as of now, from either end.
    ///
    /// # Errors
    /// If a bound is above the limit of keys; reading the range can fail later.
    pub fn range(&self, bounds: impl RangeBounds<[u8]>) -> Result<Range<'_>> {
        let (view, snapshot) = self.inner.now();
        Range::new(&self.inner, view, snapshot, &bounds)
    }

    /// The tree as it is now, for reading later.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::take(&self.inner)
    }

    /// Writes what is in memory to tables, and returns once it is there.
    ///
    /// # Errors
    /// If writing fails, now or earlier.
    pub fn flush(&self) -> Result<()> {
        self.inner.flush()
    }

    /// Merges everything into one run of the last level.
    ///
    /// # Errors
    /// If reading or writing fails, now or earlier.
    pub fn compact(&self) -> Result<()> {
        self.inner.compact_all()
    }

    /// Returns once no flush and no compaction is due.
    ///
    /// # Errors
    /// If background work fails, now or earlier.
    pub fn settle(&self) -> Result<()> {
        self.inner.settle()
    }

    /// Makes all acknowledged writes durable: the log is synced and what is older than it is flushed, or
    /// without a log everything is.
    ///
    /// # Errors
    /// If writing fails, now or earlier.
    pub fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    /// Makes a copy of the tree in `directory`, which must be new or empty. The copy shares the table files
    /// (hard links), and is a tree of its own.
    ///
    /// # Errors
    /// If the directory is not empty, or is on another file system, or writing fails.
    pub fn checkpoint(&self, directory: impl AsRef<Path>) -> Result<()> {
        self.inner.checkpoint(directory.as_ref())
    }

    /// The counters, and what the tree holds now.
    pub fn stats(&self) -> Stats {
        let view = self.inner.view.load();
        let (filter_bytes, fence_bytes) = view.version.filter_and_fence_bytes();
        Stats {
            counts: self.inner.counters.sum(),
            levels: view.version.level_stats(),
            level_counts: self.inner.counters.sum_of_levels(),
            memtable_bytes: view.memtables().map(|slot| slot.memtable.memory_bytes() as u64).sum(),
            filter_bytes,
            fence_bytes,
            cache_bytes: self.inner.context.cache.weight_bytes(),
            expected_fpr: view.version.expected_fpr(),
            device: self.inner.storage.device_time(),
        }
    }

    /// What opening the tree found and did.
    pub fn recovery(&self) -> &Recovery {
        &self.inner.recovery
    }

    /// The design the tree was opened with.
    pub fn design(&self) -> &Design {
        &self.inner.design
    }

    /// The directory of the tree.
    pub fn directory(&self) -> &PathBuf {
        &self.inner.directory
    }

    /// Closes the tree. All that was written is durable then, in every mode of the log, and the manifest says
    /// how long the log is, so that the next opening can tell what damage took from it. Without a log,
    /// what is in memory is flushed; dropping the tree would lose it.
    ///
    /// # Errors
    /// If writing fails, now or earlier.
    pub fn close(self) -> Result<()> {
        self.inner.close()
    }
}
