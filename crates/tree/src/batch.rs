//! Write batches: puts, merges, deletes, single deletes and range deletes that are applied atomically.

use std::cell::Cell;

use types::{ENTRY_CHARGE_BYTES, Entry, MAX_BATCH_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES};

use crate::codec::{Reader, put_varint};
use crate::error::{Error, Result};

/// The maximum capacity, in bytes, of a buffer that a thread keeps for its next write batch.
const KEPT_BYTES: usize = 1 << 20;

thread_local! {
    /// The largest buffer of the write batches that this thread has dropped. The next batch of the thread reuses the
    /// buffer, so it needs no new memory pages.
    static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A sequence of puts, merges, deletes, single deletes and range deletes that are applied atomically, in order.
#[derive(Clone, Debug)]
pub struct WriteBatch {
    operations: Vec<u8>,
    counts: BatchCounts,
}

/// The numbers of operations and bytes that a commit adds to the counters of the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchCounts {
    pub(crate) puts: u64,
    pub(crate) deletes: u64,
    pub(crate) range_deletes: u64,
    pub(crate) merges: u64,
    pub(crate) single_deletes: u64,
    /// The number of bytes of the keys and values in the commit.
    pub(crate) user_bytes: u64,
}

/// One operation of a write batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation<'a> {
    /// The put or the delete of one key.
    Write(Entry<'a>),
    /// The delete of all keys from `low`, inclusive, to `high`, exclusive. `low` is below `high`.
    DeleteRange { low: &'a [u8], high: &'a [u8] },
    /// A put that has an effect only if its key is absent.
    PutIfAbsent(Entry<'a>),
    /// The delete of a key that has at most one put since its previous single delete.
    SingleDelete(&'a [u8]),
    /// The merge of an operand into the value of a key.
    Merge { key: &'a [u8], operand: &'a [u8] },
}

/// The number of bits that store the key length in the first number of an encoded operation. The bits above them store
/// the code of the operation: 0 for puts, deletes and range deletes.
const KEY_LEN_BITS: u32 = 17;
const _: () = assert!(MAX_KEY_BYTES < 1 << KEY_LEN_BITS);

/// The code of a merge, which the first number of an encoded operation stores above the key length.
const MERGE_CODE: u64 = 1;
const PUT_IF_ABSENT_CODE: u64 = 2;
const SINGLE_DELETE_CODE: u64 = 3;

impl<'a> Operation<'a> {
    /// Returns the entry of a put or a delete, and `None` for other operations.
    pub(crate) fn entry(self) -> Option<Entry<'a>> {
        match self {
            Self::Write(entry) => Some(entry),
            Self::DeleteRange { .. } | Self::SingleDelete(_) | Self::Merge { .. } | Self::PutIfAbsent(_) => {
                None
            }
        }
    }

    /// Returns the amounts by which this operation increases the counters of the tree.
    pub(crate) fn counts(&self) -> BatchCounts {
        match self {
            Self::Write(entry) | Self::PutIfAbsent(entry) => BatchCounts::of(entry),
            Self::DeleteRange { low, high } => BatchCounts {
                range_deletes: 1,
                user_bytes: (low.len() + high.len()) as u64,
                ..BatchCounts::default()
            },
            Self::SingleDelete(key) => {
                BatchCounts { single_deletes: 1, user_bytes: key.len() as u64, ..BatchCounts::default() }
            }
            Self::Merge { key, operand } => BatchCounts {
                merges: 1,
                user_bytes: (key.len() + operand.len()) as u64,
                ..BatchCounts::default()
            },
        }
    }
}

impl BatchCounts {
    /// Returns the amounts by which a batch with only this put or delete increases the counters of the tree.
    pub(crate) fn of(entry: &Entry<'_>) -> Self {
        let deletes = u64::from(entry.value.is_none());
        Self { puts: 1 - deletes, deletes, user_bytes: entry.user_bytes() as u64, ..Self::default() }
    }

    /// Returns the number of operations in the batch, of all kinds.
    pub(crate) fn operations(&self) -> u64 {
        self.puts + self.deletes + self.range_deletes + self.merges + self.single_deletes
    }

    /// Returns the number of bytes by which the batch increases the size of a memtable: the bytes of its keys and
    /// values, and 8 bytes per entry.
    pub(crate) fn charged_bytes(&self) -> u64 {
        self.user_bytes + self.operations() * ENTRY_CHARGE_BYTES
    }
}

impl WriteBatch {
    /// Creates an empty batch. The batch reuses the buffer of an earlier batch of this thread, if the thread kept a
    /// buffer.
    pub fn new() -> Self {
        Self { operations: KEPT.try_with(Cell::take).unwrap_or_default(), counts: BatchCounts::default() }
    }

    /// Adds a put to the batch.
    ///
    /// # Errors
    /// If the key, the value or the batch would exceed its size limit. The batch is then unchanged.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.add(Entry { key, value: Some(value) })
    }

    /// Adds a delete to the batch.
    ///
    /// # Errors
    /// If the key or the batch would exceed its size limit. The batch is then unchanged.
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.add(Entry { key, value: None })
    }

    /// Adds a single delete to the batch. The key must have at most one put since its previous single delete, as in
    /// [`Tree::single_delete`](crate::Tree::single_delete).
    ///
    /// # Errors
    /// If the key or the batch would exceed its size limit. The batch is then unchanged.
    pub fn single_delete(&mut self, key: &[u8]) -> Result<()> {
        check_limits(&Entry { key, value: None })?;
        self.check_len(key.len())?;
        encode_single_delete(&mut self.operations, key);
        self.add_counts(Operation::SingleDelete(key).counts());
        Ok(())
    }

    /// Adds the delete of all keys from `low`, inclusive, to `high`, exclusive. Does nothing if `low` and `high` are
    /// equal.
    ///
    /// # Errors
    /// If a key or the batch would exceed its size limit, or if `high` is below `low`. The batch is then unchanged.
    pub fn delete_range(&mut self, low: &[u8], high: &[u8]) -> Result<()> {
        if is_empty_range(low, high)? {
            return Ok(());
        }
        self.check_len(low.len() + high.len())?;
        encode_range_delete(&mut self.operations, low, high);
        self.add_counts(Operation::DeleteRange { low, high }.counts());
        Ok(())
    }

    /// Adds the merge of an operand into the value of a key. The tree needs a design with a merge operator.
    ///
    /// # Errors
    /// If the key, the operand or the batch would exceed its size limit. The batch is then unchanged.
    pub fn merge(&mut self, key: &[u8], operand: &[u8]) -> Result<()> {
        check_limits(&Entry { key, value: Some(operand) })?;
        self.check_len(key.len() + operand.len())?;
        encode_merge(&mut self.operations, key, operand);
        self.add_counts(Operation::Merge { key, operand }.counts());
        Ok(())
    }

    /// Adds all operations of another batch.
    ///
    /// # Errors
    /// If the batch would exceed its size limit. The batch is then unchanged.
    pub fn append(&mut self, other: &Self) -> Result<()> {
        self.check_len(other.operations.len())?;
        self.operations.extend_from_slice(&other.operations);
        self.add_counts(other.counts);
        Ok(())
    }

    /// Decodes a batch from operations in the encoding of the WAL. Returns `None` if the operations are corrupt.
    pub(crate) fn decode(encoded: &[u8]) -> Option<Self> {
        let mut batch = Self::new();
        for operation in operations(encoded) {
            batch.add_counts(operation?.counts());
        }
        batch.operations.extend_from_slice(encoded);
        Some(batch)
    }

    /// Returns the puts and deletes of the batch, in order. The result omits all other operations.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        operations(&self.operations).flatten().filter_map(Operation::entry)
    }

    /// Returns the number of operations in the batch.
    pub fn len(&self) -> usize {
        self.counts.operations() as usize
    }

    /// Returns whether the batch has no operation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all operations from the batch. Keeps the memory of the batch for new operations.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.counts = BatchCounts::default();
    }

    pub(crate) fn counts(&self) -> BatchCounts {
        self.counts
    }

    /// Returns the operations of the batch as bytes, in the encoding of the WAL.
    pub(crate) fn encoded(&self) -> &[u8] {
        &self.operations
    }

    fn add(&mut self, entry: Entry<'_>) -> Result<()> {
        check_limits(&entry)?;
        self.check_len(entry.user_bytes())?;
        encode_operation(&mut self.operations, &entry);
        self.add_counts(BatchCounts::of(&entry));
        Ok(())
    }

    /// Returns an error if the batch would be longer than `MAX_BATCH_BYTES` after `more` additional bytes.
    fn check_len(&self, more: usize) -> Result<()> {
        match self.operations.len() + more {
            bytes if bytes > MAX_BATCH_BYTES => Err(Error::BatchTooLong(bytes)),
            _ => Ok(()),
        }
    }

    fn add_counts(&mut self, added: BatchCounts) {
        self.counts.puts += added.puts;
        self.counts.deletes += added.deletes;
        self.counts.range_deletes += added.range_deletes;
        self.counts.merges += added.merges;
        self.counts.single_deletes += added.single_deletes;
        self.counts.user_bytes += added.user_bytes;
    }
}

