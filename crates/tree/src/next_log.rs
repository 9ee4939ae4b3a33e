//! Creation and closing of WAL files outside of the write path. The next WALs are created before a writer needs them,
//! and old WALs are closed later.
//!
//! Creating and closing a WAL takes some time, because the kernel reserves and releases space. All other writers wait
//! while a writer replaces a full memtable. Background threads therefore do this work, if they exist. With
//! `stall.reserve_wal`, the flush thread also reserves space for slightly more bytes than the previous WAL had. A
//! writer then appends to the WAL without a system call and without a page fault, so a busy device does not delay the
//! writer.

use crate::error::Result;
use crate::inner::Inner;
use crate::log_shelf::{NEXT_LOGS, NewLog};
use crate::wal::{LogFile, log_path};

/// The largest number of bytes for which a WAL reserves space in advance.
const MOST_RESERVED_BYTES: u64 = 64 << 20;

/// A new WAL reserves more space than the size of the previous WAL. The additional space is the size divided by this
/// number. WALs of full memtables differ slightly in size, because the sizes of keys and values differ.
const MARGIN: u64 = 16;

impl Inner {
    /// Returns a WAL without records for the next memtable. Creates the WAL if none was created in advance.
    pub(crate) fn take_log(&self) -> Result<NewLog> {
        let shelved = self.shelf.lock().next.pop_front();
        let next = if let Some(next) = shelved {
            next
        } else {
            // If another thread is creating a WAL now, that WAL has a lower number, so the tree must use it before a
            // further WAL.
            let _creating = self.creating_log.lock();
            let shelved = self.shelf.lock().next.pop_front();
            shelved.map_or_else(|| self.new_log(), Ok)?
        };
        let counters = self.counters.local();
        counters.wal_bytes.add(next.file.len());
        counters.wal_syncs.add(u64::from(self.wal_mode.syncs_at_rotation));
        Ok(next)
    }

    /// Closes the WAL of an immutable memtable, either now or later on the thread that removes files.
    pub(crate) fn retire_log(&self, log: LogFile) {
        if !self.flushes_inline() {
            let mut shelved = self.shelf.lock();
            shelved.last_bytes = log.len();
            shelved.retired.push(log);
        }
    }

    /// Creates WALs in advance until [`NEXT_LOGS`] WALs are ready. Does nothing if the tree has no WAL.
    pub(crate) fn create_next_logs(&self) -> Result<()> {
        while self.wal_mode.has_log && self.shelf.lock().next.len() < NEXT_LOGS {
            let _creating = self.creating_log.lock();
            let mut next = self.new_log()?;
            // Each sync of a WAL would also write the reserved space.
            if self.design.options.stall.reserve_wal && !self.wal_mode.syncs_records() {
                let last_bytes = self.shelf.lock().last_bytes;
                next.file.reserve((last_bytes + last_bytes / MARGIN).min(MOST_RESERVED_BYTES));
            }
            self.shelf.lock().next.push_back(next);
        }
        Ok(())
    }

    /// Removes the WALs that were created in advance, and closes the WALs of immutable memtables. Closing the tree
    /// calls this function.
    pub(crate) fn clear_shelf(&self) {
        let shelved = std::mem::take(&mut *self.shelf.lock());
        for next in shelved.next {
            drop(next.file);
            // If this removal fails, the WAL has no records, and the next open removes it.
            let _ = self.storage.remove(&log_path(&self.directory, next.number));
        }
    }

    fn new_log(&self) -> Result<NewLog> {
        let number = self.new_file();
        let seal = self.context.seals.of(number);
        let file = LogFile::create(&*self.storage, &self.directory, number, seal, self.wal_mode)?;
        Ok(NewLog { number, seal, file })
    }
}
