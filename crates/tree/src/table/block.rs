//! A data block: delta-coded entries, restart points, and an optional hash index; looking one key up in it.
//!
//! Layout (LevelDB's, with RocksDB's data-block hash index as an option):
//!
//! ```text
//! entry*      varint shared, varint unshared, varint (value length << 1 | tombstone), key suffix, value
//! restarts    u32 × restart count: offsets of entries that share nothing with the one before
//! buckets     u8 × bucket count: the hash index (see `hash_index`)
//! tail        u32 restart count, u32 bucket count
//! ```

use std::cmp::Ordering;
use std::ops::Range;

use types::{HashedKey, common_prefix};

use super::hash_index::{self, Bucket};
use crate::codec::varint;

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
    /// The number of hash buckets; 0 without a hash index.
    bucket_count: usize,
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
        let (rest, buckets) = bytes.split_last_chunk::<4>()?;
        let (_, restarts) = rest.split_last_chunk::<4>()?;
        let restart_count = u32::from_le_bytes(*restarts) as usize;
        let bucket_count = u32::from_le_bytes(*buckets) as usize;
        let behind_entries =
            restart_count.checked_mul(4)?.checked_add(bucket_count)?.checked_add(TAIL_BYTES)?;
        let entries_end = bytes.len().checked_sub(behind_entries)?;
        (restart_count > 0).then_some(Self { entries_end, restart_count, bucket_count })
    }

    /// The offset of a restart point, if it lies among the entries.
    #[inline]
    pub(super) fn restart(&self, bytes: &[u8], index: usize) -> Option<usize> {
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
        let restart = match self.bucket(key) {
            Some(Bucket::Empty) => return Some(Found::Absent),
            Some(Bucket::Restart(restart)) => usize::from(restart),
            Some(Bucket::Collision) | None => self.layout.seek_restart(self.bytes, key.bytes)?,
        };
        self.find_from(self.layout.restart(self.bytes, restart)?, key.bytes)
    }

    fn bucket(&self, key: HashedKey<'_>) -> Option<Bucket> {
        if self.layout.bucket_count == 0 {
            return None;
        }
        let start = self.layout.entries_end + self.layout.restart_count * 4;
        Some(hash_index::lookup(self.bytes.get(start..start + self.layout.bucket_count)?, key.hash))
    }

    /// Walks the entries from `at`, whose key shares nothing with the one before.
    ///
    /// No key is put together: `matched` bytes of the target equal the key before, which is below the
    /// target, so the shared length alone decides most comparisons.
    #[inline]
    fn find_from(&self, mut at: usize, target: &[u8]) -> Option<Found> {
        let mut matched = 0;
        while at < self.layout.entries_end {
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
