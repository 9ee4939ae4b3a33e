//! A bit vector with fast rank and select. Rank is the number of `1` bits before a position. Select is the position of
//! the n-th `1` bit.
//!
//! The bit vector stores the number of `1` bits before every 512th bit. Source: Jacobson, "Space-efficient static trees
//! and graphs" (1989).

use prefetch::large;

use crate::slots::select;

/// The number of 64-bit words in a group. A bit vector stores the number of `1` bits before each group of its words.
const WORDS: usize = 8;

/// A bit vector with stored counts of its `1` bits.
pub(crate) struct RankedBits {
    words: Vec<u64>,
    /// The number of `1` bits before each group of [`WORDS`] words.
    ranks: Vec<u32>,
    ones: usize,
}

impl RankedBits {
    /// Creates the bit vector from its 64-bit words, and counts the `1` bits. There must be fewer than 2^32 such bits.
    pub(crate) fn new(words: impl ExactSizeIterator<Item = u64>) -> Self {
        let words = large::collected(words);
        let mut ones = 0;
        let ranks = words.chunks(WORDS).map(|group| {
            let before = ones;
            ones += group.iter().map(|word| word.count_ones()).sum::<u32>();
            before
        });
        let ranks = ranks.collect();
        Self { words, ranks, ones: ones as usize }
    }

    /// Whether the bit at `index` is 1.
    pub(crate) fn get(&self, index: usize) -> bool {
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// Returns the number of `1` bits of the whole bit vector.
    pub(crate) fn ones(&self) -> usize {
        self.ones
    }

    /// Returns the number of `1` bits before the bit `index`, which must be less than the number of bits.
    pub(crate) fn rank(&self, index: usize) -> usize {
        let (word, group) = (index / 64, index / 64 / WORDS);
        let whole = self.words[group * WORDS..word].iter().map(|word| word.count_ones()).sum::<u32>();
        let rest = self.words[word] & !(u64::MAX << (index % 64));
        (self.ranks[group] + whole + rest.count_ones()) as usize
    }

    /// Returns the position of the `1` bit with the index `rank`, counted from 0. Returns `None` if the vector has too
    /// few `1` bits.
    pub(crate) fn select(&self, rank: usize) -> Option<usize> {
        if rank >= self.ones {
            return None;
        }
        let group = self.ranks.partition_point(|before| *before as usize <= rank) - 1;
        let mut left = rank as u32 - self.ranks[group];
        let mut at = group * WORDS;
        while self.words[at].count_ones() <= left {
            left -= self.words[at].count_ones();
            at += 1;
        }
        Some(at * 64 + select(self.words[at], left) as usize)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.words) + size_of_val(&*self.ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::mix;

    #[test]
    fn ones_are_counted_and_found() {
        let sets: [Vec<u64>; 4] = [
            vec![0; 20],
            vec![u64::MAX; 17],
            (0..40).map(|i| mix(i, 1) & mix(i, 2) & mix(i, 3)).collect(),
            (0..100).map(|i| if i % 13 == 0 { 1 << (i % 64) } else { 0 }).collect(),
        ];
        for words in sets {
            let bits = RankedBits::new(words.iter().copied());
            let ones: Vec<usize> =
                (0..words.len() * 64).filter(|i| words[i / 64] >> (i % 64) & 1 == 1).collect();
            assert_eq!(bits.ones(), ones.len());
            assert!((0..words.len() * 64).all(|i| bits.rank(i) == ones.partition_point(|one| *one < i)));
            assert!((0..ones.len()).all(|rank| bits.select(rank) == Some(ones[rank])));
            assert!(ones.iter().all(|one| bits.get(*one)));
            assert_eq!(bits.select(ones.len()), None);
        }
    }
}
