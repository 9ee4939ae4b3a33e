//! Installs a change of the tree's SSTables. The change first becomes durable in the manifest, and then visible, each
//! in one step.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use compaction::{Levels, OutputRun, TableId};

use crate::blob::References;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::manifest::{RunState, State};
use crate::memory::Slot;
use crate::version::{TableRef, View, blob_files, references};

/// A change of the tree's tables.
pub(super) struct Change<'a> {
    /// The tables that are removed from their runs.
    pub(super) removed: &'a [TableId],
    /// The run that takes the added tables.
    pub(super) place: OutputRun,
    /// The tables that are added. Tables that only move are in `removed` too.
    pub(super) added: &'a [TableRef],
    /// The memtable whose entries are in `added`. The change also drops this memtable.
    pub(super) flushed: Option<&'a Arc<Slot>>,
}

impl Inner {
    /// Records a change in the manifest, and then publishes the change to readers. Files that are no longer part of the
    /// tree are removed when their last reader releases them.
    pub(super) fn install(&self, change: &Change<'_>) -> Result<()> {
        let mut manifest = self.manifest.lock();
        let view = self.view.load_full();
        let levels = view.version.levels.edit(change.removed, change.place, change.added);
        let levels =
            levels.map_err(|error| Error::Failed(format!("the tree rejected its own change: {error}")))?;
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
        let version = Arc::new(view.version.with(levels, self.range_work()));
        // The new view and the notification are published together, because a thread that waits in `settle` must see
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
        drop(manifest);
        self.pace_change(&view, version.levels.runs_of(0).len(), change.flushed.is_some());
        let stays = |id: TableId| change.added.iter().any(|table| table.0.id() == id);
        let gone =
            view.version.tables().filter(|table| change.removed.contains(&table.id()) && !stays(table.id()));
        gone.for_each(|table| table.set_obsolete());
        if view.version.has_blobs() {
            let kept: HashSet<u64> = references(&version.levels)
                .flat_map(|references| references.iter().map(|reference| reference.file.number()))
                .collect();
            let files = references(&view.version.levels).flat_map(References::iter);
            let gone = files.filter(|reference| !kept.contains(&reference.file.number()));
            gone.for_each(|reference| reference.file.set_obsolete(true));
        }
        self.balance_memory();
        self.signals.notify();
        Ok(())
    }

    /// Adds tables replayed from the WAL as the newest run. The WAL files are kept until all of them are replayed.
    pub(crate) fn install_replayed(&self, place: OutputRun, added: &[TableRef]) -> Result<()> {
        self.install(&Change { removed: &[], place, added, flushed: None })
    }

    /// Makes all writes durable. Records in the manifest which WAL has the writes that are in no table, and its length.
    /// No thread may write after this call.
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

    /// Returns the oldest WAL that is needed once `flushed` is in tables. Memtables are flushed oldest first.
    fn oldest_log_without(&self, view: &View, flushed: &Arc<Slot>) -> Option<u64> {
        let kept = view.memtables().filter(|slot| !Arc::ptr_eq(slot, flushed));
        if self.wal_mode.has_log { kept.map(|slot| slot.log).min() } else { None }
    }
}

/// Returns the numbers of the tables in each level, as the manifest records them.
pub(crate) fn run_states(levels: &Levels<TableRef>) -> Vec<Vec<RunState>> {
    let run = |run: &compaction::Run<TableRef>| RunState {
        id: run.id,
        tables: run.tables.iter().map(|table| table.0.id()).collect(),
    };
    levels.levels.iter().map(|level| level.runs.iter().map(run).collect()).collect()
}
