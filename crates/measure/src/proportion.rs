//! A proportion: the fraction of tries in which an event happened, with a confidence interval.

use statrs::distribution::{Beta, ContinuousCDF};

use crate::Interval;

/// The fraction of tries in which an event happened, with its 95 % confidence interval. The interval of Clopper and
/// Pearson (*Biometrika* 26, 1934) contains the true fraction in at least 95 % of cases, even if the number of tries is
/// small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proportion {
    /// The number of tries in which the event happened.
    pub count: u64,
    /// The number of tries, at least 1.
    pub tries: u64,
}

/// The largest probability of an error at each end of the confidence interval: that the true fraction is below the
/// lower end, or that it is above the upper end.
const TAIL: f64 = 0.025;

impl Proportion {
    /// Returns the measured fraction of tries in which the event happened.
    pub fn share(self) -> f64 {
        self.count as f64 / self.tries as f64
    }

    /// Returns the 95 % confidence interval of the fraction.
    ///
    /// # Panics
    /// Panics if the count exceeds the number of tries.
    pub fn interval(self) -> Interval {
        let (count, others) = (self.count as f64, (self.tries - self.count) as f64);
        let quantile = |a: f64, b: f64, p: f64| {
            Beta::new(a, b).expect("both parameters of the beta distribution must be above 0").inverse_cdf(p)
        };
        let low = if self.count == 0 { 0.0 } else { quantile(count, others + 1.0, TAIL) };
        let high = if self.count == self.tries { 1.0 } else { quantile(count + 1.0, others, 1.0 - TAIL) };
        Interval { low, high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the interval with its definition by the tails of the binomial distribution. If the true fraction is an
    /// end of the interval, a result at least as extreme happens in one of forty series.
    #[test]
    fn the_ends_are_those_of_the_binomial_tails() {
        let at_most = |count: u64, tries: u64, share: f64| -> f64 {
            let mut term = (1.0 - share).powi(tries as i32);
            let mut sum = term;
            for k in 0..count {
                term *= (tries - k) as f64 / (k + 1) as f64 * share / (1.0 - share);
                sum += term;
            }
            sum
        };
        for (count, tries) in [(1, 10), (3, 200), (50, 60)] {
            let Interval { low, high } = Proportion { count, tries }.interval();
            assert!((at_most(count, tries, high) - TAIL).abs() < 1e-6, "{count} of {tries}: {high}");
            assert!((1.0 - at_most(count - 1, tries, low) - TAIL).abs() < 1e-6, "{count} of {tries}: {low}");
        }
    }

    #[test]
    fn never_and_always_have_one_open_end() {
        let never = Proportion { count: 0, tries: 200 }.interval();
        assert!(never.low.abs() < 1e-12 && (never.high - 0.0183).abs() < 1e-4, "{never:?}");
        let always = Proportion { count: 200, tries: 200 }.interval();
        assert!((always.high - 1.0).abs() < 1e-12 && (always.low - 0.9817).abs() < 1e-4, "{always:?}");
    }
}
