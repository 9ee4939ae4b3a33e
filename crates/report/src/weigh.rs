//! Compares a claimed number with its measurement. If the measurement is in a range around the claimed number, the
//! claim is reproduced. Otherwise, the finding depends on the direction and the size of the measured difference.

use crate::form::Measured;
use crate::{Compare, Finding, Statement};

/// A claim states equality if its two sides differ by less than this fraction.
const EVEN: f64 = 0.05;

/// Largest tolerance for a claim that states equality, even if its `[[claim]]` table allows more.
const EVEN_TOLERANCE: f64 = 0.1;

/// The fraction of the claimed difference that a measurement must reach to reproduce the claim, even if the tolerance
/// is larger.
const SHARE_REPRODUCED: f64 = 0.5;

/// The fraction of the claimed difference that a measurement must reach to confirm the direction of the claim.
const SHARE_DIRECTION: f64 = 0.1;

/// A claimed number to compare with a measurement, with the tolerance of its `[[claim]]` table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighed {
    pub(crate) compare: Compare,
    pub(crate) standing: Statement,
    pub(crate) claimed: f64,
    /// The other end, if the claimed number is one end of a range.
    pub(crate) other_end: Option<f64>,
    pub(crate) tolerance: f64,
}

impl Weighed {
    /// Compares the claimed number with a measurement. Returns the finding and the reason.
    pub(crate) fn against(&self, measured: Measured) -> (Finding, String) {
        let percent = 100.0 * self.tolerance();
        let claims_difference = self.neutral().is_some_and(|neutral| self.difference(neutral) != 0.0);
        let holds_none = self.neutral().is_some_and(|neutral| {
            measured.interval.is_some_and(|found| found.low <= neutral && neutral <= found.high)
        });
        if let Some(neutral) = self.neutral().filter(|_| claims_difference && holds_none) {
            let reason = format!("the confidence interval includes {neutral}, which means no difference");
            return (Finding::NotReproduced, reason);
        }
        if self.is_in_band(measured.value) {
            return (Finding::Reproduced, self.agreement(percent));
        }
        if self.meets(measured) {
            return (
                Finding::Reproduced,
                format!("the confidence interval reaches the accepted range: {}", self.agreement(percent)),
            );
        }
        if self.compare == Compare::Rank {
            return (Finding::NotReproduced, "another rank".to_owned());
        }
        let off = match (self.standing, self.ends()) {
            (Statement::From | Statement::To, (low, high)) => {
                format!("the value is more than {percent} % outside of the range {low} to {high}")
            }
            (Statement::UpTo, _) => {
                format!("the largest value differs from the claim by more than {percent} %")
            }
            _ if self.claimed == 0.0 => format!("the value differs from 0 by more than {}", self.tolerance()),
            _ => format!("the value differs from the claim by more than {percent} %"),
        };
        let Some(neutral) = self.neutral() else { return (Finding::NotReproduced, off) };
        if !claims_difference {
            let reason = match self.claims_alike() {
                true => "a difference, but the claim states none".to_owned(),
                false => off,
            };
            return (Finding::NotReproduced, reason);
        }
        match self.share(neutral, measured.value) {
            share if share < 0.0 => (Finding::NotReproduced, "the opposite direction".to_owned()),
            share if share < SHARE_DIRECTION => (
                Finding::NotReproduced,
                "almost no difference: less than a tenth of the claimed difference".to_owned(),
            ),
            share if share < SHARE_REPRODUCED && self.is_within(measured.value) => (
                Finding::DirectionOnly,
                "the claimed direction, but less than half of the claimed difference".to_owned(),
            ),
            _ => (Finding::DirectionOnly, format!("the claimed direction, but {off}")),
        }
    }

    /// Returns whether the confidence interval of the measurement overlaps the range that reproduces the claim. Returns
    /// false if the interval is wider than this range, or if the range has only one end.
    fn meets(&self, measured: Measured) -> bool {
        let (low, high) = self.band();
        measured.interval.is_some_and(|found| {
            let width = high - low;
            found.low <= high && found.high >= low && width.is_finite() && found.high - found.low <= width
        })
    }

    fn is_in_band(&self, value: f64) -> bool {
        let (low, high) = self.band();
        (low..=high).contains(&value)
    }

