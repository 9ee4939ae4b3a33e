//! The trait of distributions of value sizes and scan lengths. A length is an integer that is computed from 64 random
//! bits.

/// Distribution of the sizes of values in bytes, or of the lengths of scans in entries.
///
/// Invariants:
/// 1. A length depends only on the random bits. The check of an answer can therefore compute the size of a value again.
/// 2. A scan length is at least 1, and no length is above [`max`](Self::max).
pub trait LengthDistribution: Send + Sync {
    /// Returns the length that belongs to these 64 random bits.
    fn length(&self, bits: u64) -> u32;

    /// Returns the largest length that the distribution can give.
    fn max(&self) -> u32;

    /// Returns the mean of the lengths that the distribution gives. The default implementation computes the mean from
    /// evenly spaced quantiles.
    fn mean(&self) -> f64 {
        const QUANTILES: u64 = 1 << 16;
        let step = u64::MAX / QUANTILES;
        let sum: f64 = (0..QUANTILES).map(|i| f64::from(self.length(i * step + step / 2))).sum();
        sum / QUANTILES as f64
    }
}

/// Distribution in which all lengths are equal.
pub(crate) struct Fixed(pub(crate) u32);

impl LengthDistribution for Fixed {
    fn length(&self, _: u64) -> u32 {
        self.0
    }

    fn max(&self) -> u32 {
        self.0
    }
}

/// Uniform distribution from a smallest to a largest length.
pub(crate) struct Uniform {
    min: u32,
    max: u32,
}

impl Uniform {
    /// Creates the uniform distribution of lengths from `min` to `max`, both included.
    pub(crate) fn new(min: u32, max: u32) -> Result<Self, String> {
        check_bounds(min, max)?;
        Ok(Self { min, max })
    }
}

impl LengthDistribution for Uniform {
    fn length(&self, bits: u64) -> u32 {
        let choices = u64::from(self.max - self.min) + 1;
        self.min + crate::random::scale(bits, choices) as u32
    }

    fn max(&self) -> u32 {
        self.max
    }
}

/// The generalized Pareto distribution of `mixgraph` in `db_bench`: ⌈θ + σ (u⁻ᵏ − 1) / k⌉. A result above the largest
/// length is replaced by its remainder modulo the largest length. A result below the smallest length is replaced by
/// the smallest length (Cao et al., FAST '20). For k = 0, the distribution is the exponential distribution θ − σ ln u.
pub(crate) struct Pareto {
    law: ParetoLaw,
    min: u32,
    max: u32,
    /// A table with the length for each value of the upper bits of a random number. The entry is [`MIXED`](Self::MIXED)
    /// if the length also depends on the lower bits.
    by_upper_bits: Vec<u32>,
}

/// The parameters location, scale and shape of a generalized Pareto distribution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParetoLaw {
    /// The parameter θ (location) of the generalized Pareto distribution.
    pub(crate) theta: f64,
    /// The parameter σ (scale) of the generalized Pareto distribution.
    pub(crate) sigma: f64,
    /// The parameter k (shape) of the generalized Pareto distribution. With a larger k, large lengths are more
    /// frequent.
    pub(crate) k: f64,
}

impl Pareto {
    /// Number of upper bits of a random number that select an entry of the table of lengths. In most cases, these bits
    /// determine the length.
    const UPPER_BITS: u32 = 10;

    /// An entry of the table of lengths that is not a length, because the length also depends on the lower bits.
    const MIXED: u32 = u32::MAX;

