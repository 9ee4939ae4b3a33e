//! Flushes immutable memtables. Each memtable becomes a sorted run in level 0.

use std::collections::HashSet;
use std::sync::Arc;

use compaction::OutputRun;
use storage::Purpose;
use types::{Entry, SequenceNumber};

use super::combine::combine_in_memtable;
use super::install::Change;
use super::run_writer::RunWriter;
use super::workers::PanicWatch;
use crate::design::InlineWork;
use crate::error::Result;
use crate::inner::{Inner, Mode};
use crate::memory::Slot;
use crate::merge_operands::{is_operand, unmarked};
use crate::single_deletes::{SortedSingleDeletes, resolve};
use crate::table::SequenceRange;
use crate::version::TableRef;
use crate::wal;

impl Inner {
    /// Flushes the oldest immutable memtable. Returns `false` if there is no immutable memtable.
    pub(crate) fn flush_oldest(&self) -> Result<bool> {
        let _guard = self.flushing.lock();
        let Some(slot) = self.view.load().frozen.last().cloned() else { return Ok(false) };
        self.wait_until_visible(slot.last_sequence())?;
        slot.memtable.freeze();
        let tables = self.write_memtable(&slot)?;
        if tables.is_empty() && self.wal_mode.has_log {
            self.end_without_table(slot.log)?;
        }
        let place = OutputRun { level: 0, run: self.new_run() };
        self.install(&Change { removed: &[], place, added: &tables, flushed: Some(&slot) })?;
        if let Some(membership) = &self.membership {
            membership.log.note_flushed(membership.family, slot.last_sequence())?;
        }
        Ok(true)
    }

    /// Ends a flush that wrote no SSTable, because the memtable had no entry that must be kept. `log` is the number of
    /// the memtable's WAL.
    fn end_without_table(&self, log: u64) -> Result<()> {
        if self.is_scanned() && !self.wal_mode.syncs_at_rotation {
            // Without a manifest, recovery replays this WAL before later WALs (see `scanned`). This WAL must therefore
            // become durable before them.
            let bytes = self.storage.open(&wal::log_path(&self.directory, log), Purpose::Log)?.len();
            return wal::make_durable(&*self.storage, &self.directory, log, bytes);
        }
        // The manifest will name the next WAL, so the directory entry of this WAL must be durable. A flush with an
        // SSTable syncs the directory anyway, to make the SSTable durable.
        Ok(self.storage.sync_directory(&self.directory)?)
    }

    /// Writes a memtable to SSTables for level 0: the newest version of every key, and the range deletes. The SSTables
    /// omit three kinds of entries: entries that range deletes hide, tombstones of keys that range deletes also delete,
    /// and pairs of a single delete and its put.
    pub(crate) fn write_memtable(&self, slot: &Slot) -> Result<Vec<TableRef>> {
        let version = Arc::clone(&self.view.load().version);
        let loads = version.loads_with(&HashSet::new(), 0, true, slot.memtable.len() as u64);
        let (deletes, operator) = (slot.range_deletes.union(), self.merge_operator());
        let plan = self.plan_of_flush();
        let singles = slot.single_deletes.sorted();
        let sequences = self
            .is_scanned()
            .then(|| SequenceRange { first: self.last_in_tables(&version) + 1, last: slot.last_sequence() });
        let mut writer = RunWriter::new(self, 0, &loads, deletes.ranges().to_vec(), &plan, sequences);
        let mut outcome = Ok(());
        slot.memtable.drain(&mut |entry| {
            let is_hidden = deletes.cover(entry.key)
                && (entry.value.is_none() || slot.hides_own(self.hashed(entry.key), SequenceNumber::MAX));
            if outcome.is_ok()
                && !is_hidden
                && let Some(is_marked) = self.mark_of_flush(slot, &singles, &entry)
            {
                outcome = match operator {
                    Some(operator) if entry.value.is_some_and(is_operand) => {
                        let combined = combine_in_memtable(operator, slot, self.hashed(entry.key))
                            .ok_or_else(|| unmarked(&self.directory));
                        combined.and_then(|value| {
                            writer.add(Entry { key: entry.key, value: Some(&value) }, is_marked)
                        })
                    }
                    _ => writer.add(entry, is_marked),
                };
            }
        });
        outcome?;
        let tables = writer.finish()?.keep(self)?;
        let counters = self.counters.local();
        counters.flushes.bump();
        let bytes = tables.iter().map(|table| table.0.file_bytes()).sum();
        counters.flush_bytes.add(bytes);
        counters.level(0).bytes_written.add(bytes);
        Ok(tables)
    }

