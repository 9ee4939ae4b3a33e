//! Installs a change of the tree's SSTables. The change first becomes durable in the manifest, and then visible to
//! readers. Each of the two steps is atomic.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use compaction::{Levels, OutputRun, TableId};

use crate::blob::References;
use crate::design::TableRelease;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::manifest::{RunState, State};
use crate::memory::Slot;
use crate::table::Table;
use crate::version::{TableRef, Version, View, blob_files, references};

/// A change of the tree's SSTables by a flush or a compaction.
pub(super) struct Change<'a> {
    /// The SSTables that the change removes from their sorted runs.
    pub(super) removed: &'a [TableId],
    /// The sorted run to which the change adds SSTables.
    pub(super) place: OutputRun,
    /// The SSTables that the change adds. SSTables that only move are also in `removed`.
    pub(super) added: &'a [TableRef],
    /// The memtable whose entries are in `added`. The change removes this memtable from the tree.
    pub(super) flushed: Option<&'a Arc<Slot>>,
}

impl Inner {
    /// Records a change in the manifest, and then publishes the change to readers. If the tree no longer uses a file,
    /// the file is removed after its last reader has released it.
    pub(super) fn install(&self, change: &Change<'_>) -> Result<()> {
        let early = self.early_version(change)?;
        let mut manifest = self.manifest.lock();
        let view = self.view.load_full();
        let levels = edited(&view.version, change)?;
        let state = State {
            levels: run_states(&levels),
            blobs: blob_files(&levels)?,
            log: change.flushed.map_or(manifest.state.log, |slot| self.oldest_log_without(&view, slot)),
            next_file: self.next_file.load(Ordering::Relaxed),
            next_run: self.next_run.load(Ordering::Relaxed),
            flushed_sequence: change
                .flushed
                .map_or(manifest.state.flushed_sequence, |slot| slot.last_sequence()),
            ..manifest.state.clone()
        };
        manifest.record(&*self.storage, state)?;
        if let Some(slot) = change.flushed {
            self.note_flush();
            // A thread that sees the new view in `settle` or `close` must also see the obsolete WAL.
            if self.wal_mode.has_log {
                let unneeded = manifest.unneeded_logs(slot.log, !change.added.is_empty());
                unneeded.into_iter().for_each(|log| self.remove_log(log));
            }
        }
        let version = match early {
            Some((before, version)) if Arc::ptr_eq(&before, &view.version) => version,
            // Another thread has changed the levels since the early version was built. The next version reuses the
            // indexes of the early version, so it reads little to build its own.
            Some((_, version)) => version.with(levels, self.range_work(), &self.counters),
            None => view.version.with(levels, self.range_work(), &self.counters),
        };
        let version = Arc::new(version);
        let changed = version.level_locks().map(|locks| locks.exclude(changed_levels(&view, change)));
        // The new view and the notification are published together. A thread that waits in `settle` must see either
        // both or neither.
        let mut signals = self.signals.state.lock();
        self.swap_view(|view| View {
            active: Arc::clone(&view.active),
            frozen: view
                .frozen
                .iter()
                .filter(|slot| !change.flushed.is_some_and(|done| Arc::ptr_eq(done, slot)))
                .cloned()
                .collect(),
            version: Arc::clone(&version),
        });
        signals.shape_changed = true;
        drop(signals);
        drop(changed);
        drop(manifest);
        self.pace_change(&view, version.levels.runs_of(0).len(), change.flushed.is_some());
        let stays = |id: TableId| change.added.iter().any(|table| table.0.id() == id);
        let gone =
            view.version.tables().filter(|table| change.removed.contains(&table.id()) && !stays(table.id()));
        let gone: Vec<&Arc<Table>> = gone.collect();
        gone.iter().for_each(|table| table.set_obsolete());
        self.remove_tables_later(&gone);
        if self.design.options.table.release == TableRelease::NextCompaction && !gone.is_empty() {
            // The assignment drops the references to the inputs of the previous compaction.
            *self.stale_tables.lock() = gone.into_iter().cloned().collect();
        }
        if view.version.has_blobs() {
            let kept: HashSet<u64> = references(&version.levels)
                .flat_map(|references| references.iter().map(|reference| reference.file.number()))
                .collect();
            let files = references(&view.version.levels).flat_map(References::iter);
            let gone = files.filter(|reference| !kept.contains(&reference.file.number()));
            gone.for_each(|reference| reference.file.set_obsolete(true));
        }
        match change.flushed {
            Some(_) => self.arbitrate(),
            None => self.balance_memory(),
        }
        self.signals.notify();
        Ok(())
    }

