//! Entries of a tree. An entry has a key, a value or a tombstone, and a sequence number that orders the versions of a
//! key.

/// The number of a write in the order of all writes of a tree. The first write has the number 1.
pub type SequenceNumber = u64;

/// Size in bytes that is counted for each entry in addition to its key and value, in the sizes of memtables, SSTables
/// and levels. The charge represents the sequence number and the kind of an entry, so that even an empty entry has a
/// size.
pub const ENTRY_CHARGE_BYTES: u64 = 8;

/// One key with its newest value, or with a tombstone (`None`) that hides older values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The user key.
    pub key: &'a [u8],
    /// The value, or `None` for a tombstone.
    pub value: Option<&'a [u8]>,
}

impl Entry<'_> {
    /// Returns the number of bytes that the user wrote: the key and the value without any overhead.
    #[inline]
    pub fn user_bytes(&self) -> usize {
        self.key.len() + self.value.map_or(0, <[u8]>::len)
    }
}

/// Result of a lookup in one sorted source, such as a memtable or an SSTable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The source has no version of the key, so the lookup must search older sources.
    Absent,
    /// The newest version is a tombstone. The key is deleted, so the lookup must not search older sources.
    Deleted,
    /// The source has a value for the key. The value was appended to the buffer of the caller.
    Found,
}
