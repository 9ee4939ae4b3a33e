//! The finalizer of `SplitMix64`, a mixing function for 64-bit numbers.

/// Mixes the bits of a number, so that every input bit affects all output bits. Different inputs give different results
/// (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, figure 16).
#[inline]
#[must_use]
pub fn avalanche(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the first `SplitMix64` numbers for the seed 1234567 with those of the reference implementation.
    #[test]
    fn a_stepped_state_gives_the_numbers_of_the_generator() {
        let state = |step: u64| 1_234_567_u64.wrapping_add(step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let numbers: Vec<u64> = (1..=3).map(|step| avalanche(state(step))).collect();
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn each_bit_of_the_input_turns_about_half_of_the_output() {
        for bit in 0..64 {
            let turned: u32 = (0..1000).map(|x| (avalanche(x) ^ avalanche(x ^ 1 << bit)).count_ones()).sum();
            assert!((31_000..33_000).contains(&turned), "bit {bit}: {turned} of 64 000");
        }
    }
}
