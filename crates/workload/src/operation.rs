//! One operation as plain data: what the timed loop reads.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind of operation. The order is that of lists and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Kind {
    /// Reads the value of one key.
    Get,
    /// Overwrites the value of a key that exists, or brings it back where it was deleted.
    Put,
    /// Adds a key that never was.
    Insert,
    /// Deletes a key.
    Delete,
    /// Reads entries in key order from a key on.
    Range,
    /// Reads the value of one key, then overwrites it.
    #[serde(rename = "rmw")]
    ReadModifyWrite,
    /// Writes many keys in one atomic step.
    Batch,
    /// Reads the values of many keys in one call.
    MultiGet,
}

impl Kind {
    /// All kinds, in order.
    pub const ALL: [Self; 8] = [
        Self::Get,
        Self::Put,
        Self::Insert,
        Self::Delete,
        Self::Range,
        Self::ReadModifyWrite,
        Self::Batch,
        Self::MultiGet,
    ];

    /// The name in TOML and results.
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
        }
    }

    /// Whether it reads something that can be right or wrong.
    pub fn answers(self) -> bool {
        matches!(self, Self::Get | Self::Range | Self::ReadModifyWrite | Self::MultiGet)
    }

    /// Whether it changes the store.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Get | Self::Range | Self::MultiGet)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A key by its number: either key `index` of the key space, or the absent key right behind it, which is
/// never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(u64);

impl KeyId {
    /// Key `index`, below 2⁶².
    #[inline]
    pub fn present(index: u64) -> Self {
        Self(index << 1)
    }

    /// The absent key that belongs to key `index`, below 2⁶².
    #[inline]
    pub fn absent(index: u64) -> Self {
        Self(index << 1 | 1)
    }

    /// The absent key where `absent`, else the key.
    #[inline]
    pub(crate) fn new(index: u64, absent: bool) -> Self {
        Self(index << 1 | u64::from(absent))
    }

    /// The index of the key, or of the key that an absent key belongs to.
    #[inline]
    pub fn index(self) -> u64 {
        self.0 >> 1
    }

    /// Whether it is a key that is never written.
    #[inline]
    pub fn is_absent(self) -> bool {
        self.0 & 1 == 1
    }

    /// Twice the index, and one more where it is absent: the number that ordered formats write.
    #[inline]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Where the bytes of a value stand in the pool that all values are cut from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub offset: u32,
    /// The number of bytes.
    pub bytes: u32,
}

/// One operation.
///
/// A [`Batch`](Kind::Batch) or [`MultiGet`](Kind::MultiGet) stands before its members: as many operations
/// of kind [`Put`](Kind::Put), [`Insert`](Kind::Insert) or [`Get`](Kind::Get) as its `count` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The key, or the first key of a range; of a group, the key of its first member.
    pub key: KeyId,
    /// The value that a put, an insert or a read-modify-write writes.
    pub value: Span,
    /// The version that such a write has: above those of all earlier writes to the key.
    pub version: u32,
    /// The most entries a range reads, or the number of members of a group.
    pub count: u32,
    /// How many numbers a range spans; 0 where it has no end but its number of entries.
    pub span: u32,
    /// What is to be done.
    pub kind: Kind,
    /// Whether a range reads from larger keys to smaller ones.
    pub backward: bool,
}

impl Operation {
    /// An operation that reads one key.
    #[inline]
    pub(crate) fn get(key: KeyId) -> Self {
        Self { key, value: Span::default(), version: 0, count: 0, span: 0, kind: Kind::Get, backward: false }
    }

    /// The operation as bytes, for a hash over a stream of them.
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

    /// The timed loop reads an array of these: half a line each.
    #[test]
    fn an_operation_is_half_a_cache_line() {
        assert!(size_of::<Operation>() <= 32);
    }
}