    /// Returns the range of measurements that reproduce the claim: its lower and its upper end. An end may be infinite.
    pub(crate) fn band(&self) -> (f64, f64) {
        let (low, high) = self.tolerated();
        let Some(neutral) = self.neutral() else { return (low, high) };
        let (least, most) = self.ends();
        // The measurement must reach at least half of the claimed difference. If the form is a factor, the half is
        // computed with logarithms.
        let half = |claimed: f64| match self.compare == Compare::Amplification || neutral == 0.0 {
            true => neutral + (claimed - neutral) * SHARE_REPRODUCED,
            false => neutral * (claimed / neutral).powf(SHARE_REPRODUCED),
        };
        match self.difference(neutral) {
            side if side > 0.0 => (low.max(half(least)), high),
            side if side < 0.0 => (low, high.min(half(most))),
            _ => (low, high),
        }
    }

    /// Returns the range of measurements that the tolerance alone allows: its lower and its upper end. An end may be
    /// infinite.
    fn tolerated(&self) -> (f64, f64) {
        let (least, most) = self.ends();
        let (below, above) = (least - self.slack(least), most + self.slack(most));
        match self.standing {
            Statement::AtLeast => (below, f64::INFINITY),
            Statement::AtMost => (f64::NEG_INFINITY, above),
            _ => (below, above),
        }
    }

    fn is_within(&self, value: f64) -> bool {
        let (low, high) = self.tolerated();
        (low..=high).contains(&value)
    }

    /// Returns both ends of the claimed range. If the claim is a single number, both ends are this number.
    fn ends(&self) -> (f64, f64) {
        let other = self.other_end.unwrap_or(self.claimed);
        (self.claimed.min(other), self.claimed.max(other))
    }

    /// Returns how far a measurement may be from a claimed number: the tolerance, plus the rounding error of the
    /// arithmetic.
    fn slack(&self, end: f64) -> f64 {
        slack(self.compare, self.tolerance(), end)
    }

    /// Returns the tolerance for this claim: the tolerance of its `[[claim]]` table, or at most [`EVEN_TOLERANCE`] if
    /// the claim states equality.
    fn tolerance(&self) -> f64 {
        if self.claims_alike() { self.tolerance.min(EVEN_TOLERANCE) } else { self.tolerance }
    }

    /// Returns whether the claim states that two sides are equal. Both ends of its range are then less than [`EVEN`]
    /// away from the number that means equality, such as the ratio 1.
    fn claims_alike(&self) -> bool {
        let Some(neutral) = self.neutral().filter(|neutral| *neutral != 0.0) else { return false };
        let (least, most) = self.ends();
        [least, most].iter().all(|end| (end / neutral - 1.0).abs() < EVEN)
    }

    /// Returns the number that means equality in this comparison, such as 1 for a ratio. Returns `None` if there is no
    /// such number.
    fn neutral(&self) -> Option<f64> {
        self.compare.neutral()
    }

    /// Returns the direction of the claimed difference: -1 for less, and 1 for more. Returns 0 if the claim states no
    /// difference, or a range with both directions. `neutral` is the number that means equality, such as 1 for a ratio.
    fn difference(&self, neutral: f64) -> f64 {
        let way = |end: f64| match neutral == 0.0 {
            true if end == 0.0 => 0.0,
            true => end.signum(),
            false if (end / neutral - 1.0).abs() < EVEN => 0.0,
            false => (end - neutral).signum(),
        };
        let (least, most) = self.ends();
        if way(least) * way(most) > 0.0 { way(least) } else { 0.0 }
    }

    /// Returns the fraction of the claimed difference that a measurement reaches. The fraction is negative if the
    /// measured difference has the opposite direction. `neutral` is the number that means equality, such as 1 for a
    /// ratio.
    fn share(&self, neutral: f64, value: f64) -> f64 {
        let (least, most) = self.ends();
        let nearest = if self.difference(neutral) > 0.0 { least } else { most };
        match self.compare == Compare::Amplification || neutral == 0.0 {
            true => (value - neutral) / (nearest - neutral),
            // A factor of 0 or less counts as infinitely far in the opposite direction.
            false if value <= 0.0 || nearest <= 0.0 => (value - neutral) / (nearest - neutral),
            false => (value / neutral).ln() / (nearest / neutral).ln(),
        }
    }

    fn agreement(&self, percent: f64) -> String {
        let is_of_none = self.claimed == 0.0 && self.compare != Compare::Rank;
        if is_of_none && matches!(self.standing, Statement::Exact | Statement::About | Statement::UpTo) {
            return format!("within {} of 0", self.tolerance());
        }
        match (self.compare, self.standing) {
            (Compare::Rank, _) => "the same rank".to_owned(),
            (_, Statement::AtLeast) => format!("at least the claimed value, within {percent} %"),
            (_, Statement::AtMost) => format!("at most the claimed value, within {percent} %"),
            (_, Statement::UpTo) => format!("the largest value is within {percent} % of the claim"),
            (_, Statement::From | Statement::To) => {
                let (low, high) = self.ends();
                format!("in the range {low} to {high}, within {percent} %")
            }
            (_, Statement::Exact | Statement::About) => format!("within {percent} % of the claim"),
        }
    }
}