impl Default for WriteBatch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for WriteBatch {
    /// Keeps the buffer of the dropped batch for the next batch of this thread. A buffer with more than `KEPT_BYTES`
    /// bytes, or with fewer bytes than the kept buffer, is freed.
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

/// Returns an error if the key or the value of an entry is longer than the maximum for keys or values.
pub(crate) fn check_limits(entry: &Entry<'_>) -> Result<()> {
    if entry.key.len() > MAX_KEY_BYTES {
        return Err(Error::KeyTooLong(entry.key.len()));
    }
    match entry.value.map_or(0, <[u8]>::len) {
        len if len > MAX_VALUE_BYTES => Err(Error::ValueTooLong(len)),
        _ => Ok(()),
    }
}

/// Returns whether the key range from `low`, inclusive, to `high`, exclusive, is empty. Returns an error if a key is
/// longer than the maximum for keys, or if `high` is below `low`.
pub(crate) fn is_empty_range(low: &[u8], high: &[u8]) -> Result<bool> {
    for key in [low, high] {
        check_limits(&Entry { key, value: None })?;
    }
    if high < low {
        let (low, high) = (low.escape_ascii(), high.escape_ascii());
        return Err(Error::Misuse(format!(
            "the range ends at \"{high}\", below its start \"{low}\"; give the smaller key first"
        )));
    }
    Ok(low == high)
}

/// Appends one put or delete to `out`, in the encoding of the WAL: key length, value length and kind, key, value.
#[inline]
pub(crate) fn encode_operation(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let value = entry.value.unwrap_or_default();
    put_varint(out, entry.key.len() as u64);
    put_varint(out, (value.len() as u64) << 1 | u64::from(entry.value.is_none()));
    out.extend_from_slice(entry.key);
    out.extend_from_slice(value);
}

/// Appends a range delete to `out`, in the encoding of the WAL: a tombstone of the key `low` with the value `high`.
/// Only range deletes are tombstones with a value.
pub(crate) fn encode_range_delete(out: &mut Vec<u8>, low: &[u8], high: &[u8]) {
    put_varint(out, low.len() as u64);
    put_varint(out, (high.len() as u64) << 1 | 1);
    out.extend_from_slice(low);
    out.extend_from_slice(high);
}

/// Appends a single delete to `out`, in the encoding of the WAL. The encoding is that of a delete, but the bits above
/// the key length store the code of a single delete.
pub(crate) fn encode_single_delete(out: &mut Vec<u8>, key: &[u8]) {
    put_varint(out, key.len() as u64 | SINGLE_DELETE_CODE << KEY_LEN_BITS);
    put_varint(out, 1);
    out.extend_from_slice(key);
}

/// Appends a merge to `out`, in the encoding of the WAL. The encoding is that of a put, but the bits above the key
/// length store the code of a merge.
pub(crate) fn encode_merge(out: &mut Vec<u8>, key: &[u8], operand: &[u8]) {
    encode_with_code(out, MERGE_CODE, key, operand);
}

/// Appends a conditional put to `out`, in the encoding of the WAL. The encoding is that of a put, but the bits above
/// the key length store the code of a conditional put.
pub(crate) fn encode_put_if_absent(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    encode_with_code(out, PUT_IF_ABSENT_CODE, key, value);
}

fn encode_with_code(out: &mut Vec<u8>, code: u64, key: &[u8], value: &[u8]) {
    put_varint(out, key.len() as u64 | code << KEY_LEN_BITS);
    put_varint(out, (value.len() as u64) << 1);
    out.extend_from_slice(key);
    out.extend_from_slice(value);
}

/// Decodes the operations of a write batch from the encoding of the WAL, in order. At corrupt bytes, the iterator
/// yields `None` and then ends.
pub(crate) fn operations(encoded: &[u8]) -> impl Iterator<Item = Option<Operation<'_>>> {
    let mut reader = Reader::new(encoded);
    let mut damaged = false;
    std::iter::from_fn(move || {
        if damaged || reader.is_at_end() {
            return None;
        }
        let operation = read_operation(&mut reader);
        damaged = operation.is_none();
        Some(operation)
    })
}

