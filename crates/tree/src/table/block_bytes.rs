//! The bytes of a data block, wherever they are.

use std::ops::Deref;

use types::Bytes;

/// A block of its own, or one where it lies in the mapped file of its table.
///
/// The second counts no owners: a count that all threads change for every block they look into is what they would wait
/// for.
#[derive(Clone, Debug)]
pub(crate) enum BlockBytes<'t> {
    /// Read or unpacked, and perhaps shared with the cache.
    Own(Bytes),
    /// In place, as long as the table.
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
