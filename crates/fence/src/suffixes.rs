//! Separators as a fast search wants them: without what they all share, led by 8-byte heads.
//!
//! What costs time in a search over byte strings is not the number of steps but touching the strings. Once
//! their common prefix is cut, the next eight bytes, compared as one big-endian number, nearly always tell
//! two separators apart; only where these heads tie are the strings themselves compared.

use types::{common_prefix, head};

use crate::separators::Separators;

/// All separators of a table but the first, without their common prefix.
///
/// The first separator never decides: a key below it belongs to block 0 as well. So the number of the
/// others that are at or below a key *is* the block of the key.
pub(crate) struct Suffixes {
    prefix: Box<[u8]>,
    rest: Separators,
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
    /// Cuts the common prefix.
    pub(crate) fn new(separators: &Separators) -> Self {
        let others = || separators.iter().skip(1);
        let shared = match (others().next(), others().last()) {
            (Some(first), Some(last)) => &first[..common_prefix(first, last)],
            _ => &[],
        };
        Self { prefix: shared.into(), rest: others().map(|separator| &separator[shared.len()..]).collect() }
    }

    /// The number of separators, the first left out.
    pub(crate) fn len(&self) -> usize {
        self.rest.len()
    }

    /// The head of separator number `rank`, the first left out.
    pub(crate) fn head(&self, rank: usize) -> u64 {
        head(self.rest.get(rank))
    }

    /// Where `key` lies.
    #[inline]
    pub(crate) fn place<'k>(&self, key: &'k [u8]) -> Place<'k> {
        if self.prefix.is_empty() {
            return Place::Within(key);
        }
        match key.split_at_checked(self.prefix.len()) {
            Some((prefix, suffix)) if *prefix == *self.prefix => Place::Within(suffix),
            _ if *key < *self.prefix => Place::Below,
            _ => Place::Above,
        }
    }

    /// The number of separators at or below a suffix, given that those before `rank` are below it and that
    /// the one at `rank`, if there is one, ties with it by its head. Takes steps that double, since ties
    /// are few in most tables.
    pub(crate) fn settle(&self, rank: usize, suffix: &[u8]) -> usize {
        let at_or_below = |rank: usize| rank < self.len() && self.rest.get(rank) <= suffix;
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

    /// The bytes of memory they take.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.prefix.len() + self.rest.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suffixes(separators: &[&[u8]]) -> Suffixes {
        Suffixes::new(&separators.iter().copied().collect())
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
        let mut separators: Vec<&[u8]> = vec![b""];
        separators.extend(names.iter().map(String::as_bytes));
        let suffixes = suffixes(&separators);
        for (above, name) in names.iter().enumerate() {
            let Place::Within(suffix) = suffixes.place(name.as_bytes()) else {
                panic!("{name} is not within")
            };
            for rank in 0..=above {
                assert_eq!(suffixes.settle(rank, suffix), above + 1);
            }
        }
        assert_eq!(suffixes.settle(100, b"~"), 100);
        assert_eq!(suffixes.settle(0, b""), 0);
    }

    #[test]
    fn one_separator_leaves_none() {
        let suffixes = suffixes(&[b"alone"]);
        assert_eq!(suffixes.len(), 0);
        assert!(matches!(suffixes.place(b"any"), Place::Within(b"any")));
    }
}
