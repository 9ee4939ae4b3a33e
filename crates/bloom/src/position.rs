//! Functions that derive positions in a filter from the 64-bit hash of a key.

/// An odd number. A multiplication with this number mixes the low bits of a hash into its high bits. Source: the 64-bit
/// multiplier for multiplicative generators in Steele & Vigna, "Computationally easy, spectrally good multipliers for
/// congruential pseudorandom number generators" (2021).
const MULTIPLIER: u64 = 0xf135_7aea_2e62_a9c5;

/// Derives the next hash from a hash. Different hashes have different results. The high bits of the result are as
/// random as the bits of an independent hash.
#[inline]
pub(crate) fn remix(hash: u64) -> u64 {
    hash.wrapping_mul(MULTIPLIER)
}

/// Mixes a hash with a seed, so that every bit of the result depends on every bit of the hash. If the construction of
/// a filter fails, the filter tries the next seed. With one seed, different hashes have different results. The
/// mapping is the finalizer of Stafford's thirteenth variant ("Better bit mixing", 2011), as in `SplitMix64`.
#[inline]
pub(crate) fn mix(hash: u64, seed: u64) -> u64 {
    let mixed = hash.wrapping_add(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Maps a hash to `0..range` by its high bits, without a division (Lemire, "Fast random integer generation in an
/// interval", 2019). The result is well distributed for every range.
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
