//! Separators as a fast search wants them: without what they all share, led by 8-byte heads.
//!
//! What costs time in a search over byte strings is not the number of steps but touching the strings. Once
//! their common prefix is cut, the next eight bytes, compared as one big-endian number, nearly always tell
//! two separators apart; only where these heads tie are the strings themselves compared. Where all that is
//! left is of one length of at most eight bytes, as it is of integers, the heads are the strings, and nothing
//! else is kept.

use types::{common_prefix, head};

use crate::prefetch::prefetch;
use crate::separators::Separators;

/// All separators of a table but the first, without their common prefix and beside their heads.
///
/// The first separator never decides: a key below it belongs to block 0 as well. So the number of the
/// others that are at or below a key *is* the block of the key.
pub(crate) struct Suffixes {
    prefix: Box<[u8]>,
    count: usize,
    rest: Rest,
}

/// What the heads do not say.
enum Rest {
    /// Nothing: all suffixes have this length, which is at most eight.
    OfLength(usize),
    /// The suffixes, heads included.
    Arena(Separators),
}

/// Where a key lies relative to all separators but the first.
pub(crate) enum Place<'k> {
    /// Below all of them.
    Below,
    /// Above all of them.
    Above,
    /// It shares their prefix; this is what follows in it.
    Within(&'k [u8]),
}

impl Suffixes {
    /// Cuts the common prefix; also the heads of what is left, in order.
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
        (Self { prefix: shared.into(), count: heads.len(), rest }, heads)
    }

    /// The number of separators, the first left out.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Where `key` lies.
    #[inline]
    pub(crate) fn place<'k>(&self, key: &'k [u8]) -> Place<'k> {
        match key.split_at_checked(self.prefix.len()) {
            Some((prefix, suffix)) if is_equal(prefix, &self.prefix) => Place::Within(suffix),
            _ if *key < *self.prefix => Place::Below,
            _ => Place::Above,
        }
    }

    /// The number of separators at or below a suffix, given that those before `rank` are below it and that
    /// the one at `rank` ties with it by its head.
    #[inline]
    pub(crate) fn settle(&self, rank: usize, suffix: &[u8]) -> usize {
        match &self.rest {
            // Behind an equal head a longer key is a larger one, and no two separators tie.
            Rest::OfLength(length) => rank + usize::from(suffix.len() >= *length),
            Rest::Arena(arena) => settle(arena, rank, suffix),
        }
    }

    /// Asks for the line that tells where separator `rank` stands.
    #[inline]
    pub(crate) fn prefetch_place(&self, rank: usize) {
        if let Rest::Arena(arena) = &self.rest {
            prefetch(arena.ends(), rank);
        }
    }

    /// Asks for the first line of separator `rank`, which must exist.
    #[inline]
    pub(crate) fn prefetch_suffix(&self, rank: usize) {
        if let Rest::Arena(arena) = &self.rest {
            prefetch(arena.get(rank), 0);
        }
    }

    /// The bytes of memory they take.
    pub(crate) fn memory_bytes(&self) -> usize {
        let rest = match &self.rest {
            Rest::OfLength(_) => 0,
            Rest::Arena(arena) => arena.memory_bytes(),
        };
        self.prefix.len() + rest
    }
}

/// Takes steps that double, since ties are few in most tables.
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

/// Whether two slices of one length are equal, without a call: most prefixes are short.
#[inline]
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    debug_assert_eq!(a.len(), b.len());
    let ((words_a, rest_a), (words_b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let ((half_a, rest_a), (half_b, rest_b)) = (rest_a.as_chunks::<4>(), rest_b.as_chunks::<4>());
    words_a.iter().zip(words_b).all(|(a, b)| u64::from_ne_bytes(*a) == u64::from_ne_bytes(*b))
        && half_a.iter().zip(half_b).all(|(a, b)| u32::from_ne_bytes(*a) == u32::from_ne_bytes(*b))
        && rest_a.iter().zip(rest_b).all(|(a, b)| a == b)
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
        assert_eq!(suffixes.len(), 3);
        assert!(matches!(suffixes.place(b""), Place::Below));
        assert!(matches!(suffixes.place(b"use"), Place::Below));
        assert!(matches!(suffixes.place(b"usez"), Place::Above));
        assert!(matches!(suffixes.place(b"user"), Place::Within(b"")));
        assert!(matches!(suffixes.place(b"user17"), Place::Within(b"17")));
    }

    #[test]
    fn ties_are_settled_from_every_rank() {
        let names: Vec<String> = (0..100).map(|i| format!("same-head{i:03}")).collect();
        let mut separators: Vec<&[u8]> = vec![b"", b"other"];
        separators.extend(names.iter().map(String::as_bytes));
        let suffixes = suffixes(&separators);
        for (above, name) in names.iter().enumerate() {
            for rank in 1..=above + 1 {
                assert_eq!(suffixes.settle(rank, name.as_bytes()), above + 2);
            }
        }
        assert_eq!(suffixes.settle(101, b"~"), 101);
        assert_eq!(suffixes.settle(1, b"p"), 1);
    }

    /// Of equal length, the suffixes are their heads: a key is at or above the one it ties with unless it
    /// is a mere prefix of it.
    #[test]
    fn integers_are_their_heads() {
        let numbers: Vec<[u8; 8]> = [0u64, 0, 256, 512, u64::MAX].map(u64::to_be_bytes).to_vec();
        let separators: Vec<&[u8]> = numbers[1..].iter().map(<[u8; 8]>::as_slice).collect();
        let suffixes = suffixes(&separators);
        assert_eq!(suffixes.memory_bytes(), 0);
        assert_eq!(suffixes.settle(0, &256u64.to_be_bytes()), 1);
        assert_eq!(suffixes.settle(0, &256u64.to_be_bytes()[..7]), 0);
        assert_eq!(suffixes.settle(0, &[&256u64.to_be_bytes()[..], b"\0"].concat()), 1);
    }

    #[test]
    fn prefixes_are_compared_in_every_length() {
        let bytes: Vec<u8> = (0..30).collect();
        for len in 0..30 {
            assert!(is_equal(&bytes[..len], &bytes[..len]));
            for at in 0..len {
                let mut other = bytes[..len].to_vec();
                other[at] ^= 0x80;
                assert!(!is_equal(&bytes[..len], &other), "{at} of {len}");
            }
        }
    }

    #[test]
    fn one_separator_leaves_none() {
        let suffixes = suffixes(&[b"alone"]);
        assert_eq!(suffixes.len(), 0);
        assert!(matches!(suffixes.place(b"any"), Place::Within(b"any")));
    }
}
