//! Creation and closing of WAL files outside of the write path. The next WAL is created before a writer needs the
//! WAL, and old WALs are closed later.
//!
//! Creating and closing a WAL takes some time, because the kernel reserves and releases space. A writer that replaces
//! a full memtable delays all other writers meanwhile. If the tree has a flush thread, the flush thread does this
//! work.

use crate::error::Result;
use crate::inner::Inner;
use crate::log_shelf::NewLog;
use crate::wal::{LogFile, log_path};

impl Inner {
    /// Returns the next WAL. Creates the WAL if it does not exist yet.
    pub(crate) fn take_log(&self) -> Result<NewLog> {
        // A WAL that another thread creates now has a lower number, so it must be used before a further WAL.
        let mut shelved = self.shelf.lock();
        let next = shelved.next.take().map_or_else(|| self.new_log(), Ok)?;
        let counters = self.counters.local();
        counters.wal_bytes.add(next.file.len());
        counters.wal_syncs.add(u64::from(self.wal_mode.syncs_at_rotation));
        Ok(next)
    }

    /// Closes the WAL of an immutable memtable, either now or later on the flush thread.
    pub(crate) fn retire_log(&self, log: LogFile) {
        if !self.flushes_inline() {
            self.shelf.lock().retired.push(log);
        }
    }

    /// Closes the old WALs and creates the next WAL.
    pub(crate) fn tidy_logs(&self) -> Result<()> {
        let retired = std::mem::take(&mut self.shelf.lock().retired);
        drop(retired);
        let mut shelved = self.shelf.lock();
        if shelved.next.is_none() && self.wal_mode.has_log {
            shelved.next = Some(self.new_log()?);
        }
        Ok(())
    }

    /// Removes the next WAL and closes the old WALs. This function runs when the tree is closed.
    pub(crate) fn clear_shelf(&self) {
        let shelved = std::mem::take(&mut *self.shelf.lock());
        if let Some(next) = shelved.next {
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
