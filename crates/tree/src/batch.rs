//! Write batches: puts and deletes that are applied atomically.

use std::cell::Cell;

use types::{ENTRY_CHARGE_BYTES, Entry, MAX_BATCH_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES};

use crate::codec::{Reader, put_varint};
use crate::error::{Error, Result};

/// The largest buffer, in bytes, that a thread keeps for its next batch.
const KEPT_BYTES: usize = 1 << 20;

thread_local! {
    /// The largest buffer of the batches that this thread has dropped. The next batch reuses this buffer and needs no
    /// new memory pages.
    static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A sequence of puts and deletes that are applied atomically. If two writes change the same key, the later write wins.
#[derive(Clone, Debug)]
pub struct WriteBatch {
    operations: Vec<u8>,
    counts: BatchCounts,
}

/// The numbers that a commit adds to the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchCounts {
    pub(crate) puts: u64,
    pub(crate) deletes: u64,
    /// The number of key and value bytes.
    pub(crate) user_bytes: u64,
}

impl BatchCounts {
    /// Returns the counts of one operation.
    pub(crate) fn of(entry: &Entry<'_>) -> Self {
        let deletes = u64::from(entry.value.is_none());
        Self { puts: 1 - deletes, deletes, user_bytes: entry.user_bytes() as u64 }
    }

    /// Returns the number of operations.
    pub(crate) fn operations(&self) -> u64 {
        self.puts + self.deletes
    }

    /// Returns the bytes that the operations add to the size of a memtable: key and value bytes, and a fixed charge per
    /// entry.
    pub(crate) fn charged_bytes(&self) -> u64 {
        self.user_bytes + self.operations() * ENTRY_CHARGE_BYTES
    }
}

impl WriteBatch {
    /// Creates an empty batch. The batch reuses the buffer of an earlier batch of this thread, if there is one.
    pub fn new() -> Self {
        Self { operations: KEPT.try_with(Cell::take).unwrap_or_default(), counts: BatchCounts::default() }
    }

    /// Adds a put to the batch.
    ///
    /// # Errors
    /// If the key or the value is above its limit, or if the batch would be. The batch is then unchanged.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.add(Entry { key, value: Some(value) })
    }

    /// Adds a delete to the batch.
    ///
    /// # Errors
    /// If the key is above its limit, or if the batch would be. The batch is then unchanged.
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.add(Entry { key, value: None })
    }

    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.counts.operations() as usize
    }

    /// Whether the batch has no operation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all operations and keeps the buffer.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.counts = BatchCounts::default();
    }

    pub(crate) fn counts(&self) -> BatchCounts {
        self.counts
    }

    /// Returns the operations in the encoding of the WAL.
    pub(crate) fn encoded(&self) -> &[u8] {
        &self.operations
    }

    fn add(&mut self, entry: Entry<'_>) -> Result<()> {
        check_limits(&entry)?;
        let bytes = self.operations.len() + entry.user_bytes();
        if bytes > MAX_BATCH_BYTES {
            return Err(Error::BatchTooLong(bytes));
        }
        encode_operation(&mut self.operations, &entry);
        let added = BatchCounts::of(&entry);
        self.counts.puts += added.puts;
        self.counts.deletes += added.deletes;
        self.counts.user_bytes += added.user_bytes;
        Ok(())
    }
}

impl Default for WriteBatch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for WriteBatch {
    /// Keeps the buffer for the next batch of this thread. A buffer above `KEPT_BYTES`, or smaller than the kept
    /// buffer, is freed.
    fn drop(&mut self) {
        let mut operations = std::mem::take(&mut self.operations);
        if operations.capacity() == 0 || operations.capacity() > KEPT_BYTES {
            return;
        }
        operations.clear();
        // The thread is ending, so there is no next batch.
        let _ = KEPT.try_with(|kept| {
            let other = kept.take();
            kept.set(if other.capacity() > operations.capacity() { other } else { operations });
        });
    }
}

