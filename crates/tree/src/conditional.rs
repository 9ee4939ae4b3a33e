//! Conditional puts: the check that a key is absent and the put of its value, in one atomic step.
//!
//! A conditional put gets a sequence number like any other write. In its WAL record, a separate code distinguishes it
//! from other puts. The conditional put waits until all writes with smaller sequence numbers are visible, and then
//! looks up its key among these writes. Only later writers wait for this lookup, because sequence numbers become
//! visible in order. Recovery replays the writes in order, so recovery repeats the check with the same result.

use types::{Entry, Lookup, SequenceNumber};

use crate::batch::{BatchCounts, Operation, check_limits, encode_put_if_absent};
use crate::error::Result;
use crate::inner::Inner;
use crate::memory::Slot;
use crate::read::exists_in_runs;

impl Inner {
    /// Puts a value if the key is absent. Returns whether the put wrote the value.
    pub(crate) fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Result<bool> {
        let entry = Entry { key, value: Some(value) };
        check_limits(&entry)?;
        // If the key exists, the conditional put costs a get and writes nothing.
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

    /// Returns whether the key is absent after all writes before `sequence`. The function first waits until these
    /// writes are visible.
    fn is_absent_before(&self, sequence: SequenceNumber, key: &[u8]) -> Result<bool> {
        let before = sequence - 1;
        self.wait_until_visible(before)?;
        // No SSTable of this view contains later writes. A memtable with later writes is flushed only after this write
        // is visible.
        let view = self.view.load();
        self.get_in(&view, before, key, &mut Vec::new()).map(|found| !found)
    }

    /// Returns whether recovery must apply a conditional put. Recovery applies the put if neither the replayed
    /// memtable nor an SSTable has the key.
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
