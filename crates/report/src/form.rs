//! The forms of a comparison, such as a ratio. A comparison has two sides: the measurement of the claim's subject, and
//! the measurement with which the subject is compared. A form defines how both measurements are combined into one
//! number.

use measure::{Criteria, Interval, Sample, compare};
use results::Better;

use crate::Compare;

/// A measured number in the form in which the claim states it, such as a ratio of two measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured {
    /// The median of the measured number over all trials.
    pub(crate) value: f64,
    /// The confidence interval of the median. `None` if there are too few trials.
    pub(crate) interval: Option<Interval>,
}

impl Measured {
    /// Creates a measured number without a confidence interval.
    pub(crate) fn plain(value: f64) -> Self {
        Self { value, interval: None }
    }
}

impl Compare {
    /// Combines two measurements into one number, for example into the ratio `m / r`. `m` is the measurement of the
    /// claim's subject, and `r` is the measurement of the other side of the comparison. Returns `None` for a rank or a
    /// crossing, which need more than two values.
    pub(crate) fn apply(self, better: Better, m: f64, r: f64) -> Option<f64> {
        let factor = if better == Better::Higher { m / r } else { r / m };
        match self {
            Self::Value | Self::Amplification => Some(m),
            Self::Ratio => Some(m / r),
            Self::Factor => Some(factor),
            Self::PercentLess => Some(100.0 * (1.0 - m / r)),
            Self::PercentMore => Some(100.0 * (factor - 1.0)),
            Self::PercentSlower => Some(100.0 * (m / r - 1.0)),
            Self::PercentOf => Some(100.0 * m / r),
            Self::Difference => Some(if better == Better::Higher { m - r } else { r - m }),
            Self::Rank | Self::Crossing => None,
        }
    }

    /// Returns the result of this comparison for two equal measurements, such as 1 for a ratio. Returns `None` if there
    /// is no such number.
    pub(crate) fn neutral(self) -> Option<f64> {
        match self {
            Self::Amplification | Self::Ratio | Self::Factor => Some(1.0),
            Self::PercentLess | Self::PercentMore | Self::PercentSlower | Self::Difference => Some(0.0),
            Self::PercentOf => Some(100.0),
            Self::Value | Self::Rank | Self::Crossing => None,
        }
    }

    /// Combines the values of two variants in each trial, for example into a ratio, and returns the median over all
    /// trials. A missing `other` counts as 1 in each trial. Returns `None` if the variants have no trial in common, or
    /// if the median is not finite.
    pub(crate) fn measured(self, better: Better, own: &Sample, other: Option<&Sample>) -> Option<Measured> {
        let ones = Sample::new("", own.blocks.iter().map(|(trial, _)| (*trial, 1.0)));
        let other = other.unwrap_or(&ones);
        let of =
            |trial: u64| other.blocks.iter().find(|(theirs, _)| *theirs == trial).map(|(_, value)| *value);
        let pairs =
            own.blocks.iter().filter_map(|(trial, m)| Some((*trial, self.apply(better, *m, of(*trial)?)?)));
        let value = Sample::new("", pairs).median().filter(|value| value.is_finite())?;
        // All forms except the difference are monotonic functions of the ratio, so their intervals come from the
        // interval of the ratio.
        let ends = |found: Interval| {
            let [one, other] = [found.low, found.high].map(|ratio| self.apply(better, ratio, 1.0));
            let (one, other) = (one?, other?);
            Some(Interval { low: one.min(other), high: one.max(other) })
        };
        let compared = compare(other, own, better, &Criteria::default());
        let interval = if self == Self::Difference { None } else { compared.interval.and_then(ends) };
        Some(Measured { value, interval })
    }
}

/// Returns the first `x` at which a curve reaches `value`. Points are connected by straight lines, in the logarithm of
/// `y` where possible. Returns `None` if the curve does not reach `value`.
pub(crate) fn crossing(points: &[(f64, f64)], value: f64) -> Option<f64> {
    if let Some((x, _)) = points.iter().find(|(_, y)| y.total_cmp(&value).is_eq()) {
        return Some(*x);
    }
    let [(x0, y0), (x1, y1)] = points.windows(2).find_map(|pair| match pair {
        [a, b] if (a.1 < value) != (b.1 < value) => Some([*a, *b]),
        _ => None,
    })?;
    let share = match y0 > 0.0 && y1 > 0.0 && value > 0.0 {
        true => (value / y0).ln() / (y1 / y0).ln(),
        false => (value - y0) / (y1 - y0),
    };
    Some(x0 + share * (x1 - x0))
}

