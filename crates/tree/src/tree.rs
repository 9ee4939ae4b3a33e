//! The tree as its users see it.

use std::ops::RangeBounds;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cache::Cache;
use storage::Storage;
use types::Entry;

use crate::batch::WriteBatch;
use crate::design::Design;
use crate::error::{Error, Result};
use crate::inner::{Inner, Mode};
use crate::maintain::Workers;
use crate::opening::Opening;
use crate::range::Range;
use crate::read::Values;
use crate::recovered::Recovery;
use crate::seals::Seals;
use crate::snapshot::Snapshot;
use crate::stats::Stats;
use crate::table::{Component, TableContext};

/// How to open a tree.
pub struct OpenOptions {
    pub(crate) design: Design,
    pub(crate) mode: Mode,
    pub(crate) storage: Option<Arc<dyn Storage>>,
    pub(crate) cache: Option<Arc<dyn Cache>>,
    pub(crate) clock: fn() -> u64,
    pub(crate) quarantine: bool,
    pub(crate) identity: Option<u64>,
}

impl OpenOptions {
    /// Opens with this design, in [`Mode::Timed`].
    pub fn new(design: Design) -> Self {
        Self {
            design,
            mode: Mode::Timed,
            storage: None,
            cache: None,
            clock: || 0,
            quarantine: false,
            identity: None,
        }
    }

    /// When background work is done.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Uses this storage in place of the one the design names: to count, to inject faults, or to open again
    /// what lives in memory.
    #[must_use]
    pub fn storage(mut self, storage: Arc<dyn Storage>) -> Self {
        self.storage = Some(storage);
        self
    }

    /// Shares this cache with other trees, in place of the one the design names.
    #[must_use]
    pub fn cache(mut self, cache: Arc<dyn Cache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// A clock in nanoseconds for the time that writers wait and that merges take; without one these times are 0.
    #[must_use]
    pub fn clock(mut self, clock: fn() -> u64) -> Self {
        self.clock = clock;
        self
    }

    /// Goes on without files that are damaged: they are moved to `quarantine/` in the tree's directory, and
    /// what they held is missing. Without this, damage is an error.
    #[must_use]
    pub fn quarantine(mut self, quarantine: bool) -> Self {
        self.quarantine = quarantine;
        self
    }

    /// What a new tree is told from other trees by, in place of a random number: so that the same life leaves
    /// the same bytes. A tree that is there keeps what it has.
    #[must_use]
    pub fn identity(mut self, identity: u64) -> Self {
        self.identity = Some(identity);
        self
    }

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

/// The error of a choice that cannot be built.
pub(crate) fn misuse(error: catalog::ChoiceError) -> Error {
    Error::Misuse(error.message)
}

/// What all tables of the tree share.
pub(crate) fn table_context(
    design: &Design,
    storage: Arc<dyn Storage>,
    cache: Option<Arc<dyn Cache>>,
    directory: &Path,
    seals: Seals,
) -> Result<TableContext> {
    /// Trees that share a cache have numbers of their own. One that has its cache to itself has number 0, so
    /// that its blocks fall into the same places in every run.
    static SHARING_TREES: AtomicU64 = AtomicU64::new(1);
    let (bloom, fence, hash) = (design.choice("bloom"), design.choice("fence"), design.choice("hash"));
    Ok(TableContext {
        storage,
        directory: directory.to_owned(),
        seals,
        tree: cache.as_ref().map_or(0, |_| SHARING_TREES.fetch_add(1, Ordering::Relaxed)),
        cache: match cache {
            Some(cache) => cache,
            None => Arc::from(cache::CATALOG.build(design.choice("cache")).map_err(misuse)?),
        },
        bloom: Component {
            label: bloom.label(),
            component: Arc::from(bloom::CATALOG.build(bloom).map_err(misuse)?),
        },
        allocation: bloom::ALLOCATIONS.build(design.choice("allocation")).map_err(misuse)?,
        fence: Component {
            label: fence.label(),
            component: Arc::from(fence::CATALOG.build(fence).map_err(misuse)?),
        },
        hash: Component {
            label: hash.label(),
            component: Arc::from(crate::hash::CATALOG.build(hash).map_err(misuse)?),
        },
        format: crate::table::FORMATS.build(design.choice("format")).map_err(misuse)?,
        compression: compression::CATALOG.build(design.choice("compression")).map_err(misuse)?,
        options: design.options.clone(),
    })
}

/// A durable ordered map from byte strings to byte strings: a log-structured merge-tree.
///
/// All methods take `&self` and may be called from many threads at once. In [`Mode::Counted`] one thread
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
