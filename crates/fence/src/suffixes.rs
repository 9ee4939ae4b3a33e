//! Separators in memory, prepared for fast searches. Each separator has a head (8-byte prefix) and lacks the common
//! prefix of all separators.
//!
//! In a search over byte strings, most of the time is spent on memory accesses to the strings. A head is the next
//! eight bytes after the common prefix, as one big-endian number. Two separators nearly always have different heads.
//! The strings are compared only if two heads are equal. A suffix is the part of a separator after the common prefix.
//! If all suffixes have the same length of at most eight bytes, the heads contain the complete suffixes, and no other
//! bytes are stored. Integer keys are an example.
#![allow(clippy::inline_always)] // see `line`

use types::{common_prefix, head};

use crate::separators::Separators;
use prefetch::prefetch;

/// All separators of an SSTable except the first, without their common prefix. The heads, which are the first eight
/// bytes after this prefix, are stored separately.
///
/// The first separator is not needed, because a key below the first separator also belongs to block 0. The block number
/// of a key is therefore the number of separators (other than the first) at or below the key.
pub(crate) struct Suffixes {
    prefix: Box<[u8]>,
    /// The first eight bytes of the common prefix of the separators. `prefix_mask` has a 1 bit for each bit of this
    /// prefix.
    prefix_head: u64,
    prefix_mask: u64,
    count: usize,
    rest: Rest,
}

/// The bytes of the separators after the common prefix. They are stored only if the heads (the first eight of these
/// bytes) do not contain all of them.
enum Rest {
    /// No bytes, because the heads contain all bytes after the common prefix. The field is the number of these bytes,
    /// which is equal for all separators.
    OfLength(usize),
    /// All bytes of each separator after the common prefix, including the bytes in its head.
    Arena(Separators),
}

/// The result of a search for a head (an 8-byte key prefix): the position of the first stored head that is at or above
/// the searched head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bound {
    /// The number of stored heads below the searched head.
    pub(crate) rank: u32,
    /// Whether the stored head at this position may equal the searched head.
    pub(crate) may_tie: bool,
}

impl Bound {
    /// Creates the search result for `head` in the sorted `heads`. `rank` is the number of heads below `head`.
    #[inline]
    pub(crate) fn at(heads: &[u64], rank: usize, head: u64) -> Self {
        Self { rank: rank as u32, may_tie: heads.get(rank) == Some(&head) }
    }
}

/// Comparison of a key with the common prefix of all separators except the first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PrefixOrder {
    /// The key is below all separators except the first.
    Below,
    /// The key is above all separators.
    Above,
    /// The key has the common prefix. The value is the head of the key: the eight bytes after the prefix.
    Within(u64),
}

impl Suffixes {
    /// Removes the common prefix from all separators of an SSTable except the first. Returns these separators, and
    /// their heads (the first eight bytes after the prefix) in sorted order.
    pub(crate) fn new(separators: &Separators) -> (Self, Vec<u64>) {
        let others = || separators.iter().skip(1);
        let shared = match (others().next(), others().last()) {
            (Some(first), Some(last)) => &first[..common_prefix(first, last)],
            _ => &[],
        };
        let suffixes = || others().map(|separator| &separator[shared.len()..]);
        let heads: Vec<u64> = suffixes().map(head).collect();
        let length = suffixes().next().map_or(0, <[u8]>::len);
        let rest = match length <= size_of::<u64>() && suffixes().all(|suffix| suffix.len() == length) {
            true => Rest::OfLength(length),
            false => Rest::Arena(suffixes().collect()),
        };
        let prefix_mask = head(&vec![0xff; shared.len()]);
        let count = heads.len();
        (Self { prefix: shared.into(), prefix_head: head(shared), prefix_mask, count, rest }, heads)
    }

    /// Returns the number of separators of the SSTable, without the first separator.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Compares `key` with the common prefix of the separators.
    #[inline]
    pub(crate) fn place(&self, key: &[u8]) -> PrefixOrder {
        self.head_behind(key).map_or_else(|| self.place_at_length(key), PrefixOrder::Within)
    }

    /// Returns the eight bytes of `key` after the common prefix of the separators. Returns `None` in rare cases: if the
    /// prefix is long, if the key does not have the prefix, or if the key has fewer than eight bytes after the prefix.
    #[inline(always)]
    pub(crate) fn head_behind(&self, key: &[u8]) -> Option<u64> {
        let length = self.prefix.len();
        let behind = key.get(length..)?.first_chunk()?;
        let differs = (u64::from_be_bytes(*key.first_chunk()?) ^ self.prefix_head) & self.prefix_mask != 0;
        (length <= size_of::<u64>() && !differs).then_some(u64::from_be_bytes(*behind))
    }

    #[cold]
    #[inline(never)]
    fn place_at_length(&self, key: &[u8]) -> PrefixOrder {
        match key.split_at_checked(self.prefix.len()) {
            Some((prefix, suffix)) if *prefix == *self.prefix => PrefixOrder::Within(head(suffix)),
            _ if *key < *self.prefix => PrefixOrder::Below,
            _ => PrefixOrder::Above,
        }
    }

    /// Returns the number of separators at or below a key that has the common prefix. `bound` is the result of the
    /// search for the head of the key.
    #[inline(always)]
    pub(crate) fn settle(&self, bound: Bound, key: &[u8]) -> usize {
        let rank = bound.rank as usize;
        match &self.rest {
            _ if !bound.may_tie || rank == self.count => rank,
            // If the heads are equal, the longer key is the larger key. No two separators are equal.
            Rest::OfLength(length) => rank + usize::from(key.len() >= self.prefix.len() + length),
            Rest::Arena(arena) => settle(arena, rank, &key[self.prefix.len()..]),
        }
    }

