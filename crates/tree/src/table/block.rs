//! A data block: delta-coded entries, restart points, and an optional index; looking one key up in it.
//!
//! Layout (LevelDB's, with an index as an option):
//!
//! ```text
//! entry*      varint shared, varint unshared, varint (value length << 1 | tombstone), key suffix, value
//! restarts    u32 × restart count: offsets of entries that share nothing with the one before
//! index       nothing, or a hash index (see `hash_index`), or fingerprints (see `fingerprints`)
//! tail        u32 restart count, u8 kind of the index, u24 bytes of the index
//! ```

use std::cmp::Ordering;
use std::ops::Range;

use types::{HashedKey, common_prefix};

use super::fingerprints;
use super::hash_index::{self, Bucket};
use crate::codec::varint;
use crate::design::BlockIndex;

/// The bytes of the tail.
pub(super) const TAIL_BYTES: usize = 8;

/// A block whose parts are known to lie inside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

/// Where the parts of a block lie.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    /// Where the entries end and the restarts begin.
    pub(super) entries_end: usize,
    /// The number of restart points; at least one.
    pub(super) restart_count: usize,
    index: BlockIndex,
    /// The bytes of the index.
    index_len: usize,
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
pub(super) enum Found {
    /// The key is not in the block.
    Absent,
    /// A tombstone.
    Tombstone,
    /// A value, by its place in the block.
    Value(Range<usize>),
}

impl Layout {
    /// Reads the tail and checks that the parts it tells of fit in the block.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let (rest, index) = bytes.split_last_chunk::<4>()?;
        let (_, restarts) = rest.split_last_chunk::<4>()?;
        let restart_count = u32::from_le_bytes(*restarts) as usize;
        let index_len = u32::from_le_bytes(*index) as usize >> 8;
        let index = *BlockIndex::ALL.get(usize::from(index[0]))?;
        let behind_entries = restart_count.checked_mul(4)?.checked_add(index_len)?.checked_add(TAIL_BYTES)?;
        let entries_end = bytes.len().checked_sub(behind_entries)?;
        (restart_count > 0).then_some(Self { entries_end, restart_count, index, index_len })
    }

    /// The offset of a restart point, if it lies among the entries.
    #[inline]
    pub(super) fn restart(&self, bytes: &[u8], index: usize) -> Option<usize> {
        if index >= self.restart_count {
            return None;
        }
        let at = self.entries_end + index * 4;
        let offset = u32::from_le_bytes(*bytes.get(at..)?.first_chunk::<4>()?) as usize;
        (offset < self.entries_end).then_some(offset)
    }

    /// The entry at offset `at`; `None` where its parts do not fit before the restarts.
    #[inline]
    pub(super) fn entry(&self, bytes: &[u8], at: usize) -> Option<EntryHead> {
        let entries = &bytes[..self.entries_end];
        let (shared, at) = varint(entries, at)?;
        let (unshared, at) = varint(entries, at)?;
        let (value, at) = varint(entries, at)?;
        let key_end = at.checked_add(usize::try_from(unshared).ok()?)?;
        let value_end = key_end.checked_add(usize::try_from(value >> 1).ok()?)?;
        (value_end <= self.entries_end).then_some(EntryHead {
            shared: shared as usize,
            suffix: at..key_end,
            value: key_end..value_end,
            tombstone: value & 1 == 1,
        })
    }

    /// The last restart point whose key is at or below `target`, or the first one.
    pub(super) fn seek_restart(&self, bytes: &[u8], target: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.restart_count);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            let head = self.entry(bytes, self.restart(bytes, middle)?)?;
            if bytes[head.suffix] <= *target { low = middle } else { high = middle }
        }
        Some(low)
    }
}

impl<'a> Block<'a> {
    /// The block in `bytes`; `None` where the bytes are no block.
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        Layout::of(bytes).map(|layout| Self { bytes, layout })
    }

    /// The first key.
    pub(super) fn first_key(&self) -> Option<Range<usize>> {
        self.layout.entry(self.bytes, 0).map(|head| head.suffix)
    }

    /// Looks up a key; `None` where the block turns out to be damaged.
    #[inline]
    pub(super) fn find(&self, key: HashedKey<'_>) -> Option<Found> {
        match self.layout.index {
            BlockIndex::Fingerprint => self.find_by_fingerprint(key),
            BlockIndex::Hash if self.layout.index_len > 0 => {
                match hash_index::lookup(self.index()?, key.hash) {
                    Bucket::Empty => Some(Found::Absent),
                    Bucket::Restart(restart) => self.find_behind(usize::from(restart), key.bytes),
                    Bucket::Collision => self.search(key.bytes),
                }
            }
            BlockIndex::Hash | BlockIndex::None => self.search(key.bytes),
        }
    }

    /// Searches the restart points.
    fn search(&self, target: &[u8]) -> Option<Found> {
        self.find_behind(self.layout.seek_restart(self.bytes, target)?, target)
    }

    fn find_by_fingerprint(&self, key: HashedKey<'_>) -> Option<Found> {
        for restart in fingerprints::restarts(self.index()?, key.hash)? {
            match self.find_behind(restart, key.bytes)? {
                Found::Absent => {}
                found => return Some(found),
            }
        }
        Some(Found::Absent)
    }

    fn index(&self) -> Option<&'a [u8]> {
        let start = self.layout.entries_end + self.layout.restart_count * 4;
        self.bytes.get(start..start + self.layout.index_len)
    }

    /// Looks for a key among the entries from a restart point to the next one.
    #[inline]
    fn find_behind(&self, restart: usize, target: &[u8]) -> Option<Found> {
        let end = match restart + 1 < self.layout.restart_count {
            true => self.layout.restart(self.bytes, restart + 1)?,
            false => self.layout.entries_end,
        };
        self.find_between(self.layout.restart(self.bytes, restart)?, end, target)
    }

    /// Walks the entries from `at`, whose key shares nothing with the one before, to `end`.
    ///
    /// No key is put together: `matched` bytes of the target equal the key before, which is below the
    /// target, so the shared length alone decides most comparisons.
    #[inline]
    fn find_between(&self, mut at: usize, end: usize, target: &[u8]) -> Option<Found> {
        let mut matched = 0;
        while at < end {
            let head = self.layout.entry(self.bytes, at)?;
            at = head.value.end;
            match head.shared.cmp(&matched) {
                // It still differs from the target where the key before did: below it.
                Ordering::Greater => {}
                // It differs from the key before inside what matched, and keys rise: above the target.
                Ordering::Less => return Some(Found::Absent),
                Ordering::Equal => {
                    let suffix = &self.bytes[head.suffix.clone()];
                    let rest = &target[matched..];
                    let common = common_prefix(suffix, rest);
                    match (suffix.get(common), rest.get(common)) {
                        (None, None) => return Some(head.found()),
                        (Some(key), Some(wanted)) if key > wanted => return Some(Found::Absent),
                        (Some(_), None) => return Some(Found::Absent),
                        _ => matched += common,
                    }
                }
            }
        }
        Some(Found::Absent)
    }
}

impl EntryHead {
    fn found(self) -> Found {
        if self.tombstone { Found::Tombstone } else { Found::Value(self.value) }
    }
}
