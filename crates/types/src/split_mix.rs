//! `SplitMix64`: a small seeded pseudorandom generator, for checks that must be reproducible.

use crate::avalanche::avalanche;

/// A pseudorandom generator. Equal seeds give equal numbers on every machine (Steele, Lea, Flood, "Fast Splittable
/// Pseudorandom Number Generators", OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator with this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        avalanche(self.0)
    }

    /// Returns a random number below `bound`. The distribution is nearly uniform.
    ///
    /// # Panics
    /// `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "`bound` must be above 0");
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns `true` with the given probability, from 0 (never) to 1 (always).
    pub fn chance(&mut self, probability: f64) -> bool {
        const STEPS: f64 = (1u64 << 53) as f64;
        ((self.next_u64() >> 11) as f64) < probability * STEPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the numbers for the seed 1234567 with those of the reference implementation.
    #[test]
    fn numbers_are_those_of_the_reference() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(
            [(); 2].map(|()| random.next_u64()),
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
    }

    #[test]
    fn bounds_and_probabilities_hold() {
        let mut random = SplitMix64::new(1);
        let mut seen = [0; 3];
        (0..3000).for_each(|_| seen[random.below(3) as usize] += 1);
        assert!(seen.iter().all(|count| (900..1100).contains(count)), "{seen:?}");
        let often = (0..3000).filter(|_| random.chance(0.25)).count();
        assert!((650..850).contains(&often), "{often}");
        assert!((0..100).all(|_| random.chance(1.0) && !random.chance(0.0)));
    }
}
