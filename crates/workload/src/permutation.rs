//! A bijection of the numbers `0..len` that a seed determines. The bijection determines the order of a random load
//! and the positions of popular keys.

use types::avalanche;

/// Number of multiplications that mix a number. With only four multiplications, the results of neighboring numbers are
/// visibly related if the range of numbers is small.
const STEPS: usize = 5;

/// Number of values that [`Permutation::apply_all`] maps in one step.
const BLOCK: usize = 64;

/// Permutation of the numbers below a length. The permutation and its inverse are computed without a table.
///
/// Numbers below the next power of two are mixed by xor-shifts and odd multipliers. Each of these steps is a
/// bijection on the numbers below the power of two. A result that is not below the length is mixed again until the
/// result is below the length (cycle walking, Black and Rogaway 2002). The whole mapping therefore stays a bijection.
///
/// The mixing depends only on the power of two, so a permutation can [`grow`](Self::grow). Each added number changes
/// the result for only one other number.
#[derive(Clone, Debug)]
pub struct Permutation {
    len: u64,
    /// A bit mask that keeps numbers below a power of two. This power of two is the smallest that is at least the
    /// largest permitted length.
    mask: u64,
    /// The distance of the bit shifts that mix a number: half of the number of bits of the mask, rounded up. With this
    /// distance, each shift can be undone.
    shift: u32,
    key: u64,
    multipliers: [u64; STEPS],
}

impl Permutation {
    /// Creates the permutation of `0..len` that `seed` determines.
    ///
    /// # Panics
    /// Panics if `len` is 0 or above 2⁶³.
    pub fn new(len: u64, seed: u64) -> Self {
        Self::with_room(len, len, seed)
    }

    /// Creates the permutation of `0..len`, which can later grow to a length of `room`. With a larger `room`, mapping a
    /// number takes more steps.
    ///
    /// # Panics
    /// Panics if `len` is 0, if `room` is below `len`, or if `room` is above 2⁶³.
    pub fn with_room(len: u64, room: u64, seed: u64) -> Self {
        assert!(
            0 < len && len <= room && room <= 1 << 63,
            "a permutation needs 0 < len <= room <= 2^63, but len is {len} and room is {room}"
        );
        let bits = u64::BITS - (room - 1).leading_zeros();
        let mut state = avalanche(seed ^ u64::from(bits));
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            avalanche(state)
        };
        Self {
            len,
            mask: (1 << bits) - 1,
            shift: bits.div_ceil(2).max(1),
            key: next(),
            // Each multiplier is 5 modulo 8. Such a multiplier never leaves small numbers unchanged.
            multipliers: std::array::from_fn(|_| next() & !7 | 5),
        }
    }

    /// Grows the permutation to the numbers below `len`. `len` must not be above the `room` with which the permutation
    /// was created.
    ///
    /// # Panics
    /// Panics if `len` is below the current length, or above the room rounded up to the next power of two.
    pub fn grow(&mut self, len: u64) {
        assert!(self.len <= len && len - 1 <= self.mask, "a permutation must not grow beyond its room");
        self.len = len;
    }

    /// Returns the image of `number` under the permutation. `number` must be below the length.
    #[inline]
    pub fn apply(&self, number: u64) -> u64 {
        let mut image = self.mix(number);
        while image >= self.len {
            image = self.mix(image);
        }
        image
    }

    /// Returns the number that [`apply`](Self::apply) maps to `image`, which must be below the length.
    pub fn invert(&self, image: u64) -> u64 {
        let mut number = self.unmix(image);
        while number >= self.len {
            number = self.unmix(number);
        }
        number
    }

    /// Replaces every number by its image under [`apply`](Self::apply). The function is faster than single calls,
    /// because its loop contains no branch that the CPU mispredicts often.
    pub fn apply_all(&self, numbers: &mut [u64]) {
        for block in numbers.chunks_mut(BLOCK) {
            let mut waiting: [u8; BLOCK] = std::array::from_fn(|place| place as u8);
            let mut left = block.len();
            while left > 0 {
                let mut above = 0;
                for at in 0..left {
                    let place = waiting[at];
                    let image = self.mix(block[place as usize]);
                    block[place as usize] = image;
                    waiting[above] = place;
                    above += usize::from(image >= self.len);
                }
                left = above;
            }
        }
    }

    #[inline]
    fn mix(&self, number: u64) -> u64 {
        let mut x = (number ^ self.key) & self.mask;
        for multiplier in self.multipliers {
            x ^= x >> self.shift;
            x = x.wrapping_mul(multiplier) & self.mask;
        }
        x ^ (x >> self.shift)
    }

    fn unmix(&self, image: u64) -> u64 {
        let mut x = image ^ (image >> self.shift);
        for multiplier in self.multipliers.iter().rev() {
            x = x.wrapping_mul(inverse(*multiplier)) & self.mask;
            x ^= x >> self.shift;
        }
        (x ^ self.key) & self.mask
    }
}