/// Rejects keys and values above their limits.
pub(crate) fn check_limits(entry: &Entry<'_>) -> Result<()> {
    if entry.key.len() > MAX_KEY_BYTES {
        return Err(Error::KeyTooLong(entry.key.len()));
    }
    match entry.value.map_or(0, <[u8]>::len) {
        len if len > MAX_VALUE_BYTES => Err(Error::ValueTooLong(len)),
        _ => Ok(()),
    }
}

/// Appends one operation to `out`, in this order: key length, value length and kind, key, value.
#[inline]
pub(crate) fn encode_operation(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let value = entry.value.unwrap_or_default();
    put_varint(out, entry.key.len() as u64);
    put_varint(out, (value.len() as u64) << 1 | u64::from(entry.value.is_none()));
    out.extend_from_slice(entry.key);
    out.extend_from_slice(value);
}

/// Decodes operations. Where the bytes are corrupt, the last item is `None` and the iterator ends.
pub(crate) fn operations(encoded: &[u8]) -> impl Iterator<Item = Option<Entry<'_>>> {
    let mut reader = Reader::new(encoded);
    let mut damaged = false;
    std::iter::from_fn(move || {
        if damaged || reader.is_at_end() {
            return None;
        }
        let entry = read_operation(&mut reader);
        damaged = entry.is_none();
        Some(entry)
    })
}

fn read_operation<'a>(reader: &mut Reader<'a>) -> Option<Entry<'a>> {
    let key_len = usize::try_from(reader.varint()?).ok()?;
    let value = reader.varint()?;
    let key = reader.take(key_len)?;
    let bytes = reader.take(usize::try_from(value >> 1).ok()?)?;
    match (value & 1 == 1, bytes.is_empty()) {
        (false, _) => Some(Entry { key, value: Some(bytes) }),
        (true, true) => Some(Entry { key, value: None }),
        (true, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_read_back_in_order() {
        let mut batch = WriteBatch::new();
        batch.put(b"a", b"1").unwrap();
        batch.delete(b"a").unwrap();
        batch.put(b"", b"").unwrap();
        let read: Vec<_> = operations(batch.encoded()).map(Option::unwrap).collect();
        assert_eq!(
            read,
            [
                Entry { key: b"a", value: Some(b"1") },
                Entry { key: b"a", value: None },
                Entry { key: b"", value: Some(b"") }
            ]
        );
        assert_eq!(batch.counts(), BatchCounts { puts: 2, deletes: 1, user_bytes: 3 });
        assert_eq!(operations(&batch.encoded()[..2]).last(), Some(None));
    }

    #[test]
    fn a_batch_begins_empty_in_the_memory_of_an_earlier_one() {
        let filled = |bytes: usize| {
            let mut batch = WriteBatch::new();
            batch.put(b"key", &vec![1; bytes]).unwrap();
            (batch.operations.as_ptr(), batch)
        };
        drop(filled(KEPT_BYTES + 1));
        assert_eq!(WriteBatch::new().operations.capacity(), 0, "a large buffer is freed");
        let (place, first) = filled(1000);
        let (_, second) = filled(10);
        drop(first);
        drop(second);
        let next = WriteBatch::new();
        assert_eq!(next.operations.as_ptr(), place, "the larger buffer is kept");
        assert!(next.is_empty() && next.encoded().is_empty());
        assert_eq!(next.counts(), BatchCounts::default());
    }

    #[test]
    fn what_is_above_a_limit_changes_nothing() {
        let mut batch = WriteBatch::new();
        assert!(matches!(batch.delete(&vec![0; MAX_KEY_BYTES + 1]), Err(Error::KeyTooLong(65_537))));
        assert!(matches!(batch.put(b"k", &vec![0; MAX_VALUE_BYTES + 1]), Err(Error::ValueTooLong(_))));
        assert!(batch.is_empty() && batch.encoded().is_empty());
    }
}
