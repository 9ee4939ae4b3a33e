//! Entries: a key with a value or a tombstone, ordered in time by a sequence number.

/// The place of a write in the order of all writes of one tree; the first write has number 1.
pub type SequenceNumber = u64;

/// What an entry counts beside its key and value in the capacities of memtables, tables and levels: its
/// sequence number and its kind. It keeps entries without bytes from being free.
pub const ENTRY_CHARGE_BYTES: u64 = 8;

/// One key with its newest value, or with a tombstone (`None`) that hides older values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The user key.
    pub key: &'a [u8],
    /// The value, or `None` where the key was deleted.
    pub value: Option<&'a [u8]>,
}

impl Entry<'_> {
    /// The bytes a user wrote: key and value, without any overhead.
    #[inline]
    pub fn user_bytes(&self) -> usize {
        self.key.len() + self.value.map_or(0, <[u8]>::len)
    }
}

/// What one sorted source knows of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Nothing: an older source must be asked.
    Absent,
    /// A tombstone: the key is gone, older sources must not be asked.
    Deleted,
    /// A value, appended to the buffer that the caller gave.
    Found,
}
