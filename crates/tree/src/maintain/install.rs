//! Making a change of the tree's tables durable and visible, in one step each.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use compaction::{Levels, OutputRun, TableId};

use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::manifest::{RunState, State};
use crate::memory::Slot;
use crate::version::{TableRef, View};

/// A change of the tree's tables.
pub(super) struct Change<'a> {
    /// Tables that leave their place.
    pub(super) removed: &'a [TableId],
    /// Where the added tables go.
    pub(super) place: OutputRun,
    /// Tables that come; tables that only move are in `removed` too.
    pub(super) added: &'a [TableRef],
    /// The memtable whose content is in `added`, and which is dropped with this change.
    pub(super) flushed: Option<&'a Arc<Slot>>,
}

impl Inner {
    /// Records a change in the manifest, then shows it to readers. Files that nobody names any more are
    /// removed when their last reader lets go of them.
    pub(super) fn install(&self, change: &Change<'_>) -> Result<()> {
        let mut manifest = self.manifest.lock();
        let view = self.view.load_full();
        let levels = view.version.levels.edit(change.removed, change.place, change.added);
        let levels =
            levels.map_err(|error| Error::Failed(format!("the tree refuses its own change: {error}")))?;
        let state = State {
            levels: run_states(&levels),
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
        // The new shape and the word that it has changed come in one step: who waits until all is settled
        // must not see one without the other.
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
        let stays = |id: TableId| change.added.iter().any(|table| table.0.id() == id);
        let gone =
            view.version.tables().filter(|table| change.removed.contains(&table.id()) && !stays(table.id()));
        gone.for_each(|table| table.set_obsolete());
        self.balance_memory();
        self.signals.notify();
        Ok(())
    }

    /// Adds tables replayed from logs as the newest run; the logs stay until all of them are replayed.
    pub(crate) fn install_replayed(&self, place: OutputRun, added: &[TableRef]) -> Result<()> {
        self.install(&Change { removed: &[], place, added, flushed: None })
    }

    /// Makes all that was written durable, and says in the manifest which log holds what is in no table, and how
    /// long it is. Nobody writes any more.
    pub(crate) fn close(&self) -> Result<()> {
        self.stop_merges_for_ranges();
        self.sync()?;
        // The older logs are gone then, but for the one that takes the writes.
        self.wait_until_flushed()?;
        let current = self.log.lock();
        let Some(bytes) = current.file.bytes() else { return Ok(()) };
        let log = self.pending.lock().active.log;
        drop(current);
        let mut manifest = self.manifest.lock();
        let state = State { closed_log: Some((log, bytes)), ..manifest.state.clone() };
        manifest.record(&*self.storage, state).map_err(|error| self.fail(error))
    }

    /// The oldest log that is needed once `flushed` is in tables; memtables are flushed oldest first.
    fn oldest_log_without(&self, view: &View, flushed: &Arc<Slot>) -> Option<u64> {
        let kept = view.memtables().filter(|slot| !Arc::ptr_eq(slot, flushed));
        if self.wal_mode.has_log { kept.map(|slot| slot.log).min() } else { None }
    }
}

/// The levels by their numbers, as the manifest records them.
pub(crate) fn run_states(levels: &Levels<TableRef>) -> Vec<Vec<RunState>> {
    let run = |run: &compaction::Run<TableRef>| RunState {
        id: run.id,
        tables: run.tables.iter().map(|table| table.0.id()).collect(),
    };
    levels.levels.iter().map(|level| level.runs.iter().map(run).collect()).collect()
}
