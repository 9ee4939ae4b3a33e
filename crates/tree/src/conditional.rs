//! Conditional puts: the check that a key is absent and the put of its value, in one atomic step.
//!
//! A conditional put gets its sequence number like any other write, and its WAL record has a code of its own. When all
//! smaller sequence numbers are visible, the state before the number is final, and the put looks the key up in that
//! state. Other writers do not wait for the lookup. Recovery replays the writes in order, so it repeats the check and
//! finds the same answer.

use types::{Entry, Lookup, SequenceNumber};

use crate::batch::{BatchCounts, Operation, check_limits, encode_put_if_absent};
use crate::error::Result;
use crate::inner::Inner;
use crate::memory::Slot;
use crate::read::exists_in_runs;

impl Inner {
    /// Puts a value if the key is absent. Returns whether the value was written.
    pub(crate) fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Result<bool> {
        let entry = Entry { key, value: Some(value) };
        check_limits(&entry)?;
        // A key that exists costs a get, and no write.
        let (view, snapshot) = self.now();
        if self.get_in(&view, snapshot, key, &mut Vec::new())? {
            self.failure.check()?;
            return Ok(false);
        }
        drop(view);
        let mut written = Ok(false);
        self.commit(
            BatchCounts::of(&entry),
            |records| encode_put_if_absent(records, key, value),
            |slot, sequence| {
                written = self.is_absent_before(sequence, key);
                if let Ok(true) = written {
                    self.insert(slot, sequence, Operation::PutIfAbsent(entry));
                }
            },
        )?;
        written
    }

    /// Whether the writes before `sequence` leave the key absent. Waits until these writes are visible.
    fn is_absent_before(&self, sequence: SequenceNumber, key: &[u8]) -> Result<bool> {
        let before = sequence - 1;
        self.wait_until_visible(before)?;
        // No memtable with later writes was flushed, because the flush waits for this write.
        let view = self.view.load();
        self.get_in(&view, before, key, &mut Vec::new()).map(|found| !found)
    }

    /// Whether recovery must apply a conditional put: the key is neither in the memtable that is replayed nor in an
    /// SSTable.
    pub(crate) fn is_absent_in_recovery(&self, replayed: &Slot, key: &[u8]) -> Result<bool> {
        let key = self.hashed(key);
        match replayed.get(key, SequenceNumber::MAX, &mut Vec::new()) {
            Lookup::Found => Ok(false),
            Lookup::Deleted => Ok(true),
            Lookup::Absent => {
                exists_in_runs(&self.view.load(), key, self.counters.local()).map(|found| !found)
            }
        }
    }
}