/// Returns the smallest `x` from which on the curve `own` stays better than the curve `other` by at least the fraction
/// `by`. Compares the curves only at each `x` that both contain. Returns `None` if `own` does not lead by this fraction
/// at the largest `x` in both curves.
pub(crate) fn lead(own: &[(f64, f64)], other: &[(f64, f64)], better: Better, by: f64) -> Option<f64> {
    let both = own.iter().filter_map(|(x, m)| {
        let (_, r) = other.iter().find(|(theirs, _)| theirs.total_cmp(x).is_eq())?;
        Some((*x, Compare::Factor.apply(better, *m, *r)? >= 1.0 + by))
    });
    let both: Vec<(f64, bool)> = both.collect();
    let ahead = both.iter().rev().take_while(|(_, is_ahead)| *is_ahead).last();
    ahead.map(|(x, _)| *x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_says_how_two_numbers_compare() {
        for (form, better, expected) in [
            (Compare::Value, Better::Lower, 50.0),
            (Compare::Ratio, Better::Lower, 0.5),
            (Compare::Factor, Better::Lower, 2.0),
            (Compare::Factor, Better::Higher, 0.5),
            (Compare::PercentLess, Better::Lower, 50.0),
            (Compare::PercentMore, Better::Lower, 100.0),
            (Compare::PercentSlower, Better::Lower, -50.0),
            (Compare::PercentOf, Better::Lower, 50.0),
            (Compare::Difference, Better::Lower, 50.0),
            (Compare::Difference, Better::Higher, -50.0),
        ] {
            assert_eq!(form.apply(better, 50.0, 100.0), Some(expected), "{form:?}");
            if let Some(neutral) = form.neutral() {
                assert_eq!(form.apply(better, 100.0, 100.0), Some(neutral), "{form:?}");
            }
        }
    }

    #[test]
    fn trials_are_paired_and_carry_an_interval_where_there_are_enough() {
        let own = Sample::new("", (0..8).map(|trial| (trial, 10.0 * (trial + 1) as f64)));
        let other = Sample::new("", (0..8).map(|trial| (trial, 20.0 * (trial + 1) as f64)));
        let measured = Compare::PercentLess.measured(Better::Lower, &own, Some(&other)).unwrap();
        let interval = measured.interval.unwrap();
        assert!(
            [measured.value, interval.low, interval.high].iter().all(|value| (value - 50.0).abs() < 1e-9)
        );
        let few = Sample::new("", [(0, 10.0), (1, 12.0)]);
        assert_eq!(Compare::Value.measured(Better::Lower, &few, None).unwrap(), Measured::plain(11.0));
        let elsewhere = Sample::new("", [(7, 1.0)]);
        assert_eq!(Compare::Ratio.measured(Better::Lower, &few, Some(&elsewhere)), None);
        let zero = Sample::new("", [(0, 0.0), (1, 0.0)]);
        assert_eq!(Compare::Ratio.measured(Better::Lower, &few, Some(&zero)), None);
    }

    #[test]
    fn a_curve_is_crossed_between_neighbours() {
        let curve = [(4.0, 0.1), (8.0, 0.001)];
        assert!((crossing(&curve, 0.01).unwrap() - 6.0).abs() < 1e-12, "logarithms lie on a line");
        assert_eq!(crossing(&curve, 0.1), Some(4.0));
        assert_eq!(crossing(&curve, 0.5), None);
        assert_eq!(crossing(&[(0.0, -1.0), (2.0, 1.0)], 0.0), Some(1.0));
    }

    #[test]
    fn a_lead_holds_from_there_on() {
        let other = [(1.0, 10.0), (2.0, 10.0), (3.0, 10.0), (4.0, 10.0)];
        let own = [(1.0, 5.0), (2.0, 11.0), (3.0, 9.0), (4.0, 5.0)];
        assert_eq!(lead(&own, &other, Better::Lower, 0.05), Some(3.0));
        assert_eq!(lead(&own, &other, Better::Lower, 0.5), Some(4.0));
        assert_eq!(lead(&own, &other, Better::Higher, 0.05), None);
    }
}
