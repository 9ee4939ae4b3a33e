//! The entries of a tree. An entry consists of a key, a value or a tombstone, and a sequence number that orders the
//! versions of the key.

/// The position of a write in the order of all writes to a tree, starting at 1.
pub type SequenceNumber = u64;

/// The fixed number of bytes that size limits count per entry, in addition to its key and value. These bytes stand for
/// the sequence number and the kind of the entry, so that even an empty entry has a size.
pub const ENTRY_CHARGE_BYTES: u64 = 8;

/// A key with its newest value, or with a tombstone (`None`) that hides older values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The user key.
    pub key: &'a [u8],
    /// The value, or `None` for a tombstone.
    pub value: Option<&'a [u8]>,
}

impl Entry<'_> {
    /// Returns the number of bytes that the user wrote, which are the bytes of the key and the value.
    #[inline]
    pub fn user_bytes(&self) -> usize {
        self.key.len() + self.value.map_or(0, <[u8]>::len)
    }
}

/// The result of a lookup in one sorted source, such as a memtable or an SSTable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The source has no version of the key, so the lookup must continue in older sources.
    Absent,
    /// The newest version is a tombstone. The key is deleted, so the lookup must not continue in older sources.
    Deleted,
    /// The source has a value of the key, and has appended this value to the buffer of the caller.
    Found,
}
