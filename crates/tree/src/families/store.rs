//! A store with several column families.

use std::ops::RangeBounds;
use std::path::Path;
use std::sync::Arc;

use parking_lot::RwLock;
use storage::Storage;

use super::batch::{self, FamilyBatch, FamilyId};
use super::part::{self, Part};
use super::shared_log::SharedLog;
use crate::batch::WriteBatch;
use crate::design::Design;
use crate::error::{Error, Result};
use crate::family_folder::check_continues;
use crate::inner::Inner;
use crate::manifest::{FamilyIdentity, Manifest, State};
use crate::memory::Slot;
use crate::range::Range;
use crate::recovered::Recovery;
use crate::seals::Seals;
use crate::snapshot::Snapshot;
use crate::stats::Stats;
use crate::tree::Tree;
use crate::write::WorkAfterCommit;

/// The limit for the total size of completed WAL segments, as a multiple of `memtable.capacity`. Above this limit, the
/// store flushes the column families that need the oldest segment. The default of the `RocksDB` option
/// `max_total_wal_size` has the same factor.
const MOST_LOG: u64 = 4;

/// A store of several column families: ordered maps that share one WAL, one cache and one memory budget.
///
/// A [`FamilyBatch`] is atomic over all its families: no crash keeps only a part of the batch, except in a store
/// without a WAL. [`snapshots`](Self::snapshots) sees each batch completely or not at all. All methods take `&self` and
/// may be called from many threads at once.
///
/// ```
/// use lsmbench_tree::{Design, Families, FamilyBatch, OpenOptions};
///
/// let design = "storage = \"memory\"
/// families = { index = { bloom = \"ribbon\" }, values = { compression = \"zstd\" } }";
/// let design = Design::default().with(&design.parse()?)?;
/// let store = Families::open(OpenOptions::new(design), "db")?;
/// let (index, values) = (store.family("index").unwrap(), store.family("values").unwrap());
/// let mut batch = FamilyBatch::new();
/// batch.of(index.id()).put(b"name", b"7")?;
/// batch.of(values.id()).put(b"7", b"a long value")?;
/// store.write(&batch)?;
/// assert_eq!(values.get(b"7")?.as_deref(), Some(b"a long value".as_slice()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Families {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) directory: std::path::PathBuf,
    pub(super) design: Design,
    /// The names of the column families. The index of a name is the number of the family.
    pub(super) names: Vec<String>,
    /// The tree of each column family. The index of a tree is the number of its family.
    pub(super) trees: Vec<Tree>,
    pub(super) log: Arc<SharedLog>,
    pub(super) seals: Seals,
    /// A lock that each commit holds in shared mode until it is visible. Snapshots of all column families take it
    /// exclusively, so that they see each commit completely or not at all.
    pub(super) commits: RwLock<()>,
    pub(super) recovery: Recovery,
    /// The lock on the directory, which keeps other processes out.
    pub(super) _lock: Box<dyn Send + Sync>,
}

impl Families {
    /// Returns the names of all column families, in the order of their numbers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Applies all operations of a batch over several column families atomically.
    ///
    /// # Errors
    /// If the batch is too long, if writing the WAL fails, or if the batch has a merge for a family without a merge
    /// operator.
    pub fn write(&self, batch: &FamilyBatch) -> Result<()> {
        self.write_parts(&batch.parts()?)
    }

    /// Applies several batches as one atomic batch. Each pair contains a column family and its batch. Each family may
    /// occur only once.
    ///
    /// # Errors
    /// See [`write`](Self::write).
    pub fn write_batches(&self, batches: &[(FamilyId, &WriteBatch)]) -> Result<()> {
        self.write_parts(&batch::parts(batches.iter().map(|(family, batch)| (*family, *batch)))?)
    }

    /// Returns a snapshot of each family, in the order of [`names`](Self::names). The snapshots of all families
    /// belong to one point in time: together, they see each batch completely or not at all.
    pub fn snapshots(&self) -> Vec<Snapshot> {
        let _still = self.commits.write();
        self.trees.iter().map(Tree::snapshot).collect()
    }

