//! An encoding of entries for data blocks in which all keys have one size and all values have one size. The block
//! stores both sizes once, before the entries.
//!
//! ```text
//! sizes    u8 bytes of a key, u8 bytes of a value
//! pair*    key, value
//! ```

use super::layout::{EntryCodec, EntryHead};

/// The value that marks a tombstone in an encoding without a tombstone flag: the largest `int` of C in little-endian
/// byte order.
pub const SENTINEL: [u8; 4] = i32::MAX.to_le_bytes();

/// The encoding of key-value pairs of equal size. The encoded entries begin with the size of the keys and the size of
/// the values.
pub(super) struct Pairs;

/// The encoding of key-value pairs with values of four bytes. The value [`SENTINEL`] marks a tombstone.
pub(super) struct SentinelPairs;

impl EntryCodec for Pairs {
    #[inline]
    fn head(entries: &[u8], at: usize) -> Option<EntryHead> {
        let sizes = *entries.first_chunk::<2>()?;
        let key_end = at.checked_add(usize::from(sizes[0]))?;
        let value_end = key_end.checked_add(usize::from(sizes[1]))?;
        (value_end <= entries.len()).then_some(EntryHead {
            shared: 0,
            suffix: at..key_end,
            value: key_end..value_end,
            tombstone: false,
        })
    }
}

impl EntryCodec for SentinelPairs {
    #[inline]
    fn head(entries: &[u8], at: usize) -> Option<EntryHead> {
        let head = Pairs::head(entries, at)?;
        let tombstone = entries[head.value.clone()] == SENTINEL;
        (head.value.len() == SENTINEL.len()).then_some(EntryHead { tombstone, ..head })
    }
}
