//! Approximate sizes of key ranges.

use std::ops::Bound;

use types::{Direction, SequenceNumber};

use crate::error::Result;
use crate::inner::Inner;
use crate::memory::{MemtableCursor, Slot};

/// The number of memtable entries that the first batch of a size estimate reads. Further batches follow until the end
/// of the key range.
const FIRST_BATCH: usize = 64;

impl Inner {
    /// Returns the approximate size in bytes of the entries with keys from `low`, inclusive, to `high`, exclusive. In
    /// memtables, the size counts key and value bytes. In an SSTable, the size is the distance between the approximate
    /// file offsets of `low` and `high`. Returns 0 if `high` is not above `low`.
    pub(crate) fn approximate_bytes(&self, low: &[u8], high: &[u8]) -> Result<u64> {
        if low >= high {
            return Ok(0);
        }
        let (view, snapshot) = self.now();
        let mut bytes: u64 = view.memtables().map(|slot| memtable_bytes(slot, low, high, snapshot)).sum();
        let counters = self.counters.local();
        for run in &view.version.runs {
            for table in &run.tables[run.overlapping(Bound::Included(low), Bound::Excluded(high))] {
                let start = table.approximate_offset(low, counters)?;
                bytes += table.approximate_offset(high, counters)?.saturating_sub(start);
            }
        }
        Ok(bytes)
    }
}

/// Returns the total size of the keys and values in a memtable, in bytes. Counts only entries that are visible at
/// `snapshot` and have keys from `low`, inclusive, to `high`, exclusive.
fn memtable_bytes(slot: &Slot, low: &[u8], high: &[u8], snapshot: SequenceNumber) -> u64 {
    let from = Bound::Included(low);
    let Some(mut cursor) = MemtableCursor::open(slot, from, Direction::Forward, snapshot, FIRST_BATCH) else {
        return 0;
    };
    let mut bytes = 0;
    while cursor.entry().key < high {
        bytes += cursor.entry().user_bytes() as u64;
        if !cursor.advance() {
            break;
        }
    }
    bytes
}