    /// Decides how a flush stores the newest version of a key. Returns `None` if the flush omits the key, because a
    /// single delete and its put are both in the memtable. Otherwise, returns whether the SSTable marks the entry. A
    /// mark shows that the entry is a single delete, or has replaced one.
    #[inline]
    fn mark_of_flush(&self, slot: &Slot, singles: &SortedSingleDeletes, entry: &Entry<'_>) -> Option<bool> {
        if singles.is_empty() {
            return Some(false);
        }
        let key = self.hashed(entry.key);
        if !singles.may_have(key.hash) {
            return Some(false);
        }
        let mut kinds = slot.version_kinds(key, singles, self.merge_operator().is_some());
        let (remainder, pairs) = resolve(kinds.next()?, kinds);
        self.counters.local().single_delete_pairs.add(pairs);
        remainder.mark(entry.value.is_none())
    }

    /// Returns whether the write that fills a memtable also flushes the memtable.
    pub(crate) fn flushes_inline(&self) -> bool {
        self.mode == Mode::Counted || self.design.options.threads.inline != InlineWork::None
    }

    /// Returns whether a write runs the due compactions itself, because no background thread runs compactions.
    pub(crate) fn compacts_inline(&self) -> bool {
        self.mode == Mode::Counted || self.design.options.threads.inline == InlineWork::All
    }

    /// Runs all due work for which no background thread exists. If another thread runs such work, the caller waits
    /// for that thread first. After the call, all work that was due at the start of the call is finished.
    pub(crate) fn work_inline(&self) -> Result<()> {
        let _watch = PanicWatch(self);
        if self.flushes_inline() {
            while self.flush_oldest().map_err(|error| self.fail(error))? {}
        }
        if self.compacts_inline() {
            while self.compact_next().map_err(|error| self.fail(error))? {}
        }
        Ok(())
    }

    /// Makes the active memtable immutable if it has entries, and returns after it is flushed.
    pub(crate) fn flush(&self) -> Result<()> {
        self.failure.check()?;
        let active = Arc::clone(&self.pending.lock().active);
        if !active.is_empty() {
            self.rotate(&active)?;
        }
        self.work_inline()?;
        self.wait_until_flushed()
    }

    /// Waits until all memtables that are immutable at the start of the call are flushed. The function does not wait
    /// for memtables that become immutable later, because this wait might never end.
    pub(crate) fn wait_until_flushed(&self) -> Result<()> {
        let Some(newest) = self.view.load().frozen.first().cloned() else { return self.failure.check() };
        self.wait_while(|inner| inner.view.load().frozen.iter().any(|slot| Arc::ptr_eq(slot, &newest)))
    }

    /// Waits until no flush and no compaction is due, and until all obsolete files that no view and no scan uses are
    /// removed.
    pub(crate) fn settle(&self) -> Result<()> {
        self.work_inline()?;
        self.wait_while(|inner| {
            // A flush removes its memtable from the list and requests a check for compactions under this lock. A thread
            // that holds the lock sees either both changes or neither.
            let state = inner.signals.state.lock();
            let compactor_busy = !inner.compacts_inline() && (state.shape_changed || state.compacting);
            let has_work = compactor_busy || !inner.view.load().frozen.is_empty();
            has_work || inner.obsolete.lock().is_removal_pending()
        })
    }

    /// Blocks until `busy` returns `false`. Meanwhile, background threads do the work.
    fn wait_while(&self, busy: impl Fn(&Self) -> bool) -> Result<()> {
        while busy(self) {
            self.failure.check()?;
            let mut state = self.signals.state.lock();
            self.signals.changed.wait_for(&mut state, WAIT_SLICE);
        }
        self.failure.check()
    }
}

/// The longest time between two checks of a waiting thread. The wait is limited, because a thread reads the condition
/// before it takes the lock and may therefore miss a notification.
const WAIT_SLICE: std::time::Duration = std::time::Duration::from_millis(2);