    /// Creates the generalized Pareto distribution `law`, with lengths from `min` to `max`.
    pub(crate) fn new(law: ParetoLaw, min: u32, max: u32) -> Result<Self, String> {
        check_bounds(min, max)?;
        if !law.theta.is_finite() || law.theta < 0.0 {
            return Err(format!("theta is {}; the location must be 0 or more", law.theta));
        }
        if !law.sigma.is_finite() || law.sigma <= 0.0 {
            return Err(format!("sigma is {}; the scale must be above 0", law.sigma));
        }
        if !law.k.is_finite() || law.k < 0.0 {
            return Err(format!("k is {}; the shape must be 0 or more", law.k));
        }
        let mut pareto = Self { law, min, max, by_upper_bits: Vec::new() };
        pareto.by_upper_bits = (0..1u64 << Self::UPPER_BITS)
            .map(|upper| {
                let first = upper << (64 - Self::UPPER_BITS);
                // A larger number gives a shorter length. If both ends of a range give one length, all numbers in
                // between give that length.
                let longest = pareto.uncut(first);
                let shortest = pareto.uncut(first | u64::MAX >> Self::UPPER_BITS);
                if longest == shortest { pareto.cut(longest) } else { Self::MIXED }
            })
            .collect();
        Ok(pareto)
    }

    /// Returns the length that the formula of the Pareto distribution gives, before it is limited to the valid lengths.
    fn uncut(&self, bits: u64) -> u64 {
        // u is never 0, so that the power is finite for every practical shape.
        let u = crate::random::unit(bits) + 0.5 / (1u64 << 53) as f64;
        let ParetoLaw { theta, sigma, k } = self.law;
        let tail = if k == 0.0 { -u.ln() } else { (u.powf(-k) - 1.0) / k };
        // The conversion saturates. Lengths beyond 2⁶⁴ exceed every maximum anyway.
        (theta + sigma * tail).ceil() as u64
    }

    fn cut(&self, length: u64) -> u32 {
        let max = u64::from(self.max);
        let wrapped = if length > max { length % max } else { length };
        (wrapped as u32).max(self.min)
    }
}

impl LengthDistribution for Pareto {
    fn length(&self, bits: u64) -> u32 {
        match self.by_upper_bits[(bits >> (64 - Self::UPPER_BITS)) as usize] {
            Self::MIXED => self.cut(self.uncut(bits)),
            length => length,
        }
    }

    fn max(&self) -> u32 {
        self.max
    }
}

/// The Zipfian distribution over the lengths from a smallest to a largest length. The smallest length is the most
/// frequent length.
pub(crate) struct Zipfian {
    min: u32,
    /// The cumulative probabilities of the lengths. Element i is the sum of the probabilities of the first i + 1
    /// lengths.
    cumulative: Vec<f64>,
}

impl Zipfian {
    /// Maximum number of different lengths, because the table of cumulative probabilities contains one entry for each
    /// length.
    const MOST_LENGTHS: u32 = 1 << 20;

    /// Creates the Zipfian distribution with exponent `theta` over the lengths from `min` to `max`, both included.
    pub(crate) fn new(min: u32, max: u32, theta: f64) -> Result<Self, String> {
        check_bounds(min, max)?;
        crate::keys::check_theta(theta)?;
        if max - min >= Self::MOST_LENGTHS {
            return Err(format!(
                "max is {max} and min is {min}; a zipfian distribution has at most {} different lengths",
                Self::MOST_LENGTHS
            ));
        }
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = (1..=u64::from(max - min) + 1)
            .map(|rank| {
                sum += (rank as f64).powf(-theta);
                sum
            })
            .collect();
        for share in &mut cumulative {
            *share /= sum;
        }
        Ok(Self { min, cumulative })
    }
}

impl LengthDistribution for Zipfian {
    fn length(&self, bits: u64) -> u32 {
        let u = crate::random::unit(bits);
        let rank = self.cumulative.partition_point(|share| *share <= u).min(self.cumulative.len() - 1);
        self.min + rank as u32
    }

    fn max(&self) -> u32 {
        self.min + self.cumulative.len() as u32 - 1
    }
}