/// Returns how far a measurement may be from a claimed number:
///
/// * in general, the tolerance times the number;
/// * for an amplification, the tolerance times the part above 1;
/// * for the number 0, the tolerance itself;
/// * for a rank, half a rank.
pub(crate) fn slack(compare: Compare, tolerance: f64, end: f64) -> f64 {
    let relative = tolerance + 1e-9;
    match (compare, end == 0.0) {
        (Compare::Rank, _) => 0.5,
        // A claim within 5 % of 1 states that there is no amplification, so it gets the tolerance of a number near
        // 1.
        (Compare::Amplification, _) if (end - 1.0).abs() >= EVEN => relative * (end - 1.0).abs(),
        (_, true) => relative,
        (_, false) => relative * end.abs(),
    }
}

#[cfg(test)]
mod tests {
    use measure::Interval;

    use super::*;

    const CLAIM: Weighed = Weighed {
        compare: Compare::Factor,
        standing: Statement::Exact,
        claimed: 2.0,
        other_end: None,
        tolerance: 0.25,
    };

    fn finding(claim: Weighed, value: f64) -> Finding {
        claim.against(Measured::plain(value)).0
    }

    fn with(claim: Weighed, value: f64, low: f64, high: f64) -> Finding {
        claim.against(Measured { value, interval: Some(Interval { low, high }) }).0
    }

    #[test]
    fn a_number_is_reproduced_near_it_and_half_of_its_difference_at_least() {
        for (value, expected) in [
            (1.6, Finding::Reproduced),
            (2.5, Finding::Reproduced),
            (1.3, Finding::DirectionOnly),
            (3.0, Finding::DirectionOnly),
            (1.05, Finding::NotReproduced),
            (0.9, Finding::NotReproduced),
            (-1.0, Finding::NotReproduced),
        ] {
            assert_eq!(finding(CLAIM, value), expected, "{value}");
        }
        let small = Weighed { claimed: 1.2, ..CLAIM };
        assert_eq!(finding(small, 1.1), Finding::Reproduced);
        assert_eq!(finding(small, 1.05), Finding::DirectionOnly, "within the tolerance, and a quarter of it");
        let less = Weighed { claimed: 0.8, ..CLAIM };
        assert_eq!(finding(less, 0.95), Finding::DirectionOnly);
        assert_eq!(finding(less, 0.85), Finding::Reproduced);
        assert_eq!(finding(less, 1.01), Finding::NotReproduced);
    }

    #[test]
    fn two_that_are_alike_have_no_direction() {
        let even = Weighed { claimed: 1.004, ..CLAIM };
        assert_eq!(finding(even, 0.996), Finding::Reproduced);
        assert_eq!(finding(even, 1.2), Finding::NotReproduced, "the tolerance would let it pass");
        assert_eq!(finding(even, 0.8), Finding::NotReproduced);
        let around = Weighed { standing: Statement::From, claimed: 0.97, other_end: Some(1.6), ..CLAIM };
        assert_eq!(finding(around, 1.9), Finding::Reproduced, "a range that begins at 1 is not of 1 alone");
        let (verdict, why) = Weighed { standing: Statement::To, ..around }.against(Measured::plain(2.5));
        assert_eq!(verdict, Finding::NotReproduced);
        assert!(why.contains("outside of the range 0.97 to 1.6"), "{why}");
        let of = Weighed { compare: Compare::PercentOf, claimed: 98.0, ..CLAIM };
        assert_eq!(finding(of, 103.0), Finding::Reproduced);
        assert_eq!(finding(of, 120.0), Finding::NotReproduced);
    }

    #[test]
    fn up_to_is_what_the_largest_reaches() {
        let up_to = Weighed { standing: Statement::UpTo, claimed: 2.5, ..CLAIM };
        assert_eq!(finding(up_to, 2.0), Finding::Reproduced);
        assert_eq!(finding(up_to, 1.6), Finding::DirectionOnly, "above 1 but short");
        assert_eq!(finding(up_to, 4.0), Finding::DirectionOnly, "more than was claimed is another claim");
        assert_eq!(finding(up_to, 0.9), Finding::NotReproduced);
        let most = Weighed { standing: Statement::AtMost, compare: Compare::Value, claimed: 1.0, ..CLAIM };
        assert_eq!(finding(most, 0.1), Finding::Reproduced, "no more than one is also none");
        assert_eq!(finding(most, 1.3), Finding::NotReproduced);
    }

