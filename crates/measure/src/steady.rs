//! The test for a steady state. A store is steady if its values change little over the last rounds.
//!
//! The rule comes from the Solid State Storage Performance Test Specification of SNIA (version 2.0.1, "steady
//! state"). In a window of rounds, the largest and the smallest value must differ by at most 20 % of the mean. The
//! best-fitting line (least squares) must rise or fall by at most 10 % of the mean, from the first to the last round
//! of the window.

/// The default number of rounds in the window over which a series of values must be steady.
const ROUNDS: usize = 5;

/// The maximum difference between the largest and the smallest value in a window, as a fraction of their mean.
const MOST_RANGE: f64 = 0.2;

/// The maximum rise or fall of the best-fitting line over the window of rounds, as a fraction of the mean.
const MOST_SLOPE: f64 = 0.1;

/// The rule that decides whether a series of values is steady, which means that its last values are similar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyRule {
    /// The number of rounds in the window at the end of the series, at least 2.
    pub rounds: usize,
    /// The difference up to which two values count as equal: 1 for small counts, and 0 for continuous values.
    pub grain: f64,
}

impl Default for SteadyRule {
    fn default() -> Self {
        Self { rounds: ROUNDS, grain: 0.0 }
    }
}

impl SteadyRule {
    /// Returns whether the values are steady in their last rounds. Returns `None` if there are too few rounds, or if a
    /// value is not a number.
    pub fn holds(&self, values: &[f64]) -> Option<bool> {
        let window = &values[values.len().checked_sub(self.rounds)?..];
        if window.len() < 2 || window.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let (low, high) = (
            window.iter().copied().fold(f64::INFINITY, f64::min),
            window.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        let mean = window.iter().sum::<f64>() / window.len() as f64;
        let is_narrow = high - low <= (MOST_RANGE * mean.abs()).max(self.grain);
        let is_level = rise(window).abs() <= (MOST_SLOPE * mean.abs()).max(self.grain);
        Some(is_narrow && is_level)
    }
}

/// Returns how much a series rises: the rise of its best-fitting line (least squares) from the first to the last value.
/// The values have equal distances in time.
fn rise(values: &[f64]) -> f64 {
    let last = (values.len() - 1) as f64;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let from_middle = |at: usize| at as f64 - last / 2.0;
    let covariance: f64 = values.iter().enumerate().map(|(at, value)| from_middle(at) * (value - mean)).sum();
    let variance: f64 = (0..values.len()).map(|at| from_middle(at).powi(2)).sum();
    covariance / variance * last
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_steady(values: &[f64]) -> Option<bool> {
        SteadyRule::default().holds(values)
    }

    #[test]
    fn what_is_flat_is_steady_and_what_drifts_oscillates_or_leaps_is_not() {
        for (what, values, expected) in [
            ("flat", &[100.0; 5][..], true),
            ("flat with noise", &[100.0, 104.0, 97.0, 102.0, 99.0], true),
            // 12 % from first to last: within the range, but with a slope.
            ("drifting", &[100.0, 103.0, 106.0, 109.0, 112.0], false),
            ("drifting downwards", &[112.0, 109.0, 106.0, 103.0, 100.0], false),
            ("drifting a little", &[100.0, 101.0, 102.0, 103.0, 104.0], true),
            // No slope, but a range.
            ("oscillating", &[100.0, 130.0, 70.0, 130.0, 100.0], false),
            ("one spike", &[100.0, 100.0, 140.0, 100.0, 100.0], false),
            ("one drop", &[100.0, 100.0, 60.0, 100.0, 100.0], false),
            ("a spike that is over", &[300.0, 100.0, 101.0, 99.0, 100.0, 100.0], true),
            ("nothing happens", &[0.0; 5], true),
            ("something begins", &[0.0, 0.0, 0.0, 0.0, 1.0], false),
        ] {
            assert_eq!(is_steady(values), Some(expected), "{what}");
        }
    }

    #[test]
    fn too_few_rounds_tell_nothing() {
        assert_eq!(is_steady(&[100.0; 4]), None);
        assert_eq!(is_steady(&[]), None);
        assert_eq!(is_steady(&[100.0, 100.0, f64::NAN, 100.0, 100.0]), None);
        assert_eq!(SteadyRule { rounds: 1, grain: 0.0 }.holds(&[1.0]), None);
        assert_eq!(SteadyRule { rounds: 3, grain: 0.0 }.holds(&[1.0, 9.0, 9.0, 9.0]), Some(true));
    }

    #[test]
    fn small_counts_may_differ_by_one() {
        let counts = SteadyRule { grain: 1.0, ..SteadyRule::default() };
        assert_eq!(counts.holds(&[1.0, 2.0, 1.0, 2.0, 1.0]), Some(true));
        assert_eq!(counts.holds(&[1.0, 3.0, 1.0, 3.0, 1.0]), Some(false));
        assert_eq!(counts.holds(&[0.0, 1.0, 1.0, 0.0, 0.0]), Some(true));
        assert_eq!(is_steady(&[1.0, 2.0, 1.0, 2.0, 1.0]), Some(false));
    }

    /// Rule: a value exactly at a limit is steady, and a value above the limit is not steady.
    #[test]
    fn the_limits_are_those_of_the_rule() {
        assert_eq!(is_steady(&[100.0, 90.0, 110.0, 90.0, 110.0]).map(|_| ()), Some(()));
        let symmetric = |half: f64| [100.0, 100.0 + half, 100.0, 100.0 - half, 100.0];
        // The line falls by 2 / 10 of the difference between the two, times 4 steps: 0.4 of 2 × half.
        assert_eq!(is_steady(&[100.0, 110.0, 80.0 + 10.0, 100.0, 100.0]), Some(true));
        assert_eq!(is_steady(&[100.0, 110.1, 89.9, 100.0, 100.0]), Some(false));
        assert_eq!(is_steady(&symmetric(10.0)), Some(true));
        assert!((rise(&[1.0, 2.0, 3.0, 4.0, 5.0]) - 4.0).abs() < 1e-12);
        assert_eq!(is_steady(&[95.0, 97.5, 100.0, 102.5, 105.0]), Some(true));
        assert_eq!(is_steady(&[94.9, 97.5, 100.0, 102.5, 105.1]), Some(false));
    }

    proptest! {
        /// Rule: the result depends neither on the unit of the values nor on the direction of time.
        #[test]
        fn units_and_direction_do_not_matter(
            values in proptest::collection::vec(1.0f64..1e3, 5..9), scale in 1e-3f64..1e6
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
            let window: Vec<f64> = values[values.len() - ROUNDS..].iter().rev().copied().collect();
            // Where a value lies at a limit rounding decides.
            let rule = SteadyRule::default();
            prop_assume!(rule.holds(&values) == SteadyRule { grain: 1e-9, ..rule }.holds(&values));
            prop_assert_eq!(is_steady(&values), is_steady(&scaled));
            prop_assert_eq!(is_steady(&values), is_steady(&window));
        }
    }
}
