//! Creates and closes WAL files outside of the write path. The next WALs are created before a writer needs them, and
//! the WALs of immutable memtables are closed later.
//!
//! Creating and closing a WAL takes some time, because the kernel reserves and releases space. While a writer replaces
//! a full memtable, all other writers wait. Background threads therefore create and close the WALs, if the tree has
//! background threads. With the option `stall.reserve_wal`, the flush thread also reserves space for as many bytes as
//! the previous WAL had. A writer then appends to the WAL without a system call and without a page fault, so a busy
//! device does not delay the writer.
//!
//! A writer never waits for a reservation of space. If no WAL is ready, the writer creates a WAL itself. WALs must be
//! used in the order of their numbers. The flush thread therefore removes its new WAL if a writer has meanwhile created
//! a WAL with a larger number.

use crate::error::Result;
use crate::inner::Inner;
use crate::log_shelf::{NEXT_LOGS, NewLog};
use crate::wal::{LogFile, log_path};

/// The largest number of bytes for which a WAL reserves space in advance.
const MOST_RESERVED_BYTES: u64 = 64 << 20;

/// The divisor for the spare space of a new WAL. The WAL reserves the size of the previous WAL, plus this size divided
/// by `MARGIN`, because WALs of full memtables differ slightly in size.
const MARGIN: u64 = 16;

impl Inner {
    /// Returns an empty WAL for the next memtable. Creates the WAL if none was created in advance.
    pub(crate) fn take_log(&self) -> Result<NewLog> {
        let shelved = self.shelf.lock().next.pop_front();
        let next = shelved.map_or_else(|| self.take_or_create_log(), Ok)?;
        let counters = self.counters.local();
        counters.wal_bytes.add(next.file.len());
        counters.wal_syncs.add(u64::from(self.wal_mode.syncs_at_rotation));
        Ok(next)
    }

    /// Waits until no other thread creates a WAL. Then returns the next WAL that is ready, or creates a WAL if none is
    /// ready.
    fn take_or_create_log(&self) -> Result<NewLog> {
        let _creating = self.creating_log.lock();
        let number = {
            let mut shelved = self.shelf.lock();
            if let Some(next) = shelved.next.pop_front() {
                return Ok(next);
            }
            let number = self.new_file();
            shelved.used = number;
            number
        };
        let mut log = self.create_log(number)?;
        self.sync_new_log(&mut log)?;
        Ok(log)
    }

    /// Closes the WAL of an immutable memtable. If background threads flush memtables, the call only keeps the WAL, and
    /// a background thread closes it later.
    pub(crate) fn retire_log(&self, log: LogFile) {
        if !self.flushes_inline() {
            let mut shelved = self.shelf.lock();
            shelved.last_bytes = log.len();
            shelved.retired.push(log);
        }
    }

    /// Creates the next WALs, which writers will use. If a file cannot be created, the function only counts the error,
    /// because the writer that needs the WAL creates it again.
    ///
    /// # Errors
    /// If a sync fails. A failed sync may lose data of other files.
    pub(crate) fn create_next_logs(&self) -> Result<()> {
        while self.wal_mode.has_log && self.shelf.lock().next.len() < NEXT_LOGS {
            let creating = self.creating_log.lock();
            let number = self.new_file();
            let Ok(mut next) = self.create_log(number) else {
                self.counters.local().wal_creation_errors.bump();
                self.remove_new_log(number);
                return Ok(());
            };
            self.sync_new_log(&mut next)?;
            // Each sync of a WAL would also write the reserved space.
            if self.design.options.stall.reserve_wal && !self.wal_mode.syncs_records() {
                drop(creating);
                let last_bytes = self.shelf.lock().last_bytes;
                next.file.reserve((last_bytes + last_bytes / MARGIN).min(MOST_RESERVED_BYTES));
            }
            let added = self.shelf.lock().add(next);
            if let Err(unused) = added {
                self.discard_log(unused);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Removes the WALs that were created in advance, and closes the WALs of immutable memtables. Closing the tree
    /// calls this function.
    pub(crate) fn clear_shelf(&self) {
        let shelved = std::mem::take(&mut *self.shelf.lock());
        shelved.next.into_iter().for_each(|next| self.discard_log(next));
    }

    /// Closes and removes a WAL that contains no records.
    fn discard_log(&self, log: NewLog) {
        drop(log.file);
        self.remove_new_log(log.number);
    }

    /// Removes the file of a WAL that contains no records. If the removal fails, the next successful opening removes
    /// the file.
    pub(crate) fn remove_new_log(&self, number: u64) {
        let _ = self.storage.remove(&log_path(&self.directory, number));
    }

    fn create_log(&self, number: u64) -> Result<NewLog> {
        let seal = self.context.seals.of(number);
        let file = LogFile::create_unsynced(&*self.storage, &self.directory, number, seal, self.wal_mode)?;
        Ok(NewLog { number, seal, file })
    }

    fn sync_new_log(&self, log: &mut NewLog) -> Result<()> {
        log.file.sync_new(&*self.storage, &self.directory, self.wal_mode)
    }
}