    /// Opens a scan of the keys between two bounds in each family, in the order of [`names`](Self::names). All scans
    /// belong to one point in time, like [`snapshots`](Self::snapshots).
    ///
    /// # Errors
    /// If a bound is longer than the maximum length of keys. Reading entries from a scan can also fail later.
    pub fn ranges(&self, bounds: impl RangeBounds<[u8]>) -> Result<Vec<Range<'_>>> {
        let _still = self.commits.write();
        self.trees.iter().map(|tree| tree.range((bounds.start_bound(), bounds.end_bound()))).collect()
    }

    /// Flushes the memtables of all column families to SSTables, and returns after the flushes have finished.
    ///
    /// # Errors
    /// If writing fails, or if an earlier write has failed.
    pub fn flush(&self) -> Result<()> {
        self.log.check()?;
        self.trees.iter().try_for_each(Tree::flush)
    }

    /// Compacts each column family into one sorted run in the last level.
    ///
    /// # Errors
    /// If reading or writing fails, or if an earlier write has failed.
    pub fn compact(&self) -> Result<()> {
        self.log.check()?;
        self.trees.iter().try_for_each(Tree::compact)
    }

    /// Waits until no flush and no compaction of any column family is due.
    ///
    /// # Errors
    /// Returns an error if background work fails, or if earlier background work has failed.
    pub fn settle(&self) -> Result<()> {
        self.trees.iter().try_for_each(Tree::settle)
    }

    /// Makes all acknowledged writes durable. Without a WAL, the store flushes all memtables.
    ///
    /// # Errors
    /// If writing fails, or if an earlier write has failed.
    pub fn sync(&self) -> Result<()> {
        if self.log.has_log() { self.log.sync() } else { self.flush() }
    }

    /// Creates a copy of the store in `directory`, which must be new or empty. The copy shares the SSTables and blob
    /// files through hard links. Writers wait during the call.
    ///
    /// # Errors
    /// If the directory is not empty, if it is on another file system, or if writing fails.
    pub fn checkpoint(&self, directory: impl AsRef<Path>) -> Result<()> {
        let directory = directory.as_ref();
        self.storage.create_directory(directory)?;
        if !self.storage.list(directory)?.is_empty() {
            let directory = directory.display();
            let message =
                format!("{directory} is not empty; give the checkpoint an empty or a new directory");
            return Err(Error::Misuse(message));
        }
        let _still = self.commits.write();
        let seals = self.seals.of_copy(1, directory);
        for (name, tree) in self.names.iter().zip(&self.trees) {
            let family = FamilyIdentity { name: name.clone(), store: seals.identity() };
            tree.inner.checkpoint(&directory.join(name), Some(family))?;
        }
        // The manifest comes last, so an interrupted checkpoint is no store.
        let families = self.names.clone();
        let state = State { next_file: 1, next_run: 1, seals, families, ..State::default() };
        Manifest::create(&*self.storage, directory, state)?;
        Ok(())
    }

    /// Returns the counters and the sizes of the store: the sums over all column families, with the shared WAL and the
    /// shared cache.
    ///
    /// # Panics
    /// If the store has no column family, which cannot happen.
    pub fn stats(&self) -> Stats {
        let mut trees = self.trees.iter().map(Tree::stats);
        let mut stats = trees.next().expect("a store must have at least one column family");
        trees.for_each(|tree| stats.add(&tree));
        let (bytes, syncs) = self.log.written();
        stats.counts.wal_bytes += bytes;
        stats.counts.wal_syncs += syncs;
        stats
    }

    /// Returns the report of the recovery when the store was opened. The numbers are sums over all column families.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Returns the directory of the store.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the design with which the store was opened.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Closes the store and makes all writes durable, in every WAL mode. Without a WAL, closing flushes the memtables.
    ///
    /// # Errors
    /// If writing fails, or if an earlier write has failed.
    pub fn close(self) -> Result<()> {
        if !self.log.has_log() {
            self.flush()?;
        }
        self.log.close()
    }

    pub(super) fn tree(&self, id: FamilyId) -> &Tree {
        &self.trees[id.0]
    }

    fn inner(&self, family: usize) -> &Inner {
        &self.trees[family].inner
    }

    /// Sets the value of a key in one column family if the key is absent. Returns whether the value was set.
    pub(super) fn put_if_absent(&self, family: FamilyId, key: &[u8], value: &[u8]) -> Result<bool> {
        let mut batch = WriteBatch::new();
        batch.put(key, value)?;
        let still = self.commits.write();
        if self.tree(family).get(key)?.is_some() {
            self.log.check()?;
            return Ok(false);
        }
        let parts = [(family.0, &batch)];
        let work = self.commit(&parts)?;
        drop(still);
        self.work_after(work, self.most_log())?;
        Ok(true)
    }

    /// Applies the operations of several column families atomically. Each pair contains the number of a family and its
    /// operations.
    pub(super) fn write_parts(&self, parts: &[(usize, &WriteBatch)]) -> Result<()> {
        let commits = self.commits.read();
        let work = self.commit(parts)?;
        drop(commits);
        self.work_after(work, self.most_log())
    }

    /// Commits the operations of several column families: writes them to the WAL and applies them to the memtables.
    /// Returns the work that each family must do after the commit. The caller must hold the lock `commits`.
    fn commit(&self, parts: &[(usize, &WriteBatch)]) -> Result<Vec<(usize, WorkAfterCommit)>> {
        self.log.check()?;
        parts.iter().try_for_each(|(family, batch)| {
            let tree = self.inner(*family);
            tree.failure.check()?;
            tree.check_merges(batch)
        })?;
        let operations: usize = parts.iter().map(|(_, batch)| batch.len()).sum();
        if operations == 0 {
            return Ok(Vec::new());
        }
        let slots = self.log.commit(operations as u64, |record, tally| {
            let reserve = |(family, batch): &(usize, &WriteBatch)| {
                let slot = self.inner(*family).reserve(batch.counts());
                part::encode(record, *family, slot.first, batch);
                let last = slot.first + batch.len() as u64 - 1;
                tally.add(*family, last, batch.counts().charged_bytes());
                slot
            };
            parts.iter().map(reserve).collect::<Vec<_>>()
        });
        let slots = slots.map_err(|error| self.fail(error))?;
        let mut work = Vec::new();
        for ((family, batch), slot) in parts.iter().zip(slots) {
            let inner = self.inner(*family);
            inner
                .apply(&slot, batch.counts(), |memtable, first| inner.insert_batch(memtable, first, batch))?;
            work.push((*family, slot.work_after()));
        }
        Ok(work)
    }

    /// Applies operations of one column family that recovery has read from the shared WAL.
    pub(super) fn apply_recovered(&self, part: &Part) -> Result<()> {
        let (inner, counts) = (self.inner(part.family), part.batch.counts());
        let slot = self.log.count(|tally| {
            tally.add(part.family, part.last(), counts.charged_bytes());
            inner.reserve(counts)
        });
        check_continues(&self.directory.join(&self.names[part.family]), part.first, slot.first)?;
        inner.apply_uncounted(&slot, counts, |memtable, first| {
            inner.insert_batch(memtable, first, &part.batch);
        })?;
        // Recovery has not yet applied all operations of the completed segments to the families, so this call does not
        // limit the size of the WAL.
        self.work_after(vec![(part.family, slot.work_after())], u64::MAX)
    }

    /// Keeps the store within its memory limit and its WAL limit.
    ///
    /// - If the active memtables of all column families together have reached `memtable.capacity`, the largest one
    ///   becomes immutable.
    /// - While the completed WAL segments exceed their limit ([`MOST_LOG`]), the memtables with operations of the
    ///   oldest segment become immutable.
    pub(super) fn keep_limits(&self) -> Result<()> {
        self.work_after(Vec::new(), self.most_log())
    }

    /// Does the work that each column family must do after a commit. Then enforces the memory limit, and the WAL limit
    /// of `most_log` bytes, like [`keep_limits`](Self::keep_limits).
    fn work_after(&self, work: Vec<(usize, WorkAfterCommit)>, most_log: u64) -> Result<()> {
        let budget = self.design.memtable_capacity.0;
        let mut rotated = Vec::new();
        let mut rotate = |(family, memtable): (usize, Arc<Slot>)| {
            rotated.push(family);
            self.inner(family).rotate(&memtable)
        };
        for (family, work) in work {
            match work {
                WorkAfterCommit::None => {}
                WorkAfterCommit::Pay => self.inner(family).pay(),
                WorkAfterCommit::Rotate(memtable) => rotate((family, memtable))?,
            }
        }
        if let Some(fullest) = self.log.fullest(budget, |family| self.active(family)) {
            rotate(fullest)?;
        }
        while let Some(lagging) = self.log.lagging(most_log, |family| self.active(family)) {
            rotate(lagging)?;
        }
        rotated.into_iter().try_for_each(|family| self.inner(family).work_inline())
    }

    /// Returns the limit for the total size of the completed WAL segments, in bytes.
    fn most_log(&self) -> u64 {
        MOST_LOG * self.design.memtable_capacity.0
    }

    fn active(&self, family: usize) -> Arc<Slot> {
        Arc::clone(&self.inner(family).pending.lock().active)
    }

    /// Records a WAL error in the trees of all column families, so that no tree waits for the sequence numbers of the
    /// failed commit.
    fn fail(&self, error: Error) -> Error {
        let error = self.log.fail(error);
        for tree in &self.trees {
            tree.inner.fail(Error::Failed(error.to_string()));
        }
        error
    }
}
