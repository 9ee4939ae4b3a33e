//! The layout of a data block: where its parts lie and how its entries are read. It names no format.

use std::cmp::Ordering;
use std::ops::Range;

use types::{HashedKey, common_prefix};

use super::block_footer::BLOCK_FOOTER_BYTES;
use super::fingerprints::Matches;
use super::hash_index::{self, Bucket};
use crate::codec::Reader;
use crate::design::BlockIndex;

/// Where the parts of a block lie.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// Where the entries begin.
    pub entries_start: usize,
    /// Where the entries end.
    pub entries_end: usize,
    /// How an entry is written.
    pub entries: Entries,
    /// The number of restart points; at least one.
    pub restart_count: usize,
    /// How restart points are found.
    pub restarts: Restarts,
    /// Whether the block names its smallest and its largest key: behind its first four bytes stand the length (`u32`)
    /// and the bytes of one, and then of the other.
    pub has_bounds: bool,
    /// What the block carries to find a key without a search.
    pub index: BlockIndex,
    /// The bytes of the index, which stands before the tail.
    pub index_len: usize,
}

/// How an entry is written.
#[derive(Clone, Copy, Debug, Default)]
pub enum Entries {
    /// As the difference to the one before: see `delta`.
    #[default]
    Delta,
    /// With its whole key: see `whole`.
    Whole,
    /// As one of pairs of the same size: see `pairs`.
    Pairs,
}

/// How restart points are found.
#[derive(Clone, Copy, Debug, Default)]
pub enum Restarts {
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

    /// Looks for `target` among the entries from `at`, a restart point, to `end`. This one is for entries whose keys stand
    /// whole.
    #[inline]
    fn find_between(entries: &[u8], mut at: usize, end: usize, target: &[u8]) -> Option<Found> {
        while at < end {
            let head = Self::head(entries, at)?;
            match entries[head.suffix.clone()].cmp(target) {
                Ordering::Less => at = head.value.end,
                Ordering::Equal => return Some(head.found()),
                Ordering::Greater => break,
            }
        }
        Some(Found::Absent)
    }
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

/// The part of a block that can have a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its restart points, at least one: the last one at or below the key is among them, if there is any in the block.
    pub(super) restarts: Range<usize>,
    /// Where it begins in the block; 0 if with the entries.
    pub(super) start: usize,
    /// Where it ends, if not with the entries.
    pub(super) end: Option<usize>,
}

impl Layout {
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

    /// All restart points.
    #[inline]
    pub(super) fn all_restarts(&self) -> Range<usize> {
        0..self.restart_count
    }

    /// The last of some restart points whose key is at or below `target`, or the first of them.
    pub(super) fn seek_among<E: EntryCodec>(
        &self,
        bytes: &[u8],
        among: Range<usize>,
        target: &[u8],
    ) -> Option<usize> {
        let entries = &bytes[..self.entries_end];
        let (mut low, mut high) = (among.start, among.end);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            let head = E::head(entries, self.restart(bytes, middle)?)?;
            if entries[head.suffix] <= *target { low = middle } else { high = middle }
        }
        Some(low)
    }
}

impl Layout {
    /// Looks a key up by the index of the block, or by halving, and tells `note` whether the index answered.
    pub(super) fn find<E: EntryCodec>(
        &self,
        block: &[u8],
        key: HashedKey<'_>,
        note: impl FnOnce(bool),
    ) -> Option<Found> {
        if self.has_bounds && is_outside(block, key.bytes)? {
            return Some(Found::Absent);
        }
        if self.index == BlockIndex::Hash && self.index_len > 0 {
            let end = block.len() - BLOCK_FOOTER_BYTES;
            let bucket = hash_index::lookup(&block[end - self.index_len..end], key.hash);
            note(bucket != Bucket::Collision);
            match bucket {
                Bucket::Empty => return Some(Found::Absent),
                Bucket::Restart(restart) => {
                    return self.find_behind::<E>(block, usize::from(restart), key.bytes);
                }
                Bucket::Collision => {}
            }
        }
        let restart = self.seek_among::<E>(block, self.all_restarts(), key.bytes)?;
        self.find_behind::<E>(block, restart, key.bytes)
    }

    /// Looks a key up in one part of the block.
    #[inline]
    pub(super) fn find_in_part<E: EntryCodec>(
        &self,
        block: &[u8],
        part: &Part,
        target: &[u8],
    ) -> Option<Found> {
        if part.restarts.len() == 1 {
            let (start, end) = self.ends(part);
            return E::find_between(&block[..self.entries_end], start, end, target);
        }
        self.find_behind::<E>(block, self.seek_among::<E>(block, part.restarts.clone(), target)?, target)
    }

    /// Where a part begins and ends.
    #[inline]
    pub(super) fn ends(&self, part: &Part) -> (usize, usize) {
        (part.start.max(self.entries_start), part.end.unwrap_or(self.entries_end))
    }

    /// Looks for a key among entries with its fingerprint, `first` and the others, where every `interval`-th entry
    /// is a restart point.
    #[inline]
    pub(super) fn find_matching<E: EntryCodec>(
        &self,
        block: &[u8],
        interval: usize,
        first: usize,
        mut others: Matches<'_>,
        target: &[u8],
    ) -> Option<Found> {
        let entries = &block[..self.entries_end];
        let mut entry = first;
        loop {
            if interval > 1 {
                match self.find_behind::<E>(block, entry / interval, target)? {
                    Found::Absent => {}
                    found => return Some(found),
                }
            } else {
                let head = E::head(entries, self.restart(block, entry)?)?;
                if is_same(&entries[head.suffix.clone()], target) {
                    return Some(head.found());
                }
            }
            match others.next() {
                Some(other) => entry = other,
                None => return Some(Found::Absent),
            }
        }
    }

    /// Looks for a key among the entries from a restart point to the next one.
    #[inline]
    fn find_behind<E: EntryCodec>(&self, block: &[u8], restart: usize, target: &[u8]) -> Option<Found> {
        let end = match restart + 1 < self.restart_count {
            true => self.restart(block, restart + 1)?,
            false => self.entries_end,
        };
        E::find_between(&block[..self.entries_end], self.restart(block, restart)?, end, target)
    }
}

impl EntryHead {
    #[inline]
    pub(super) fn found(self) -> Found {
        if self.tombstone { Found::Tombstone } else { Found::Value(self.value) }
    }
}

/// Whether a key lies outside the smallest and the largest key that a block names. `None` if the block is too short
/// to name them.
fn is_outside(block: &[u8], key: &[u8]) -> Option<bool> {
    let mut reader = Reader::new(block.get(size_of::<u32>()..)?);
    let mut bound = || {
        let len = reader.u32()?;
        reader.take(len as usize)
    };
    Some(key < bound()? || bound()? < key)
}

/// Whether two keys are the same: without the call that `==` of slices is, which takes longer than most keys.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && common_prefix(a, b) == a.len()
}
