//! References to records and nodes in a [`SharedArena`](super::SharedArena), and atomic fields that store such
//! references. A thread makes a record visible to other threads when it stores the reference in an atomic field.
//!
//! The code in this file never accesses the memory of the arena. The interleaving models can therefore compile this
//! file with the atomics of loom, and with another arena whose memory loom can track.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;

use types::{Entry, SequenceNumber};

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// The largest height of a skip-list tower, which is the number of its links.
pub(crate) const MAX_HEIGHT: usize = 32;

/// A reference to a `T` that is stored in an arena. The reference is the number of the 8-byte unit of the arena at
/// which the `T` begins. Only the arena creates references.
pub(crate) struct Ref<T>(pub(super) NonZeroU32, pub(super) PhantomData<fn() -> T>);

impl<T> Clone for Ref<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ref<T> {}

impl<T> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref").field(&self.0).finish()
    }
}

impl<T> PartialEq for Ref<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// An optional reference that threads read and write atomically. A store has release ordering, and a load has acquire
/// ordering. A thread that loads the reference therefore sees its target completely written.
#[derive(Debug)]
pub(crate) struct AtomicRef<T>(AtomicU32, PhantomData<fn() -> T>);

impl<T> Default for AtomicRef<T> {
    fn default() -> Self {
        Self(AtomicU32::new(0), PhantomData)
    }
}

impl<T> AtomicRef<T> {
    /// Returns the stored reference, or `None` if there is no reference. The caller sees all writes that happened
    /// before the reference was stored.
    #[inline]
    pub(crate) fn load(&self) -> Option<Ref<T>> {
        NonZeroU32::new(self.0.load(Ordering::Acquire)).map(|unit| Ref(unit, PhantomData))
    }

    #[inline]
    pub(crate) fn store(&self, to: Option<Ref<T>>) {
        self.0.store(to.map_or(0, |to| to.0.get()), Ordering::Release);
    }
}

/// A version of a key in the arena, as the type parameter of references. No value of this type exists.
pub(crate) enum Version {}

/// A link of a skip-list tower. The low half is the reference to the next version, and the high half is the first four
/// bytes of this next version's key. Most comparisons need only these four bytes. The word 0 marks the end of the list.
#[repr(transparent)]
pub(crate) struct Link(pub(super) AtomicU64);

/// The value of a [`Link`]: the reference to the next version, and the first four bytes of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkWord(u64);

impl LinkWord {
    /// The link word that marks the end of a skip list.
    pub(crate) const END: Self = Self(0);

    /// Creates the value of a link to `version`. `hint` is the first four bytes of the key of `version`.
    #[inline]
    pub(crate) fn new(version: Ref<Version>, hint: u32) -> Self {
        Self(u64::from(hint) << 32 | u64::from(version.0.get()))
    }

    /// Returns the version to which the link points. Returns `None` at the end of the skip list.
    #[inline]
    pub(crate) fn target(self) -> Option<Ref<Version>> {
        NonZeroU32::new(self.0 as u32).map(|unit| Ref(unit, PhantomData))
    }

    /// Returns the first four bytes of the key of the version to which the link points.
    #[inline]
    pub(crate) fn hint(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl Link {
    #[inline]
    pub(crate) fn load(&self) -> LinkWord {
        LinkWord(self.0.load(Ordering::Acquire))
    }

    #[inline]
    pub(crate) fn store(&self, to: LinkWord) {
        self.0.store(to.0, Ordering::Release);
    }

    /// Replaces the link word `from` by `to` in one atomic compare-and-swap. Returns `false` if the link no longer
    /// equals `from`.
    #[inline]
    pub(crate) fn swing(&self, from: LinkWord, to: LinkWord) -> bool {
        self.0.compare_exchange(from.0, to.0, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

/// One version of a key, borrowed from the arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VersionRecord<'a> {
    /// The reference to the version in the arena.
    pub(crate) version: Ref<Version>,
    pub(crate) key: &'a [u8],
    pub(crate) sequence: SequenceNumber,
    /// The value of the version, or `None` for a tombstone.
    pub(crate) value: Option<&'a [u8]>,
}

impl<'a> VersionRecord<'a> {
    /// Returns the key and the value of the version, without its sequence number.
    #[inline]
    pub(crate) fn entry(&self) -> Entry<'a> {
        Entry { key: self.key, value: self.value }
    }
}