    /// Prefetches the cache line with the offset of the separator with the index `rank`.
    #[inline]
    pub(crate) fn prefetch_place(&self, rank: u32) {
        if let Rest::Arena(arena) = &self.rest {
            prefetch(arena.ends(), rank as usize);
        }
    }

    /// Prefetches the first cache line of separator `rank`, if the separator exists.
    #[inline]
    pub(crate) fn prefetch_suffix(&self, rank: u32) {
        if let Rest::Arena(arena) = &self.rest
            && (rank as usize) < arena.len()
        {
            prefetch(arena.get(rank as usize), 0);
        }
    }

    /// Returns the memory in bytes that the separators take in addition to their heads.
    pub(crate) fn memory_bytes(&self) -> usize {
        let rest = match &self.rest {
            Rest::OfLength(_) => 0,
            Rest::Arena(arena) => arena.memory_bytes(),
        };
        self.prefix.len() + rest
    }
}

/// Returns the number of separators in `arena` that are at or below `suffix`. The first `rank` separators must be below
/// it. The search doubles its steps, because most SSTables have few separators with equal heads.
#[inline(never)]
fn settle(arena: &Separators, rank: usize, suffix: &[u8]) -> usize {
    let at_or_below = |rank: usize| rank < arena.len() && arena.get(rank) <= suffix;
    let (mut low, mut step) = (rank, 1);
    while at_or_below(low + step - 1) {
        low += step;
        step *= 2;
    }
    let mut high = low + step - 1;
    while low < high {
        let middle = low.midpoint(high);
        if at_or_below(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suffixes(separators: &[&[u8]]) -> Suffixes {
        Suffixes::new(&separators.iter().copied().collect()).0
    }

    #[test]
    fn the_first_separator_hides_no_prefix() {
        let suffixes = suffixes(&[b"", b"user1", b"user1\0", b"user2"]);
        assert_eq!(&*suffixes.prefix, b"user");
        assert_eq!(suffixes.count, 3);
        assert_eq!(suffixes.place(b""), PrefixOrder::Below);
        assert_eq!(suffixes.place(b"use"), PrefixOrder::Below);
        assert_eq!(suffixes.place(b"usez"), PrefixOrder::Above);
        assert_eq!(suffixes.place(b"user"), PrefixOrder::Within(0));
        assert_eq!(suffixes.place(b"user17"), PrefixOrder::Within(head(b"17")));
    }

    /// Tests that the fast and the slow comparison with the prefix agree, for all lengths of the prefix.
    #[test]
    fn short_and_long_prefixes_are_told_alike() {
        let bytes: Vec<u8> = (1..40).collect();
        for length in 0..20 {
            let [low, high] = [0u8, 0xff].map(|last| [&bytes[..length], &[last; 9]].concat());
            let suffixes = suffixes(&[b"", &low, &high]);
            for end in 0..bytes.len() {
                let key = &bytes[..end];
                let within =
                    key.strip_prefix(&bytes[..length]).map(|suffix| PrefixOrder::Within(head(suffix)));
                assert_eq!(suffixes.place(key), within.unwrap_or(PrefixOrder::Below), "{length}, {end}");
                for at in 0..end.min(length) {
                    let mut other = key.to_vec();
                    other[at] = 0;
                    assert_eq!(suffixes.place(&other), PrefixOrder::Below, "{length}, {end}, {at}");
                    other[at] = 0xff;
                    assert_eq!(suffixes.place(&other), PrefixOrder::Above, "{length}, {end}, {at}");
                }
            }
        }
    }

    #[test]
    fn ties_are_settled_from_every_rank() {
        let names: Vec<String> = (0..100).map(|i| format!("same-head{i:03}")).collect();
        let mut separators: Vec<&[u8]> = vec![b"", b"other"];
        separators.extend(names.iter().map(String::as_bytes));
        let suffixes = suffixes(&separators);
        for (above, name) in names.iter().enumerate() {
            for rank in 1..=above as u32 + 1 {
                let bound = Bound { rank, may_tie: true };
                assert_eq!(suffixes.settle(bound, name.as_bytes()), above + 2);
            }
        }
        assert_eq!(suffixes.settle(Bound { rank: 101, may_tie: false }, b"~"), 101);
        assert_eq!(suffixes.settle(Bound { rank: 1, may_tie: true }, b"same-head"), 1);
    }

    /// Tests suffixes of equal length, which equal their heads. If a key has the same head as a separator, the key is
    /// below the separator only if the key is a proper prefix of the separator.
    #[test]
    fn integers_are_their_heads() {
        let numbers: Vec<[u8; 8]> = [0u64, 0, 256, 512, u64::MAX].map(u64::to_be_bytes).to_vec();
        let separators: Vec<&[u8]> = numbers[1..].iter().map(<[u8; 8]>::as_slice).collect();
        let suffixes = suffixes(&separators);
        assert_eq!(suffixes.memory_bytes(), 0);
        let tie = Bound { rank: 0, may_tie: true };
        assert_eq!(suffixes.settle(tie, &256u64.to_be_bytes()), 1);
        assert_eq!(suffixes.settle(tie, &256u64.to_be_bytes()[..7]), 0);
        assert_eq!(suffixes.settle(tie, &[&256u64.to_be_bytes()[..], b"\0"].concat()), 1);
    }

    #[test]
    fn one_separator_leaves_none() {
        let suffixes = suffixes(&[b"alone"]);
        assert_eq!(suffixes.count, 0);
        assert!(matches!(suffixes.place(b"any"), PrefixOrder::Within(_)));
    }
}