    /// Builds the next version of the tree before the manifest is locked, because the indexes of all sorted runs take
    /// long to build. Returns the current version and the new version. Returns `None` if the design has no such
    /// indexes.
    fn early_version(&self, change: &Change<'_>) -> Result<Option<(Arc<Version>, Version)>> {
        let before = Arc::clone(&self.view.load().version);
        if !before.has_indexes() {
            return Ok(None);
        }
        let version = before.with(edited(&before, change)?, self.range_work(), &self.counters);
        Ok(Some((before, version)))
    }

    /// Adds SSTables to the tree as the newest run. They contain writes that recovery has read from the WAL. The WAL
    /// files remain until all of them are replayed.
    pub(crate) fn install_replayed(&self, place: OutputRun, added: &[TableRef]) -> Result<()> {
        self.install(&Change { removed: &[], place, added, flushed: None })
    }

    /// Makes all writes of a tree durable before it is closed. The function records the number and the length of the
    /// last WAL in the manifest. This WAL contains the writes that no SSTable contains. No thread may write after this
    /// call.
    pub(crate) fn close(&self) -> Result<()> {
        self.stop_merges_for_ranges();
        self.sync()?;
        // After this wait, the WAL of the active memtable is the only remaining WAL.
        self.wait_until_flushed()?;
        self.clear_shelf();
        let current = self.log.lock();
        let Some(bytes) = current.file.bytes() else { return Ok(()) };
        let log = self.pending.lock().active.log;
        drop(current);
        let mut manifest = self.manifest.lock();
        let state = State { closed_log: Some((log, bytes)), ..manifest.state.clone() };
        manifest.record(&*self.storage, state).map_err(|error| self.fail(error))
    }

    /// Returns the oldest WAL that is still needed after the flush of `flushed`, or `None` without a WAL. The oldest
    /// memtable is always flushed first.
    fn oldest_log_without(&self, view: &View, flushed: &Arc<Slot>) -> Option<u64> {
        let kept = view.memtables().filter(|slot| !Arc::ptr_eq(slot, flushed));
        if self.wal_mode.has_log { kept.map(|slot| slot.log).min() } else { None }
    }
}

/// Returns the levels of the tree after the change `change` of the version `version`.
fn edited(version: &Version, change: &Change<'_>) -> Result<Levels<TableRef>> {
    let levels = version.levels.edit(change.removed, change.place, change.added);
    levels.map_err(|error| Error::Failed(format!("cannot add the new SSTables to the tree: {error}")))
}

/// Returns the levels in which a change of the tree adds or removes SSTables.
fn changed_levels<'v>(view: &'v View, change: &Change<'v>) -> impl Iterator<Item = usize> + use<'v> {
    let removed = change.removed;
    let tables = view.version.levels.tables().filter(|(_, table)| removed.contains(&table.0.id()));
    tables.map(|(place, _)| place.level).chain([change.place.level])
}

/// Returns the numbers of the sorted runs and SSTables of each level, as the manifest records them.
pub(crate) fn run_states(levels: &Levels<TableRef>) -> Vec<Vec<RunState>> {
    let run = |run: &compaction::Run<TableRef>| RunState {
        id: run.id,
        tables: run.tables.iter().map(|table| table.0.id()).collect(),
    };
    levels.levels.iter().map(|level| level.runs.iter().map(run).collect()).collect()
}
