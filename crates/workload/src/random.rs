//! Random numbers: one small fast generator per concern, all derived from the one seed of a run.
//!
//! Every question that a stream of operations asks (which kind, which key, which size …) has a generator
//! of its own, so that a change to one answer leaves all others as they were: with more puts in the mix,
//! the same keys are still visited in the same order.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use types::avalanche;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A question that has random numbers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Concern {
    /// Which kind of operation comes next.
    Operation,
    /// Which key it is about.
    Key,
    /// Which key instead, where the first one belongs to another thread.
    Redraw,
    /// Which keys the members of a batch or a multi-get are about.
    Member,
    /// Whether the key shall be absent.
    Absent,
    /// Whether the key of a member shall be absent.
    MemberAbsent,
    /// How many entries a range reads.
    RangeLength,
    /// In which direction it reads them.
    RangeDirection,
    /// Which keys are popular. The same in every phase and thread of a run.
    Popularity,
    /// In which order keys are loaded.
    Order,
    /// How long the value of a key and version is. The same in every phase and thread of a run.
    ValueSize,
    /// Which bytes it has. The same in every phase and thread of a run.
    ValueBytes,
}

/// The seed of one concern in one phase and thread of a run with seed `seed`.
///
/// The phase counts by its name, so that a phase that is added or removed changes no other.
pub fn sub_seed(seed: u64, concern: Concern, phase: &str, thread: u32) -> u64 {
    let phase = xxh3_64_with_seed(phase.as_bytes(), seed);
    avalanche(phase ^ avalanche(((concern as u64) << 32) | u64::from(thread)))
}

/// A stream of random numbers (xoshiro256++).
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream that begins at `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, which is above 0. Uniform up to a bias of `bound` / 2⁶⁴.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        scale(self.bits(), bound)
    }

    /// A number of `0 <= u < 1`: a multiple of 2⁻⁵³, made from the upper bits as Java's `nextDouble` does.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// The generator itself, for distributions that come with their own sampling.
    pub(crate) fn generator(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.0
    }
}

/// Random bits as a number of `0 <= u < 1`.
#[inline]
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Random bits as a number below `bound`.
#[inline]
pub(crate) fn scale(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

/// The number of 64-bit patterns out of all that a probability stands for, for `bits < threshold`.
pub(crate) fn threshold(probability: f64) -> u64 {
    (probability * 2f64.powi(64)) as u64
}

/// Two numbers folded into one through their 128-bit product.
#[inline]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_concern_phase_and_thread_has_a_seed_of_its_own() {
        let concerns = [Concern::Operation, Concern::Key, Concern::Absent, Concern::ValueBytes];
        let mut seeds = HashSet::new();
        for seed in 0..10 {
            for concern in concerns {
                for phase in ["load", "mixed", ""] {
                    for thread in 0..8 {
                        assert!(seeds.insert(sub_seed(seed, concern, phase, thread)));
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_stay_in_their_range_and_repeat_with_the_seed() {
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        for _ in 0..10_000 {
            let (x, u) = (a.below(3), a.unit());
            assert!(x < 3 && (0.0..1.0).contains(&u));
            assert_eq!((x, u.to_bits()), (b.below(3), b.unit().to_bits()));
        }
        assert_eq!(scale(u64::MAX, 10), 9);
        assert_eq!(threshold(0.5), 1 << 63);
        assert_eq!(threshold(1.0), u64::MAX);
    }
}
