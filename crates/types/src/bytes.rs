//! Immutable bytes with a reference count. Storage reads, cache entries and pinned blocks have this type.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// The number of readable bytes after the end of every buffer that [`Bytes::with_len`] allocates.
///
/// Vector loads and `memcmp` may read a whole cache line beyond the last byte. With the padding, such reads never
/// access an unmapped page.
pub const PADDING: usize = 64;

/// A shared immutable slice, which owns an allocation or is a part of a mapped file.
#[derive(Clone)]
pub struct Bytes {
    owner: Owner,
    start: usize,
    end: usize,
}

/// The owner of shared bytes: an allocation, or another object such as a mapped file.
#[derive(Clone)]
enum Owner {
    Heap(Arc<[u8]>),
    Foreign(Arc<dyn AsRef<[u8]> + Send + Sync>),
}

impl Bytes {
    /// Allocates `len` bytes, followed by [`PADDING`] bytes. Calls `fill` to write the `len` bytes.
    ///
    /// # Errors
    /// Returns the error of `fill`.
    ///
    /// # Panics
    /// Never panics, because a new allocation has only one owner.
    pub fn with_len<E>(len: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let mut heap: Arc<[u8]> = std::iter::repeat_n(0u8, len + PADDING).collect();
        fill(&mut Arc::get_mut(&mut heap).expect("a new allocation must have exactly one owner")[..len])?;
        Ok(Self { owner: Owner::Heap(heap), start: 0, end: len })
    }

    /// Copies `slice` into a padded allocation.
    pub fn copy_from(slice: &[u8]) -> Self {
        let copied: Result<Self, std::convert::Infallible> = Self::with_len(slice.len(), |target| {
            target.copy_from_slice(slice);
            Ok(())
        });
        let Ok(bytes) = copied;
        bytes
    }

    /// Creates shared bytes from the bytes `range` of `owner`, without a copy. The owner lives until the last clone of
    /// these bytes is dropped.
    ///
    /// # Panics
    /// `range` is outside of the owner's bytes.
    pub fn from_owner(owner: Arc<dyn AsRef<[u8]> + Send + Sync>, range: Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= (*owner).as_ref().len(),
            "the range must be within the bytes of the owner"
        );
        Self { owner: Owner::Foreign(owner), start: range.start, end: range.end }
    }

    /// Returns a part of these bytes, without a copy. The part has the same owner.
    ///
    /// # Panics
    /// Panics if `range` is outside of these bytes.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= self.end - self.start,
            "the range of a part must be within the shared bytes"
        );
        Self { owner: self.owner.clone(), start: self.start + range.start, end: self.start + range.end }
    }

    /// Returns the number of heap bytes that this value keeps allocated. The number is 0 for a part of a mapped file.
    pub fn heap_bytes(&self) -> usize {
        match &self.owner {
            Owner::Heap(heap) => heap.len(),
            Owner::Foreign(_) => 0,
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.owner {
            Owner::Heap(heap) => &heap[self.start..self.end],
            Owner::Foreign(owner) => &(**owner).as_ref()[self.start..self.end],
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_owners_give_the_same_slices() {
        let heap = Bytes::copy_from(b"hello world");
        let foreign = Bytes::from_owner(Arc::new(b"hello world".to_vec()), 0..11);
        for bytes in [heap, foreign] {
            assert_eq!(&*bytes, b"hello world");
            assert_eq!(&*bytes.slice(6..11), b"world");
            assert_eq!(&*bytes.slice(6..11).slice(1..2), b"o");
        }
    }

    #[test]
    #[should_panic(expected = "the range of a part must be within the shared bytes")]
    fn a_slice_never_leaves_its_parent() {
        let _ = Bytes::copy_from(b"abcdef").slice(0..3).slice(0..4);
    }
}
