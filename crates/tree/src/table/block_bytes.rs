//! The bytes of a data block, either owned or borrowed from a memory-mapped file.

use std::ops::Deref;

use types::Bytes;

/// The bytes of a data block, either owned or borrowed from the memory-mapped file of its SSTable.
///
/// A borrowed block has no reference count. If blocks had a reference count, threads that read blocks of one SSTable
/// would change the same count and slow each other down.
#[derive(Clone, Debug)]
pub(crate) enum BlockBytes<'t> {
    /// Bytes in a buffer of their own, which were read from storage or decompressed. The block cache may share the
    /// buffer.
    Own(Bytes),
    /// Bytes inside a memory-mapped SSTable, which are not copied. The reference is valid while the SSTable is open.
    InPlace(&'t [u8]),
}

impl Deref for BlockBytes<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::InPlace(bytes) => bytes,
        }
    }
}
