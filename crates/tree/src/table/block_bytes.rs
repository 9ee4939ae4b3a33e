//! The bytes of a data block, owned or in place.

use std::ops::Deref;

use types::Bytes;

/// The bytes of a data block: owned, or borrowed from the memory-mapped file of its table.
///
/// A borrowed block has no reference count. Otherwise threads that change the same count for every block would wait for
/// each other.
#[derive(Clone, Debug)]
pub(crate) enum BlockBytes<'t> {
    /// Read or decompressed, and possibly shared with the cache.
    Own(Bytes),
    /// Bytes in place. The reference is valid as long as the table.
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