    #[test]
    fn both_ends_of_a_range_hold_or_neither() {
        for (standing, claimed, other) in [(Statement::From, 2.0, 5.0), (Statement::To, 5.0, 2.0)] {
            let end = Weighed {
                compare: Compare::Value,
                standing,
                claimed,
                other_end: Some(other),
                tolerance: 0.1,
            };
            for (value, expected) in [
                (1.9, Finding::Reproduced),
                (5.4, Finding::Reproduced),
                (1.7, Finding::NotReproduced),
                (7.5, Finding::NotReproduced),
            ] {
                assert_eq!(finding(end, value), expected, "{standing:?} {value}");
            }
            let factor = Weighed { compare: Compare::Factor, ..end };
            assert_eq!(finding(factor, 1.6), Finding::DirectionOnly);
            assert_eq!(finding(factor, 0.5), Finding::NotReproduced);
        }
    }

    #[test]
    fn an_interval_that_meets_the_band_reproduces_unless_it_would_meet_any() {
        assert_eq!(with(CLAIM, 1.4, 1.3, 1.55), Finding::Reproduced);
        assert_eq!(with(CLAIM, 1.4, 1.3, 1.45), Finding::DirectionOnly);
        assert_eq!(with(CLAIM, 1.4, 1.1, 4.0), Finding::DirectionOnly, "wider than the band");
        assert_eq!(with(CLAIM, 1.9, 1.2, 4.0), Finding::Reproduced, "the median is in the band");
        assert_eq!(with(CLAIM, 1.9, 0.9, 4.0), Finding::NotReproduced, "it may be no difference");
        let percent = Weighed { compare: Compare::PercentLess, claimed: 10.0, ..CLAIM };
        assert_eq!(with(percent, 9.0, -1.0, 12.0), Finding::NotReproduced);
        assert_eq!(with(percent, 6.0, 5.0, 7.6), Finding::Reproduced);
        let value = Weighed { compare: Compare::Value, claimed: 10.0, tolerance: 0.1, ..CLAIM };
        assert_eq!(with(value, 12.0, 10.9, 12.1), Finding::Reproduced);
        assert_eq!(with(value, 12.0, 8.0, 14.0), Finding::NotReproduced);
    }

    #[test]
    fn of_an_amplification_what_is_beyond_one_counts() {
        let of = |claimed| Weighed { compare: Compare::Amplification, claimed, ..CLAIM };
        for (claimed, value, expected) in [
            (1.2, 1.0, Finding::NotReproduced),
            (1.3, 0.999, Finding::NotReproduced),
            (1.11, 1.20, Finding::DirectionOnly),
            (1.2, 1.16, Finding::Reproduced),
            (1.2, 1.06, Finding::DirectionOnly),
            (10.2, 10.32, Finding::Reproduced),
            (1.0, 1.04, Finding::Reproduced),
            (1.0, 1.2, Finding::NotReproduced),
        ] {
            assert_eq!(finding(of(claimed), value), expected, "{claimed} {value}");
        }
    }

    #[test]
    fn a_small_difference_in_percent_is_one() {
        let percent = Weighed { compare: Compare::PercentLess, claimed: 4.0, ..CLAIM };
        assert_eq!(finding(percent, 0.0), Finding::NotReproduced);
        assert_eq!(finding(percent, 3.2), Finding::Reproduced);
        assert_eq!(finding(percent, 8.0), Finding::DirectionOnly);
    }

    #[test]
    fn of_nothing_there_is_no_percentage() {
        let none = Weighed { compare: Compare::Value, claimed: 0.0, tolerance: 0.1, ..CLAIM };
        let why = |value| none.against(Measured::plain(value)).1;
        assert_eq!([why(0.05), why(0.2)], ["within 0.1 of 0", "the value differs from 0 by more than 0.1"]);
    }

    #[test]
    fn an_order_has_places() {
        let rank = Weighed { compare: Compare::Rank, claimed: 2.0, tolerance: 0.0, ..CLAIM };
        assert_eq!(finding(rank, 2.0), Finding::Reproduced);
        assert_eq!(finding(rank, 3.0), Finding::NotReproduced);
    }
}
