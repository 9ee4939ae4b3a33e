//! One operation as plain data. The timed loop reads operations of this type.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Kind of an operation. The order of the kinds is their order in lists and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Kind {
    /// Reads the value of one key.
    Get,
    /// Overwrites the value of an existing key, or writes a deleted key again.
    Put,
    /// Adds a key that never existed.
    Insert,
    /// Deletes a key.
    Delete,
    /// Scans entries in key order from a start key.
    Range,
    /// Reads the value of one key, and then overwrites the value.
    #[serde(rename = "rmw")]
    ReadModifyWrite,
    /// Writes many keys in one atomic step.
    Batch,
    /// Reads the values of many keys in one call.
    MultiGet,
    /// Deletes all keys from a start key up to an exclusive end key.
    DeleteRange,
    /// Reads the entry with the smallest key of the store.
    First,
    /// Reads the entry with the largest key of the store.
    Last,
    /// Merges an operand into the value of an existing key or of a deleted key.
    Merge,
    /// Writes the value of a key only if the key is absent. Check and write are one atomic step.
    PutIfAbsent,
    /// Scans all entries whose keys have the prefix of a key.
    Prefix,
    /// Deletes a key by a single delete, which is valid only for a key that was written once. The key is the oldest key
    /// that no earlier single delete has removed.
    SingleDelete,
}

impl Kind {
    /// All kinds of operations, in the order of lists and results.
    pub const ALL: [Self; 15] = [
        Self::Get,
        Self::Put,
        Self::Insert,
        Self::Delete,
        Self::Range,
        Self::ReadModifyWrite,
        Self::Batch,
        Self::MultiGet,
        Self::DeleteRange,
        Self::First,
        Self::Last,
        Self::Merge,
        Self::PutIfAbsent,
        Self::Prefix,
        Self::SingleDelete,
    ];

    /// The kinds that the members of a batch can have.
    pub const BATCHED: [Self; 6] =
        [Self::Put, Self::Insert, Self::Delete, Self::DeleteRange, Self::Merge, Self::SingleDelete];

    /// Returns the name of the kind in TOML and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::Range => "range",
            Self::ReadModifyWrite => "rmw",
            Self::Batch => "batch",
            Self::MultiGet => "multi_get",
            Self::DeleteRange => "delete_range",
            Self::First => "first",
            Self::Last => "last",
            Self::Merge => "merge",
            Self::PutIfAbsent => "put_if_absent",
            Self::Prefix => "prefix",
            Self::SingleDelete => "single_delete",
        }
    }

    /// Returns whether operations of this kind return data, so that their answers can be checked.
    pub fn answers(self) -> bool {
        !self.writes() || matches!(self, Self::ReadModifyWrite | Self::PutIfAbsent)
    }

    /// Returns whether operations of this kind may change the store.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Get | Self::Range | Self::Prefix | Self::MultiGet | Self::First | Self::Last)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Number of a key. An even number belongs to a present key, and the next odd number belongs to the absent key that
/// follows this present key. No operation writes an absent key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(u64);

impl KeyId {
    /// Returns the number of the present key with the index `index`, which is below 2⁶².
    #[inline]
    pub fn present(index: u64) -> Self {
        Self(index << 1)
    }

    /// Returns the number of the absent key that follows the present key with the index `index`, which is below 2⁶².
    #[inline]
    pub fn absent(index: u64) -> Self {
        Self(index << 1 | 1)
    }

    /// Returns the number of the key with the index `index`: of the absent key if `absent` is true, and of the present
    /// key otherwise.
    #[inline]
    pub(crate) fn new(index: u64, absent: bool) -> Self {
        Self(index << 1 | u64::from(absent))
    }

    /// Returns the index of the key. Inserts give the indexes 0, 1, 2 … to present keys. An absent key has the same
    /// index as the present key directly before it.
    #[inline]
    pub fn index(self) -> u64 {
        self.0 >> 1
    }

    /// Returns whether the key is an absent key. No operation writes an absent key, so a get of the key finds nothing.
    #[inline]
    pub fn is_absent(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the number of the key: twice its index, plus 1 for an absent key. Key formats that keep the key order
    /// encode this number.
    #[inline]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The location of a value in the value pool, a buffer that contains the bytes of all values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte of the value in the value pool.
    pub offset: u32,
    /// The number of bytes of the value.
    pub bytes: u32,
}

/// One operation of a stream of operations.
///
/// A [`Batch`](Kind::Batch) or a [`MultiGet`](Kind::MultiGet) is the head of a group. The head is followed by the
/// members of the group, and `count` is the number of members. The members of a multi-get have the kind
/// [`Get`](Kind::Get), and the members of a batch have a kind of [`Kind::BATCHED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The key of the operation. In a scan, this is the key at which the scan starts. The head of a group contains
    /// the key of the first member.
    pub key: KeyId,
    /// The location in the value pool of the value that the operation writes, or of the operand of a merge.
    pub value: Span,
    /// The version that the operation writes: a number that identifies the value. The version is higher than the
    /// version of every earlier write to the same key.
    pub version: u32,
    /// A number whose meaning depends on the kind of the operation. For a scan, this is the maximum number of entries
    /// to read. For a prefix scan, this is the length of the prefix in bytes. For a range delete, this is the number
    /// of keys to delete. For the head of a group, this is the number of members.
    pub count: u32,
    /// The length of the key range that a scan covers, as a difference of key numbers. The span is 0 if only the number
    /// of entries limits the scan.
    pub span: u32,
    /// The kind of the operation.
    pub kind: Kind,
    /// Whether a scan returns the largest keys first.
    pub backward: bool,
}

impl Operation {
    /// Creates a get of one key.
    #[inline]
    pub(crate) fn get(key: KeyId) -> Self {
        Self { key, value: Span::default(), version: 0, count: 0, span: 0, kind: Kind::Get, backward: false }
    }

    /// Returns the operation as bytes, for a hash over all operations of a stream.
    pub(crate) fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.key.0.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.value.offset.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.value.bytes.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.version.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.count.to_le_bytes());
        bytes[24] = self.kind as u8;
        bytes[25] = u8::from(self.backward);
        bytes[26..30].copy_from_slice(&self.span.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_toml() {
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(toml::Value::try_from(kind).unwrap().as_str(), Some(kind.name()));
        }
    }

    #[test]
    fn absent_keys_stand_right_behind_their_key() {
        assert!(KeyId::present(7) < KeyId::absent(7) && KeyId::absent(7) < KeyId::present(8));
        assert_eq!((KeyId::absent(7).index(), KeyId::absent(7).is_absent()), (7, true));
        assert_eq!(KeyId::new(7, false), KeyId::present(7));
    }

    /// Tests that an operation takes half a cache line, because the timed loop reads an array of operations.
    #[test]
    fn an_operation_is_half_a_cache_line() {
        assert!(size_of::<Operation>() <= 32);
    }
}
