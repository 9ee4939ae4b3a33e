//! Random numbers. Each kind of random decision has a small and fast generator. The seeds of all generators are
//! derived from the seed of the run.
//!
//! For example, the kind, the key and the value size of an operation have separate generators. A change to one kind
//! of decision therefore leaves all other decisions unchanged. For example, a higher share of puts does not change
//! the sequence of keys.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use types::avalanche;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A kind of random decision. Each kind has its own stream of random numbers, so a change to one kind of decision does
/// not change the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Concern {
    /// The kind of the next operation.
    Operation,
    /// The key that an operation accesses.
    Key,
    /// The replacement of a drawn key that another thread owns.
    Redraw,
    /// The keys of the members of a write batch or a multi-get.
    Member,
    /// Whether the key of an operation is an absent key.
    Absent,
    /// Whether the key of a member of a multi-get is absent.
    MemberAbsent,
    /// The number of entries that a scan reads.
    RangeLength,
    /// The direction of a scan.
    RangeDirection,
    /// The choice of the popular keys. All phases and threads of a run share one stream for this decision.
    Popularity,
    /// The order in which keys are loaded.
    Order,
    /// The value length of a key and version. All phases and threads of a run share one stream for this decision.
    ValueSize,
    /// The value bytes of a key and version. All phases and threads of a run share one stream for this decision.
    ValueBytes,
    /// The kinds of the operations in a write batch.
    MemberKind,
}

/// Returns the seed for one kind of random decision, in one phase and one thread of a run. `seed` is the seed of the
/// run.
///
/// The result depends on the phase's name, not on its position. An added or removed phase therefore does not change
/// other phases.
pub fn sub_seed(seed: u64, concern: Concern, phase: &str, thread: u32) -> u64 {
    let phase = xxh3_64_with_seed(phase.as_bytes(), seed);
    avalanche(phase ^ avalanche(((concern as u64) << 32) | u64::from(thread)))
}

/// A stream of random numbers from the generator xoshiro256++.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Creates the stream of random numbers that belongs to the seed `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a random number below `bound`, which must be above 0. The distribution is uniform, with an error of at
    /// most `bound` / 2⁶⁴.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        scale(self.bits(), bound)
    }

    /// Returns a random number u with `0 <= u < 1`. The number is a multiple of 2⁻⁵³. The function computes the
    /// number from the upper bits, as in Java's `nextDouble`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Returns the generator of the random numbers, for distributions of other crates that sample with their own code.
    pub(crate) fn generator(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.0
    }
}

/// Converts 64 random bits to a number u with `0 <= u < 1`.
#[inline]
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Converts 64 random bits to a number below `bound`. The distribution is nearly uniform.
#[inline]
pub(crate) fn scale(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

/// Converts a probability to a threshold. A random 64-bit number is below the threshold with this probability.
pub(crate) fn threshold(probability: f64) -> u64 {
    (probability * 2f64.powi(64)) as u64
}

/// Mixes two numbers into one number, as a step of a hash function: the XOR of the two halves of their 128-bit product.
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
