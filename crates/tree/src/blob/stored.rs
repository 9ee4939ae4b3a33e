//! The stored form of a value in an SSTable with blob files: the value, or a pointer to the value.

use crate::codec::{Reader, put_varint};

/// The first byte of a stored value that is in the SSTable itself, and not in a blob file.
const INLINE: u8 = 0;

/// The first byte of a pointer from an SSTable to a value in a blob file.
const APART: u8 = 1;

/// A value as stored in an SSTable with blob files: the value itself, or a pointer to the value in a blob file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored<'a> {
    /// The value itself, which the SSTable contains.
    Inline(&'a [u8]),
    /// The value is in a blob file, at the position of this pointer.
    Apart(Pointer),
}

/// The position of a value in a blob file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// The number of the blob file that contains the value.
    pub(crate) file: u64,
    /// The offset, in bytes, of the blob file record that contains the value.
    pub(crate) offset: u64,
    /// The length of the value, in bytes.
    pub(crate) value_bytes: u64,
}

impl<'a> Stored<'a> {
    /// Appends the value or the pointer to `out`, after the byte that distinguishes values from pointers.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Inline(value) => {
                out.push(INLINE);
                out.extend_from_slice(value);
            }
            Self::Apart(Pointer { file, offset, value_bytes }) => {
                out.push(APART);
                [file, offset, value_bytes].into_iter().for_each(|number| put_varint(out, *number));
            }
        }
    }

    /// Decodes a value as stored in an SSTable with blob files. Returns `None` if the bytes are corrupt.
    #[inline]
    pub(crate) fn decode(bytes: &'a [u8]) -> Option<Self> {
        match bytes.split_first()? {
            (&INLINE, value) => Some(Self::Inline(value)),
            (&APART, rest) => {
                let mut reader = Reader::new(rest);
                let (file, offset, value_bytes) = (reader.varint()?, reader.varint()?, reader.varint()?);
                reader.is_at_end().then_some(Self::Apart(Pointer { file, offset, value_bytes }))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_forms_read_back_and_cut_pointers_are_refused() {
        let pointer = Pointer { file: 300, offset: 1 << 40, value_bytes: 0 };
        for stored in [Stored::Inline(b""), Stored::Inline(b"value"), Stored::Apart(pointer)] {
            let mut bytes = Vec::new();
            stored.encode(&mut bytes);
            assert_eq!(Stored::decode(&bytes), Some(stored));
        }
        let mut bytes = Vec::new();
        Stored::Apart(pointer).encode(&mut bytes);
        for cut in 0..bytes.len() {
            assert_eq!(Stored::decode(&bytes[..cut]), None);
        }
        assert_eq!(Stored::decode(&[bytes, vec![0]].concat()), None);
        assert_eq!(Stored::decode(&[7, 1, 2, 3]), None);
    }
}