fn check_bounds(min: u32, max: u32) -> Result<(), String> {
    if max == 0 {
        return Err("max is 0; it must be at least 1".to_owned());
    }
    if min > max {
        return Err(format!("min is {min} and max is {max}; min must not be above max"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn shares(lengths: &dyn LengthDistribution, draws: u32) -> Vec<f64> {
        let mut random = Random::new(1);
        let mut counts = vec![0.0; lengths.max() as usize + 1];
        for _ in 0..draws {
            counts[lengths.length(random.bits()) as usize] += 1.0 / f64::from(draws);
        }
        counts
    }

    #[test]
    fn uniform_lengths_are_even_and_touch_both_ends() {
        let lengths = Uniform::new(10, 19).unwrap();
        assert_eq!((lengths.length(0), lengths.length(u64::MAX)), (10, 19));
        assert!((lengths.mean() - 14.5).abs() < 0.01);
        let shares = shares(&lengths, 200_000);
        assert!(shares[10..].iter().all(|share| (share - 0.1).abs() < 0.005), "{shares:?}");
        assert_eq!(Uniform::new(0, u32::MAX).unwrap().length(u64::MAX), u32::MAX);
    }

    /// Tests the quantiles against the closed form, with the default parameters of `db_bench`.
    #[test]
    fn pareto_lengths_follow_the_closed_form() {
        let law = ParetoLaw { theta: 0.0, sigma: 25.45, k: 0.2615 };
        let lengths = Pareto::new(law, 10, 1024).unwrap();
        let mut drawn: Vec<u32> = {
            let mut random = Random::new(9);
            (0..200_000).map(|_| lengths.length(random.bits())).collect()
        };
        drawn.sort_unstable();
        for (quantile, expected) in [(0.5, 20), (0.9, 81), (0.99, 228), (0.999, 496)] {
            let got = drawn[(quantile * drawn.len() as f64) as usize];
            assert!(got.abs_diff(expected) <= 1 + expected / 12, "{quantile}: {got}, not {expected}");
        }
        let mean = drawn.iter().map(|n| f64::from(*n)).sum::<f64>() / drawn.len() as f64;
        assert!((mean / lengths.mean() - 1.0).abs() < 0.02, "{mean} {}", lengths.mean());
        assert!((lengths.mean() - 36.7).abs() < 0.7, "{}", lengths.mean());
        assert!((10..=1024).contains(&lengths.length(0)) && lengths.length(u64::MAX) == 10);
        let settled = lengths.by_upper_bits.iter().filter(|length| **length != Pareto::MIXED).count();
        assert!(settled > 800, "{settled}");
        let mut random = Random::new(10);
        for bits in (0..100_000).map(|_| random.bits()) {
            assert_eq!(lengths.length(bits), lengths.cut(lengths.uncut(bits)));
        }
    }

    #[test]
    fn zipfian_lengths_match_their_probabilities() {
        let lengths = Zipfian::new(1, 100, 0.99).unwrap();
        let total: f64 = (1..=100).map(|rank| f64::from(rank).powf(-0.99)).sum();
        let shares = shares(&lengths, 500_000);
        for rank in [1u32, 2, 3, 10, 100] {
            let expected = f64::from(rank).powf(-0.99) / total;
            let got = shares[rank as usize];
            assert!((got - expected).abs() < 5.0 * (expected / 500_000.0).sqrt(), "{rank}: {got} {expected}");
        }
        assert_eq!(lengths.length(u64::MAX), 100);
    }

    #[test]
    fn impossible_lengths_are_refused() {
        assert!(Uniform::new(2, 1).is_err() && Uniform::new(0, 0).is_err());
        let law = ParetoLaw { theta: 0.0, sigma: 1.0, k: 0.1 };
        for wrong in [
            ParetoLaw { sigma: 0.0, ..law },
            ParetoLaw { k: f64::NAN, ..law },
            ParetoLaw { k: -0.1, ..law },
            ParetoLaw { theta: -1.0, ..law },
        ] {
            assert!(Pareto::new(wrong, 1, 10).is_err(), "{wrong:?}");
        }
        assert!(Zipfian::new(1, 10, -1.0).is_err() && Zipfian::new(1, u32::MAX, 1.0).is_err());
    }
}
