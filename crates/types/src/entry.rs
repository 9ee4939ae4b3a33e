//! Entries: a key with a value or a tombstone, ordered by a sequence number.

/// Position of a write in the order of all writes of one tree. The first write has number 1.
pub type SequenceNumber = u64;

/// Size that each entry adds to the capacities of memtables, SSTables and levels, in addition to key and value. The
/// charge covers the sequence number and the kind, so that even empty entries have a size.
pub const ENTRY_CHARGE_BYTES: u64 = 8;

/// One key with its newest value, or with a tombstone (`None`) that hides older values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The user key.
    pub key: &'a [u8],
    /// The value; `None` for a tombstone.
    pub value: Option<&'a [u8]>,
}

impl Entry<'_> {
    /// The bytes a user wrote: key and value, without any overhead.
    #[inline]
    pub fn user_bytes(&self) -> usize {
        self.key.len() + self.value.map_or(0, <[u8]>::len)
    }
}

/// Result of a lookup in one sorted source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The key is not present, so older sources must be searched.
    Absent,
    /// A tombstone: the key is deleted, and older sources must not be searched.
    Deleted,
    /// A value, appended to the buffer of the caller.
    Found,
}
