//! The block format "delta". An entry stores only the part of its key after the prefix that it shares with the previous
//! key. Restart points store the full key.
//!
//! `LevelDB` uses this format:
//!
//! ```text
//! entry*      varint shared, varint unshared, varint (value length << 1 | tombstone), key suffix, value
//! restarts    u32 × restart count: offsets of entries that share nothing with the one before
//! ```

use catalog::Variant;
use types::{Entry, common_prefix};

use super::block_footer::BlockFooter;
use super::draft::{Draft, EntryWriter};
use super::format::BlockFormat;
use super::layout::{Entries, EntryCodec, EntryHead, Found, Layout, Restarts};
use crate::codec::{put_varint, varint};
use crate::design::BlockOptions;

pub(super) const VARIANT: Variant<dyn BlockFormat> = Variant::plain(
    "delta",
    "each key omits the prefix that it shares with the previous key; every block.restart_interval entries, \
     a key is stored in full",
    || Box::new(Delta),
);

/// The code of the block format `delta` in block footers.
pub(super) const CODE: u8 = 0;

/// The block format `delta`, and the encoding of its entries.
pub(super) struct Delta;

impl BlockFormat for Delta {
    fn code(&self) -> u8 {
        CODE
    }

    fn layout(&self, block: &[u8], footer: &BlockFooter) -> Option<Layout> {
        layout(block, footer)
    }

    fn writer(&self, options: &BlockOptions) -> Box<dyn EntryWriter> {
        Box::new(Writer { interval: options.restart_interval, restarts: Vec::new(), since_restart: 0 })
    }
}

/// Returns the positions of the parts of a block in the format `delta`. Returns `None` if the block is corrupt.
#[inline]
pub(super) fn layout(_: &[u8], footer: &BlockFooter) -> Option<Layout> {
    let entries_end = footer.index_at.checked_sub(footer.restart_count.checked_mul(size_of::<u32>())?)?;
    (footer.restart_count > 0).then_some(Layout {
        entries_start: 0,
        entries_end,
        entries: Entries::Delta,
        restart_count: footer.restart_count,
        restarts: Restarts::Behind,
        has_bounds: false,
        index: footer.index,
        index_len: footer.index_len,
    })
}

impl EntryCodec for Delta {
    /// Decodes the lengths at the start of an entry. In the common case, one load reads all lengths: each length of the
    /// key takes one byte, and the length of the value takes one or two bytes.
    #[inline]
    fn head(entries: &[u8], at: usize) -> Option<EntryHead> {
        let Some(&[shared, unshared, low, high]) = entries.get(at..)?.first_chunk::<4>() else {
            return long_head(entries, at);
        };
        let has_two = low >= 0x80;
        if (shared | unshared) >= 0x80 || (has_two && high >= 0x80) {
            return long_head(entries, at);
        }
        let value = if has_two { usize::from(low & 0x7f) | usize::from(high) << 7 } else { usize::from(low) };
        let key_at = at + 3 + usize::from(has_two);
        let key_end = key_at + usize::from(unshared);
        let value_end = key_end + (value >> 1);
        (value_end <= entries.len()).then_some(EntryHead {
            shared: usize::from(shared),
            suffix: key_at..key_end,
            value: key_end..value_end,
            tombstone: value & 1 == 1,
        })
    }

    /// Searches for the key `target` in the entries from a restart point to the offset `end`. In most cases, the
    /// lengths of shared prefixes show whether a key is below or above `target`, so no key is restored.
    #[inline]
    fn find_between(entries: &[u8], mut at: usize, end: usize, target: &[u8]) -> Option<Found> {
        // The number of bytes that the target shares with the previous key, which is below the target.
        let mut matched = 0;
        while at < end {
            let head = Self::head(entries, at)?;
            at = head.value.end;
            // The key differs from the target at the same byte as the previous key, so the key is also below the target.
            if head.shared > matched {
                continue;
            }
            if head.shared < matched {
                // The key differs from the previous key within the matched bytes. The keys ascend, so the key is above
                // the target. An entry that shares nothing may be a restart point, whose key is full.
                if head.shared > 0 {
                    return Some(Found::Absent);
                }
                matched = 0;
            }
            let suffix = &entries[head.suffix.clone()];
            let rest = &target[matched..];
            let common = common_prefix(suffix, rest);
            match (suffix.get(common), rest.get(common)) {
                (None, None) => return Some(head.found()),
                (Some(key), Some(wanted)) if key > wanted => return Some(Found::Absent),
                (Some(_), None) => return Some(Found::Absent),
                _ => matched += common,
            }
        }
        Some(Found::Absent)
    }
}

/// Decodes the lengths at the start of an entry in the general case, in which a length may take several bytes.
#[cold]
#[inline(never)]
fn long_head(entries: &[u8], at: usize) -> Option<EntryHead> {
    let (shared, at) = varint(entries, at)?;
    let (unshared, at) = varint(entries, at)?;
    let (value, at) = varint(entries, at)?;
    let key_end = at.checked_add(usize::try_from(unshared).ok()?)?;
    let value_end = key_end.checked_add(usize::try_from(value >> 1).ok()?)?;
    (value_end <= entries.len()).then_some(EntryHead {
        shared: shared as usize,
        suffix: at..key_end,
        value: key_end..value_end,
        tombstone: value & 1 == 1,
    })
}

/// Appends an entry in the encoding [`Entries::Delta`] to a block. The first `shared` bytes of its key are equal to the
/// first bytes of the previous key, so they are not stored.
pub fn append(entry: &Entry<'_>, shared: usize, block: &mut Vec<u8>) {
    let value = entry.value.unwrap_or_default();
    put_varint(block, shared as u64);
    put_varint(block, (entry.key.len() - shared) as u64);
    put_varint(block, (value.len() as u64) << 1 | u64::from(entry.value.is_none()));
    block.extend_from_slice(&entry.key[shared..]);
    block.extend_from_slice(value);
}

/// Encodes the entries of one block in the format `delta`.
struct Writer {
    interval: u32,
    restarts: Vec<u32>,
    /// The number of entries since the last restart point.
    since_restart: u32,
}

impl EntryWriter for Writer {
    fn add(&mut self, draft: &mut Draft, entry: &Entry<'_>) {
        let mut shared = 0;
        if self.since_restart == self.interval || self.restarts.is_empty() {
            self.restarts.push(draft.bytes.len() as u32);
            self.since_restart = 0;
        } else {
            shared = common_prefix(&draft.last_key, entry.key);
        }
        append(entry, shared, &mut draft.bytes);
        draft.set_last_key(shared, entry.key);
        self.since_restart += 1;
    }

    fn bytes_with(&self, draft: &Draft, entry: &Entry<'_>) -> usize {
        draft.bytes_with(entry, (self.restarts.len() + 1) * size_of::<u32>())
    }

    fn finish(&mut self, draft: &mut Draft) {
        for restart in &self.restarts {
            draft.bytes.extend_from_slice(&restart.to_le_bytes());
        }
        draft.end(CODE, self.restarts.len(), self.interval as usize);
        self.restarts.clear();
        self.since_restart = 0;
    }
}
