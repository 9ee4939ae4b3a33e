//! The layout of a data block: the positions of its parts and the encoding of its entries. Code that uses the layout
//! does not need to know the block format.

use std::cmp::Ordering;
use std::ops::Range;

use types::{HashedKey, common_prefix};

use super::block_footer::BLOCK_FOOTER_BYTES;
use super::fingerprints::Matches;
use super::hash_index::{self, Bucket};
use crate::codec::Reader;
use crate::design::BlockIndex;

/// The positions of the parts of a data block, and the encoding of its entries. Code that uses a layout does not need
/// to know the block format.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// The offset of the first entry in the data block.
    pub entries_start: usize,
    /// The offset in the data block at which the entries end.
    pub entries_end: usize,
    /// The encoding of the entries in the data block.
    pub entries: Entries,
    /// The number of restart points in the data block, at least one.
    pub restart_count: usize,
    /// The method by which the data block stores the offsets of its restart points.
    pub restarts: Restarts,
    /// Whether the data block stores its smallest and its largest key before its entries, each with its length (`u32`).
    /// The two keys follow the first four bytes of the block.
    pub has_bounds: bool,
    /// The kind of index inside the data block, which finds a key without a binary search.
    pub index: BlockIndex,
    /// The length of the index inside the data block, in bytes. The index is before the block footer.
    pub index_len: usize,
}

/// The encoding of the entries in a data block.
#[derive(Clone, Copy, Debug, Default)]
pub enum Entries {
    /// An entry stores only the part of its key that differs from the previous key. See the module `delta`.
    #[default]
    Delta,
    /// An entry stores its full key. See the module `whole`.
    Whole,
    /// All entries are key-value pairs of equal size, without lengths. See the module `pairs`.
    Pairs,
    /// All entries are pairs of equal size with values of four bytes, without a tombstone flag. The value
    /// [`SENTINEL`](crate::block::SENTINEL) marks a tombstone.
    SentinelPairs,
}

/// The method by which a data block stores the offsets of its restart points.
#[derive(Clone, Copy, Debug, Default)]
pub enum Restarts {
    /// The block stores a list of offsets with four bytes each, after its entries.
    #[default]
    Behind,
    /// The block stores a list of offsets with two bytes each, before its entries.
    Before,
    /// The block stores no list of offsets, because its restart points have equal distances. The field is the distance
    /// in bytes. The first entry is a restart point.
    Every(u32),
}

/// A decoder for one encoding of entries in data blocks. Code that iterates over entries is generic over the encoding,
/// so the compiler generates separate code for each encoding.
pub(super) trait EntryCodec {
    /// Decodes the lengths of the entry at the offset `at` of `entries`, which ends with the last entry. Returns `None`
    /// if the entry extends beyond the end of `entries`.
    fn head(entries: &[u8], at: usize) -> Option<EntryHead>;

    /// Searches for the key `target` in the entries from a restart point at the offset `at` to the offset `end`.
    /// Returns `None` if the block is corrupt.
    ///
    /// This default implementation works only if each entry contains its full key.
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

/// The lengths of an entry of a data block, and the positions of its key and value in the block.
#[derive(Clone, Debug)]
pub(super) struct EntryHead {
    /// The number of bytes at the start of the key that are equal to the start of the previous key. The entry does not
    /// store these bytes.
    pub(super) shared: usize,
    /// The byte range, in the data block, of the key without its shared bytes.
    pub(super) suffix: Range<usize>,
    /// The byte range of the entry's value in the data block.
    pub(super) value: Range<usize>,
    /// Whether the entry is a tombstone.
    pub(super) tombstone: bool,
}

/// The result of the lookup of a key in a data block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The key of the lookup is not in the data block.
    Absent,
    /// The data block contains a tombstone for the key of the lookup.
    Tombstone,
    /// The key of the lookup has a value, which the data block contains in this byte range.
    Value(Range<usize>),
}

/// A part of a data block that begins at a restart point. If an index finds that only this part can contain a key, a
/// lookup of the key searches no other part of the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The numbers of the restart points that a search in this part of a data block compares, at least one. They
    /// include the last restart point whose key is not above the searched key, if there is one.
    pub(super) restarts: Range<usize>,
    /// The offset in the data block at which the searched part begins. 0 if the part begins at the first entry.
    pub(super) start: usize,
    /// The offset in the data block at which the searched part ends. `None` if the part ends after the last entry.
    pub(super) end: Option<usize>,
}

impl Layout {
    /// Returns the offset of the restart point number `index` in the data block. Returns `None` if the offset is not
    /// within the entries.
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

    /// Returns the numbers of all restart points of the data block.
    #[inline]
    pub(super) fn all_restarts(&self) -> Range<usize> {
        0..self.restart_count
    }

    /// Implements [`seek_restart`](Self::seek_restart) for the entry encoding `E`: a binary search over the restart
    /// points in `among` for the last key that is not above `target`.
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
    /// Looks up a key in a data block, with the hash index of the block or with a binary search over its restart
    /// points. If the block has a hash index, the function passes to `note` whether the index answered the lookup.
    /// Returns `None` if the block is corrupt.
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

    /// Looks up a key in one part of a data block. Returns `None` if the block is corrupt.
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

    /// Returns the offsets in the data block at which the part `part` begins and ends.
    #[inline]
    pub(super) fn ends(&self, part: &Part) -> (usize, usize) {
        (part.start.max(self.entries_start), part.end.unwrap_or(self.entries_end))
    }

    /// Searches for the key `target` among the entries that the fingerprint index of the block has selected.
    ///
    /// `first` is the number of the first selected entry, and `others` returns the numbers of all others. Every
    /// `interval`-th entry is a restart point. Returns `None` if the block is corrupt.
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

    /// Searches for the key `target` in the entries from the restart point number `restart` to the next restart point.
    /// Returns `None` if the block is corrupt.
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

/// Returns whether `key` is below the smallest key or above the largest key that the block stores before its entries.
/// Returns `None` if the block is too short to contain these two keys.
fn is_outside(block: &[u8], key: &[u8]) -> Option<bool> {
    let mut reader = Reader::new(block.get(size_of::<u32>()..)?);
    let mut bound = || {
        let len = reader.u32()?;
        reader.take(len as usize)
    };
    Some(key < bound()? || bound()? < key)
}

/// Returns whether two keys are equal. The operator `==` of slices would call a library function, which takes longer
/// than most comparisons of keys.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && common_prefix(a, b) == a.len()
}
