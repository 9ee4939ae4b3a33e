//! A data block: where its parts lie, whatever its format, and looking one key up in it.

use std::ops::Range;

use types::HashedKey;

use super::format::{TAIL_BYTES, Tail};
use super::hash_index::{self, Bucket};
use super::{delta, fingerprints, plain, whole};
use crate::design::BlockIndex;

/// A block whose parts are known to lie inside it.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

/// Where the parts of a block lie.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    /// Where the entries begin.
    pub(super) entries_start: usize,
    /// Where the entries end.
    pub(super) entries_end: usize,
    /// How an entry is written.
    pub(super) entries: Entries,
    /// The number of restart points; at least one.
    pub(super) restart_count: usize,
    /// How restart points are found.
    pub(super) restarts: Restarts,
    /// Whether the block names its smallest and its largest key: see [`plain`].
    pub(super) has_bounds: bool,
    /// What the block carries to find a key without a search.
    pub(super) index: BlockIndex,
    /// The bytes of the index, which stands before the tail.
    pub(super) index_len: usize,
}

/// How an entry is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Entries {
    /// As the difference to the one before: see [`delta`].
    #[default]
    Delta,
    /// With its whole key: see [`whole`].
    Whole,
}

/// How restart points are found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Restarts {
    /// Offsets of four bytes stand behind the entries.
    #[default]
    Behind,
    /// Offsets of two bytes stand before the entries.
    Before,
    /// They are so many bytes from each other, from the first entry on.
    Every(u32),
}

/// What depends on how entries are written; all of it is compiled into the walk over them.
pub(super) trait EntryCodec {
    /// The entry at offset `at` of `entries`, which end with the last one; `None` where it does not fit.
    fn head(entries: &[u8], at: usize) -> Option<EntryHead>;

    /// Looks for `target` among the entries from `at`, a restart point, to `end`.
    fn find_between(entries: &[u8], at: usize, end: usize, target: &[u8]) -> Option<Found>;
}

/// The head of an entry, and where its parts lie in the block.
#[derive(Clone, Debug)]
pub(super) struct EntryHead {
    /// The leading bytes shared with the key before.
    pub(super) shared: usize,
    /// Where the rest of the key stands.
    pub(super) suffix: Range<usize>,
    /// Where the value stands; the next entry begins where it ends.
    pub(super) value: Range<usize>,
    /// Whether the entry is a tombstone.
    pub(super) tombstone: bool,
}

/// What a block says of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The key is not in the block.
    Absent,
    /// A tombstone.
    Tombstone,
    /// A value, by its place in the block.
    Value(Range<usize>),
}

impl Layout {
    /// Reads the tail and checks that the parts it tells of fit in the block.
    #[inline]
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        Tail::layout(bytes)
    }

    /// The offset of a restart point, if it lies among the entries.
    #[inline]
    pub(super) fn restart(&self, bytes: &[u8], index: usize) -> Option<usize> {
        if index >= self.restart_count {
            return None;
        }
        let offset = match self.restarts {
            Restarts::Behind => {
                let at = self.entries_end + index * 4;
                u32::from_le_bytes(*bytes.get(at..)?.first_chunk::<4>()?) as usize
            }
            Restarts::Before => {
                let at = self.entries_start - (self.restart_count - index) * 2;
                usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk::<2>()?))
            }
            Restarts::Every(stride) => self.entries_start + index * stride as usize,
        };
        (offset >= self.entries_start && offset < self.entries_end).then_some(offset)
    }

    /// The entry at offset `at`; `None` where its parts do not fit among the entries.
    #[inline]
    pub(super) fn entry(&self, bytes: &[u8], at: usize) -> Option<EntryHead> {
        let entries = &bytes[..self.entries_end];
        match self.entries {
            Entries::Delta => delta::Delta::head(entries, at),
            Entries::Whole => whole::Whole::head(entries, at),
        }
    }

    /// The last restart point whose key is at or below `target`, or the first one.
    #[inline]
    pub(super) fn seek_restart(&self, bytes: &[u8], target: &[u8]) -> Option<usize> {
        match self.entries {
            Entries::Delta => self.seek_among::<delta::Delta>(bytes, target),
            Entries::Whole => self.seek_among::<whole::Whole>(bytes, target),
        }
    }

    fn seek_among<E: EntryCodec>(&self, bytes: &[u8], target: &[u8]) -> Option<usize> {
        let entries = &bytes[..self.entries_end];
        let (mut low, mut high) = (0, self.restart_count);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            let head = E::head(entries, self.restart(bytes, middle)?)?;
            if entries[head.suffix] <= *target { low = middle } else { high = middle }
        }
        Some(low)
    }
}

impl<'a> Block<'a> {
    /// The block in `bytes`; `None` where the bytes are no block.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        Layout::of(bytes).map(|layout| Self { bytes, layout })
    }

    /// The first key.
    pub(super) fn first_key(&self) -> Option<Range<usize>> {
        self.layout.entry(self.bytes, self.layout.entries_start).map(|head| head.suffix)
    }

    /// Looks up a key; `None` where the block turns out to be damaged.
    #[inline]
    pub fn find(&self, key: HashedKey<'_>) -> Option<Found> {
        match self.layout.entries {
            Entries::Delta => self.find_among::<delta::Delta>(key),
            Entries::Whole => self.find_among::<whole::Whole>(key),
        }
    }

    fn find_among<E: EntryCodec>(&self, key: HashedKey<'_>) -> Option<Found> {
        if self.layout.has_bounds && plain::is_outside(self.bytes, key.bytes)? {
            return Some(Found::Absent);
        }
        match self.layout.index {
            BlockIndex::Fingerprint => self.find_by_fingerprint::<E>(key),
            BlockIndex::Hash if self.layout.index_len > 0 => {
                match hash_index::lookup(self.index()?, key.hash) {
                    Bucket::Empty => Some(Found::Absent),
                    Bucket::Restart(restart) => self.find_behind::<E>(usize::from(restart), key.bytes),
                    Bucket::Collision => self.search::<E>(key.bytes),
                }
            }
            BlockIndex::Hash | BlockIndex::None => self.search::<E>(key.bytes),
        }
    }

    /// Searches the restart points.
    fn search<E: EntryCodec>(&self, target: &[u8]) -> Option<Found> {
        self.find_behind::<E>(self.layout.seek_among::<E>(self.bytes, target)?, target)
    }

    #[inline]
    fn find_by_fingerprint<E: EntryCodec>(&self, key: HashedKey<'_>) -> Option<Found> {
        for restart in fingerprints::restarts(self.index()?, key.hash)? {
            match self.find_behind::<E>(restart, key.bytes)? {
                Found::Absent => {}
                found => return Some(found),
            }
        }
        Some(Found::Absent)
    }

    #[inline]
    fn index(&self) -> Option<&'a [u8]> {
        let end = self.bytes.len() - TAIL_BYTES;
        self.bytes.get(end - self.layout.index_len..end)
    }

    /// Looks for a key among the entries from a restart point to the next one.
    #[inline]
    fn find_behind<E: EntryCodec>(&self, restart: usize, target: &[u8]) -> Option<Found> {
        let end = match restart + 1 < self.layout.restart_count {
            true => self.layout.restart(self.bytes, restart + 1)?,
            false => self.layout.entries_end,
        };
        let start = self.layout.restart(self.bytes, restart)?;
        E::find_between(&self.bytes[..self.layout.entries_end], start, end, target)
    }
}

impl EntryHead {
    #[inline]
    pub(super) fn found(self) -> Found {
        if self.tombstone { Found::Tombstone } else { Found::Value(self.value) }
    }
}