/// Returns the number whose product with `odd` is 1 modulo 2⁶⁴. Newton's iteration doubles the number of correct bits
/// in each step.
fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_gives_a_bijection_with_its_inverse() {
        let lengths =
            (1..=70).chain([97, 127, 128, 129, 255, 256, 257, 1000, 1021, 4096, 65_535, 65_537, 99_991]);
        for len in lengths {
            for seed in 0..3 {
                let permutation = Permutation::new(len, seed);
                let mut seen = vec![false; len as usize];
                for number in 0..len {
                    let image = permutation.apply(number);
                    assert!(!std::mem::replace(&mut seen[image as usize], true), "{len}: {image} twice");
                    assert_eq!(permutation.invert(image), number);
                }
                let mut all: Vec<u64> = (0..len).collect();
                permutation.apply_all(&mut all);
                assert!(
                    all.iter().enumerate().all(|(number, image)| *image == permutation.apply(number as u64))
                );
            }
        }
    }

    /// Tests that an added number takes the image of one other number. This other number then gets a new image.
    #[test]
    fn growing_moves_one_number_at_a_time() {
        let mut permutation = Permutation::with_room(300, 1000, 4);
        let mut before: Vec<u64> = (0..300).map(|number| permutation.apply(number)).collect();
        for len in 301..=1000 {
            permutation.grow(len);
            let after: Vec<u64> = (0..len).map(|number| permutation.apply(number)).collect();
            let moved = before.iter().zip(&after).filter(|(old, new)| old != new).count();
            assert!(moved <= 1, "{moved} of {len} numbers moved");
            before = after;
        }
    }

    #[test]
    fn huge_lengths_invert() {
        for len in [u64::from(u32::MAX), 1 << 40, (1 << 40) + 1, (1 << 63) - 25, 1 << 63] {
            let permutation = Permutation::new(len, 3);
            for number in (0..1000).map(|i| i * (len / 1000)) {
                let image = permutation.apply(number);
                assert!(image < len);
                assert_eq!(permutation.invert(image), number);
            }
        }
    }

    /// Tests that the permutation looks random. For a random permutation, the distributions of ascents and of steps
    /// between neighbors are known.
    #[test]
    fn it_looks_random() {
        for len in [1u64 << 12, 5000, 1 << 16, 100_000, 65_537, 131_071] {
            for seed in 0..4 {
                let permutation = Permutation::new(len, seed);
                let images: Vec<u64> = (0..len).map(|number| permutation.apply(number)).collect();
                let ascents = images.windows(2).filter(|pair| pair[0] < pair[1]).count() as f64;
                // The number of ascents has an Eulerian distribution with mean (n-1)/2 and variance (n+1)/12.
                let z = (ascents - (len - 1) as f64 / 2.0) / ((len + 1) as f64 / 12.0).sqrt();
                assert!(z.abs() < 5.0, "{len}: {z}");
                for lag in [1, 2, 7, 64, 1024] {
                    let z = step_z(&images, len, lag);
                    assert!(z < 5.5, "length {len}, seed {seed}, lag {lag}: {z}");
                }
            }
        }
    }

    /// Returns the χ² of the differences between the images of numbers that differ by `lag`, in standard deviations.
    fn step_z(images: &[u64], len: u64, lag: usize) -> f64 {
        let mut steps = [0.0; 64];
        for (from, to) in images.iter().zip(&images[lag..]) {
            steps[((to + len - from) % len * 64 / len) as usize] += 1.0;
        }
        let expected = (images.len() - lag) as f64 / 64.0;
        let chi2: f64 = steps.iter().map(|count: &f64| (count - expected).powi(2) / expected).sum();
        (chi2 - 63.0) / 126f64.sqrt()
    }

    #[test]
    fn seeds_give_different_permutations() {
        let (a, b) = (Permutation::new(1000, 1), Permutation::new(1000, 2));
        assert!((0..1000).filter(|i| a.apply(*i) == b.apply(*i)).count() < 10);
    }
}
