//! Positions in a filter, derived from the one 64-bit hash of a key.

/// A multiplier whose powers spread well over the high bits: the 64-bit one for multiplicative generators
/// of Steele & Vigna, "Computationally easy, spectrally good multipliers for congruential pseudorandom
/// number generators" (2021).
const MULTIPLIER: u64 = 0xf135_7aea_2e62_a9c5;

/// The next derived hash. Its high bits are as good as a fresh hash; the map is a bijection.
#[inline]
pub(crate) fn remix(hash: u64) -> u64 {
    hash.wrapping_mul(MULTIPLIER)
}

/// Maps a hash to `0..range` by its high bits, without a division (Lemire, "Fast random integer
/// generation in an interval", 2019). Unlike a modulo it suits every range equally.
#[inline]
pub(crate) fn reduce(hash: u64, range: usize) -> usize {
    ((u128::from(hash) * range as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_stays_below_its_range() {
        for range in [1, 2, 3, 64, 1000, usize::MAX] {
            assert_eq!(reduce(0, range), 0);
            assert_eq!(reduce(u64::MAX, range), range - 1);
        }
    }
}
