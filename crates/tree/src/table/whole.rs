//! An encoding of entries in data blocks, with full keys and lengths of fixed width. Block formats without delta
//! encoding share this encoding, except formats with pairs of equal size.
//!
//! ```text
//! entry   u32 key length, u32 (value length << 1 | tombstone), key, value
//! ```

use types::Entry;

use super::layout::{EntryCodec, EntryHead};

/// The number of bytes before the key of an entry: the lengths of its key and value.
pub(super) const HEAD_BYTES: usize = 8;

/// The encoding of entries with full keys and lengths of fixed width.
pub(super) struct Whole;

/// Appends an entry to a data block, in the encoding [`Entries::Whole`](super::layout::Entries::Whole).
pub fn append(entry: &Entry<'_>, block: &mut Vec<u8>) {
    let value = entry.value.unwrap_or_default();
    block.extend_from_slice(&(entry.key.len() as u32).to_le_bytes());
    block.extend_from_slice(&((value.len() as u32) << 1 | u32::from(entry.value.is_none())).to_le_bytes());
    block.extend_from_slice(entry.key);
    block.extend_from_slice(value);
}

impl EntryCodec for Whole {
    #[inline]
    fn head(entries: &[u8], at: usize) -> Option<EntryHead> {
        let (key_len, behind) = entries.get(at..)?.split_first_chunk::<4>()?;
        let value = u32::from_le_bytes(*behind.first_chunk::<4>()?);
        let key_at = at + HEAD_BYTES;
        let key_end = key_at.checked_add(u32::from_le_bytes(*key_len) as usize)?;
        let value_end = key_end.checked_add((value >> 1) as usize)?;
        (value_end <= entries.len()).then_some(EntryHead {
            shared: 0,
            suffix: key_at..key_end,
            value: key_end..value_end,
            tombstone: value & 1 == 1,
        })
    }
}
