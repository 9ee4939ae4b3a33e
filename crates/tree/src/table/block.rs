//! Point lookups in a data block, and decoding of its entries, for every block format.
//!
//! The compiler generates the code for each entry encoding, so the code needs no virtual call per entry.

use std::ops::Range;

use types::HashedKey;

use super::block_footer::BlockFooter;
use super::fingerprints::Fingerprints;
use super::formats::{layout_behind, layout_without_footer};
use super::layout::{Entries, EntryCodec, EntryHead, Found, Layout, Part};
use super::{delta, pairs, whole};
use crate::design::BlockIndex;

impl Layout {
    /// Returns the byte range of the first key in a data block. Returns `None` if the block is corrupt.
    pub(super) fn first_key(&self, bytes: &[u8]) -> Option<Range<usize>> {
        self.entry(bytes, self.entries_start).map(|head| head.suffix)
    }

    /// Decodes the lengths of the entry at the offset `at` of a data block. Returns `None` if the entry extends beyond
    /// the last entry of the block.
    #[inline]
    pub(super) fn entry(&self, bytes: &[u8], at: usize) -> Option<EntryHead> {
        let entries = &bytes[..self.entries_end];
        match self.entries {
            Entries::Delta => delta::Delta::head(entries, at),
            Entries::Whole => whole::Whole::head(entries, at),
            Entries::Pairs => pairs::Pairs::head(entries, at),
            Entries::SentinelPairs => pairs::SentinelPairs::head(entries, at),
        }
    }

    /// Runs a binary search over the restart points of a data block, limited to the numbers in `among`. Returns the
    /// last restart point whose key is not above `target`, or the first restart point if all keys are above `target`.
    /// Returns `None` if the block is corrupt.
    #[inline]
    pub(super) fn seek_restart(&self, bytes: &[u8], among: Range<usize>, target: &[u8]) -> Option<usize> {
        match self.entries {
            Entries::Delta => self.seek_among::<delta::Delta>(bytes, among, target),
            Entries::Whole => self.seek_among::<whole::Whole>(bytes, among, target),
            Entries::Pairs => self.seek_among::<pairs::Pairs>(bytes, among, target),
            Entries::SentinelPairs => self.seek_among::<pairs::SentinelPairs>(bytes, among, target),
        }
    }
}

/// Looks up a key in a data block of any format. Returns `None` if the block is corrupt.
#[inline]
pub fn find(block: &[u8], key: HashedKey<'_>) -> Option<Found> {
    find_noting(block, key, |_| {})
}

/// Looks up a key in a data block, like [`find`]. Reports to `note` whether the index inside the block answered the
/// lookup, so that no binary search was necessary. If the block has no index, `note` is not called. Returns `None` if
/// the block is corrupt.
#[inline]
pub fn find_noting(block: &[u8], key: HashedKey<'_>, note: impl FnOnce(bool)) -> Option<Found> {
    let Some(footer) = BlockFooter::of(block) else { return find_without_footer(block, key) };
    if footer.index == BlockIndex::Fingerprint {
        let index = Fingerprints::new(&block[..footer.end()], footer.index_len)?;
        note(true);
        let mut matches = index.matches(key.hash);
        // Most lookups of absent keys end here, before the lookup reads any other part of the block.
        let Some(first) = matches.next() else { return Some(Found::Absent) };
        let (interval, key) = (index.interval, key.bytes);
        return with_layout(&footer, block, |layout| match layout.entries {
            Entries::Delta => layout.find_matching::<delta::Delta>(block, interval, first, matches, key),
            Entries::Whole => layout.find_matching::<whole::Whole>(block, interval, first, matches, key),
            Entries::Pairs => layout.find_matching::<pairs::Pairs>(block, interval, first, matches, key),
            Entries::SentinelPairs => {
                layout.find_matching::<pairs::SentinelPairs>(block, interval, first, matches, key)
            }
        });
    }
    with_layout(&footer, block, |layout| find_by(layout, block, key, note))
}

/// Looks up a key in a data block without a footer. Returns `None` if no block format recognizes the block.
#[inline(never)]
fn find_without_footer(block: &[u8], key: HashedKey<'_>) -> Option<Found> {
    find_by(&layout_without_footer(block)?, block, key, |_| {})
}

/// Looks up a key in a data block whose layout is `layout`. Reports to `note` whether the index of the block answered
/// the lookup. Returns `None` if the block is corrupt.
#[inline]
fn find_by(layout: &Layout, block: &[u8], key: HashedKey<'_>, note: impl FnOnce(bool)) -> Option<Found> {
    match layout.entries {
        Entries::Delta => layout.find::<delta::Delta>(block, key, note),
        Entries::Whole => layout.find::<whole::Whole>(block, key, note),
        Entries::Pairs => layout.find::<pairs::Pairs>(block, key, note),
        Entries::SentinelPairs => layout.find::<pairs::SentinelPairs>(block, key, note),
    }
}

/// Looks up a key in `part`, the only part of a data block that can contain the key. The block must have no index of
/// its own. Returns `None` if the block is corrupt.
#[inline]
pub(super) fn find_in_part(block: &[u8], part: &Part, key: &[u8]) -> Option<Found> {
    let work = |layout: &Layout| match layout.entries {
        Entries::Delta => layout.find_in_part::<delta::Delta>(block, part, key),
        Entries::Whole => layout.find_in_part::<whole::Whole>(block, part, key),
        Entries::Pairs => layout.find_in_part::<pairs::Pairs>(block, part, key),
        Entries::SentinelPairs => layout.find_in_part::<pairs::SentinelPairs>(block, part, key),
    };
    match BlockFooter::of(block) {
        Some(footer) => with_layout(&footer, block, work),
        None => work(&layout_without_footer(block)?),
    }
}

/// Calls `work` with the layout of a data block.
#[inline]
fn with_layout<R>(footer: &BlockFooter, block: &[u8], work: impl FnOnce(&Layout) -> Option<R>) -> Option<R> {
    // The compiler generates two versions of this call: one for the default block format and one for all other formats.
    // In the first version, the layout stays in CPU registers. A layout in memory would stall the CPU (failed store
    // forwarding) for as long as a search of the block takes.
    match footer.format {
        delta::CODE => match &delta::layout(block, footer) {
            Some(layout) => work(layout),
            None => None,
        },
        _ => match &layout_behind(block, footer) {
            Some(layout) => work(layout),
            None => None,
        },
    }
}