fn read_operation<'a>(reader: &mut Reader<'a>) -> Option<Operation<'a>> {
    let head = reader.varint()?;
    let value = reader.varint()?;
    let key = reader.take((head & ((1 << KEY_LEN_BITS) - 1)) as usize)?;
    let bytes = reader.take(usize::try_from(value >> 1).ok()?)?;
    match (head >> KEY_LEN_BITS, value & 1 == 1, bytes.is_empty()) {
        (0, false, _) => Some(Operation::Write(Entry { key, value: Some(bytes) })),
        (0, true, true) => Some(Operation::Write(Entry { key, value: None })),
        (0, true, false) => (key < bytes).then_some(Operation::DeleteRange { low: key, high: bytes }),
        (PUT_IF_ABSENT_CODE, false, _) => Some(Operation::PutIfAbsent(Entry { key, value: Some(bytes) })),
        (MERGE_CODE, false, _) => Some(Operation::Merge { key, operand: bytes }),
        (SINGLE_DELETE_CODE, true, true) => Some(Operation::SingleDelete(key)),
        _ => None,
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
        batch.delete_range(b"", b"b").unwrap();
        batch.delete_range(b"b", b"b").unwrap();
        batch.merge(b"c", b"").unwrap();
        batch.single_delete(b"d").unwrap();
        let read: Vec<_> = operations(batch.encoded()).map(Option::unwrap).collect();
        assert_eq!(
            read,
            [
                Operation::Write(Entry { key: b"a", value: Some(b"1") }),
                Operation::Write(Entry { key: b"a", value: None }),
                Operation::Write(Entry { key: b"", value: Some(b"") }),
                Operation::DeleteRange { low: b"", high: b"b" },
                Operation::Merge { key: b"c", operand: b"" },
                Operation::SingleDelete(b"d"),
            ]
        );
        assert_eq!(
            batch.counts(),
            BatchCounts {
                puts: 2,
                deletes: 1,
                range_deletes: 1,
                merges: 1,
                single_deletes: 1,
                user_bytes: 6
            }
        );
        assert_eq!(operations(&batch.encoded()[..2]).last(), Some(None));
        let mut conditional = Vec::new();
        encode_put_if_absent(&mut conditional, b"k", b"v");
        let entry = Entry { key: &b"k"[..], value: Some(&b"v"[..]) };
        assert_eq!(operations(&conditional).last(), Some(Some(Operation::PutIfAbsent(entry))));
        // A single delete has no value, and no operation has the code 4.
        assert_eq!(operations(&[0x81, 0x80, 0x18, 0, b'k']).last(), Some(None));
        assert_eq!(operations(&[0x81, 0x80, 0x20, 1, b'k']).last(), Some(None));
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
    fn an_appended_batch_follows_in_order() {
        let mut batch = WriteBatch::new();
        batch.put(b"a", b"1").unwrap();
        let mut more = WriteBatch::new();
        more.delete_range(b"b", b"c").unwrap();
        more.delete(b"a").unwrap();
        batch.append(&more).unwrap();
        let entries: Vec<_> = batch.entries().collect();
        assert_eq!(
            entries,
            [Entry { key: &b"a"[..], value: Some(&b"1"[..]) }, Entry { key: b"a", value: None }]
        );
        assert_eq!(
            batch.counts(),
            BatchCounts { puts: 1, deletes: 1, range_deletes: 1, user_bytes: 5, ..BatchCounts::default() }
        );
    }

    #[test]
    fn what_is_above_a_limit_changes_nothing() {
        let mut batch = WriteBatch::new();
        assert!(matches!(batch.delete(&vec![0; MAX_KEY_BYTES + 1]), Err(Error::KeyTooLong(65_537))));
        assert!(matches!(batch.put(b"k", &vec![0; MAX_VALUE_BYTES + 1]), Err(Error::ValueTooLong(_))));
        assert!(matches!(batch.delete_range(b"b", b"a"), Err(Error::Misuse(_))));
        assert!(batch.is_empty() && batch.encoded().is_empty());
    }
}
