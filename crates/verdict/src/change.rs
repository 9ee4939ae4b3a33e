//! Formats the change of a metric relative to its baseline. A change by a factor of 2 or more is a factor, such as
//! `2.28x`. A smaller change is a percentage, such as `12.3%`, or percentage points.

use measure::{Comparison, Interval};
use results::{Better, Unit};

/// A change by at least this factor, up or down, is printed as a factor. A smaller change is printed as a percentage.
const LARGE: f64 = 2.0;

/// The unit in which a change and both ends of its confidence interval are printed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// The change is printed in percent of the baseline.
    Percent,
    /// The change is printed as a factor of at least 1.
    Factor,
    /// The change is printed in percentage points, for a metric that is a fraction. The field is the value of the
    /// baseline in percent, which converts a ratio to percentage points.
    Points(f64),
}

/// The change of a candidate relative to its baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    ratio: f64,
    /// Confidence interval of the ratio candidate / baseline. `None` if the interval is unknown or has no width.
    interval: Option<Interval>,
    scale: Scale,
}

impl Change {
    /// Returns the change that a comparison found, or `None` if the comparison has no ratio. If `points_of` contains
    /// the value of the baseline as a fraction, the change is in percentage points.
    pub fn of(comparison: &Comparison, points_of: Option<f64>) -> Option<Self> {
        let ratio = comparison.ratio?;
        let scale = points_of.map(|baseline| Scale::Points(baseline * 100.0));
        Some(Self::scaled(ratio, comparison.interval, scale))
    }

    /// Returns the change for the ratio candidate / baseline.
    pub(crate) fn of_ratio(ratio: f64, interval: Option<Interval>) -> Self {
        Self::scaled(ratio, interval, None)
    }

    /// Returns the change for a ratio, on the given scale. Without a scale, the change becomes a factor if both
    /// conditions hold, and otherwise a percentage:
    ///
    /// * The ratio or an end of its confidence interval differs from 1 by a factor of at least [`LARGE`].
    /// * The ratio and both ends of the interval are all increases, or all decreases.
    fn scaled(ratio: f64, interval: Option<Interval>, scale: Option<Scale>) -> Self {
        let has_width = |interval: &Interval| interval.low.total_cmp(&interval.high).is_ne();
        let interval = interval.filter(has_width);
        let ends = interval.map(|interval| [interval.low, interval.high]);
        let all: Vec<f64> = ends.into_iter().flatten().chain([ratio]).collect();
        let is_one_sided = all.iter().all(|of| *of >= 1.0) || all.iter().all(|of| *of <= 1.0);
        let is_large = all.iter().any(|of| of.is_finite() && *of > 0.0 && of.ln().abs() >= LARGE.ln());
        let own = if is_one_sided && is_large { Scale::Factor } else { Scale::Percent };
        Self { ratio, interval, scale: scale.unwrap_or(own) }
    }

    /// Returns whether the value of the candidate is larger than the value of the baseline.
    pub(crate) fn is_up(&self) -> bool {
        self.ratio > 1.0
    }

    /// Returns whether the change is printed as a factor.
    pub(crate) fn is_factor(&self) -> bool {
        self.scale == Scale::Factor
    }

    /// Returns whether the candidate or the baseline has the value 0. The change then has neither a factor nor a
    /// percentage.
    pub(crate) fn is_of_zero(&self) -> bool {
        self.ratio.is_infinite() || self.ratio == 0.0
    }

    /// Formats the change for a table, such as `2.28x`, `-12.3%`, `+4.0 points`, `from 0` or `to 0`.
    pub fn short(&self) -> String {
        if self.ratio.is_infinite() { "from 0".to_owned() } else { self.signed(self.ratio) }
    }

    /// Formats both ends of the confidence interval for a table, such as `2.18 .. 2.65` or `-14.0% .. -10.2%`. Returns
    /// `None` if there is no interval.
    pub fn range(&self) -> Option<String> {
        let [low, high] = self.ends()?;
        Some(match self.scale {
            Scale::Factor => format!("{} .. {}", bare_factor(low), bare_factor(high)),
            _ => format!("{} .. {}", self.signed(low), self.signed(high)),
        })
    }

    /// Formats the size of the change without its direction, such as `2.28x`, `12.3%` or `4.0 points`.
    pub(crate) fn size(&self) -> String {
        self.unsigned(self.ratio)
    }

    /// Formats both ends of the confidence interval for a sentence that states the direction, such as
    /// `2.18x to 2.65x` or `10.2% to 14.0%`. If the interval includes "no change", both ends have signs.
    pub(crate) fn interval(&self) -> Option<String> {
        let [low, high] = self.ends()?;
        let is_one_sided = (low >= 1.0 && high >= 1.0) || (low <= 1.0 && high <= 1.0);
        match self.scale {
            Scale::Factor => Some(format!("{} to {}", self.signed(low), self.signed(high))),
            _ if is_one_sided && self.ratio < 1.0 => {
                Some(format!("{} to {}", self.unsigned(high), self.unsigned(low)))
            }
            _ if is_one_sided => Some(format!("{} to {}", self.unsigned(low), self.unsigned(high))),
            _ => self.signed_interval(),
        }
    }

    /// Formats both ends of the confidence interval with their signs, such as `-3.6% to +22.2%`. Returns `None` if
    /// there is no interval.
    pub(crate) fn signed_interval(&self) -> Option<String> {
        let [low, high] = self.ends()?;
        Some(format!("{} to {}", self.signed(low), self.signed(high)))
    }

    /// Returns both ends of the confidence interval in the order in which reports print them. For factors, the smaller
    /// factor comes first. Returns `None` if there is no interval.
    fn ends(&self) -> Option<[f64; 2]> {
        let Interval { low, high } = self.interval?;
        let turns = self.scale == Scale::Factor && self.ratio < 1.0;
        Some(if turns { [high, low] } else { [low, high] })
    }

    fn signed(&self, ratio: f64) -> String {
        let sign = if ratio < 1.0 { '-' } else { '+' };
        match self.scale {
            Scale::Factor if ratio > 0.0 => format!("{}x", bare_factor(ratio)),
            Scale::Points(_) => format!("{sign}{}", self.unsigned(ratio)),
            _ if ratio == 0.0 => "to 0".to_owned(),
            _ if ratio.total_cmp(&1.0).is_eq() => self.unsigned(ratio),
            _ => format!("{sign}{}", self.unsigned(ratio)),
        }
    }

    fn unsigned(&self, ratio: f64) -> String {
        match self.scale {
            Scale::Factor => format!("{}x", bare_factor(ratio)),
            Scale::Percent => format!("{:.1}%", (ratio - 1.0).abs() * 100.0),
            Scale::Points(baseline) => format!("{:.1} points", (ratio - 1.0).abs() * baseline),
        }
    }
}

/// Formats a ratio as a factor of at least 1. For a ratio below 1, formats the inverse.
fn bare_factor(ratio: f64) -> String {
    let factor = if ratio < 1.0 { 1.0 / ratio } else { ratio };
    match factor {
        factor if factor >= 100.0 => format!("{factor:.0}"),
        factor if factor >= 10.0 => format!("{factor:.1}"),
        factor => format!("{factor:.2}"),
    }
}

/// Returns the word for the direction of a change. Speeds are `faster` or `slower`. Countable objects are `fewer` or
/// `more`. For any other metric, the direction is `lower` or `higher`.
pub(crate) fn direction(title: &str, (unit, better): (Unit, Better), is_up: bool) -> &'static str {
    if is_speed(unit) && better != Better::Neither {
        return if is_up == (better == Better::Higher) { "faster" } else { "slower" };
    }
    comparative(title, unit, is_up)
}

/// Returns whether a metric in this unit is a speed or the time of one operation.
pub(crate) fn is_speed(unit: Unit) -> bool {
    matches!(unit, Unit::OperationsPerSecond | Unit::MegabytesPerSecond | Unit::Nanoseconds)
}

/// Returns the word before the title of a metric: `fewer flushes`, `less memory per entry`,
/// `lower write amplification`.
pub(crate) fn comparative(title: &str, unit: Unit, is_up: bool) -> &'static str {
    let ends = [" of ", " per ", " in ", " by ", " that "];
    let head = ends.iter().filter_map(|end| title.split_once(end)).map(|(head, _)| head);
    let head = head.min_by_key(|head| head.len()).unwrap_or(title);
    let is_plural = head.split(' ').any(|word| word.ends_with('s'));
    match (unit, is_plural, is_up) {
        (Unit::Count | Unit::Bytes | Unit::Ratio, true, false) => "fewer",
        (Unit::Count | Unit::Bytes | Unit::Ratio, true, true) | (Unit::Bytes, false, true) => "more",
        (Unit::Bytes, false, false) => "less",
        (_, _, false) => "lower",
        (_, _, true) => "higher",
    }
}

#[cfg(test)]
mod tests {
    use measure::compare_exact;

    use super::*;

    fn change(ratio: f64, ends: Option<[f64; 2]>, points_of: Option<f64>) -> Change {
        let interval = ends.map(|[low, high]| Interval { low, high });
        let comparison = compare_exact(1.0, 2.0, Better::Lower, 0.0);
        Change::of(&Comparison { ratio: Some(ratio), interval, ..comparison }, points_of).unwrap()
    }

    #[test]
    fn a_factor_is_at_least_one() {
        let faster = change(2.28, Some([2.18, 2.65]), None);
        assert_eq!([faster.short(), faster.range().unwrap()], ["2.28x", "2.18 .. 2.65"]);
        assert_eq!([faster.size(), faster.interval().unwrap()], ["2.28x", "2.18x to 2.65x"]);
        let shorter = change(0.25, Some([0.2, 0.4]), None);
        assert_eq!([shorter.short(), shorter.range().unwrap()], ["4.00x", "2.50 .. 5.00"]);
        assert_eq!(shorter.interval().unwrap(), "2.50x to 5.00x");
        assert_eq!(change(0.005, None, None).short(), "200x");
        assert_eq!(change(0.05, None, None).short(), "20.0x");
    }

    #[test]
    fn below_two_a_change_is_a_percentage() {
        let less = change(0.877, Some([0.86, 0.898]), None);
        assert_eq!([less.short(), less.range().unwrap()], ["-12.3%", "-14.0% .. -10.2%"]);
        assert_eq!([less.size(), less.interval().unwrap()], ["12.3%", "10.2% to 14.0%"]);
        let more = change(1.2, Some([1.1, 1.5]), None);
        assert_eq!([more.short(), more.interval().unwrap()], ["+20.0%", "10.0% to 50.0%"]);
        assert_eq!(change(1.0, None, None).short(), "0.0%");
    }

    #[test]
    fn an_interval_that_includes_no_change_has_signs() {
        let open = change(1.2, Some([0.9, 2.4]), None);
        assert_eq!([open.short(), open.range().unwrap()], ["+20.0%", "-10.0% .. +140.0%"]);
        assert_eq!(open.interval(), open.signed_interval());
        assert_eq!(open.interval().unwrap(), "-10.0% to +140.0%");
    }

    #[test]
    fn shares_change_by_points_and_zeros_by_nothing_else() {
        let points = change(1.25, Some([0.9, 1.5]), Some(0.4));
        assert_eq!(
            [points.short(), points.interval().unwrap()],
            ["+10.0 points", "-4.0 points to +20.0 points"]
        );
        assert_eq!(change(0.0, None, None).short(), "to 0");
        assert_eq!(change(f64::INFINITY, None, None).short(), "from 0");
        assert!(change(0.0, None, None).is_of_zero() && !points.is_of_zero());
    }

    #[test]
    fn directions_have_a_word() {
        let rate = (Unit::OperationsPerSecond, Better::Higher);
        assert_eq!(direction("throughput", rate, true), "faster");
        assert_eq!(direction("mean service time", (Unit::Nanoseconds, Better::Lower), true), "slower");
        let fewer = [
            ("false positives", Unit::Count),
            ("bytes of all tables", Unit::Bytes),
            ("data blocks read per get", Unit::Ratio),
        ];
        assert!(fewer.iter().all(|(title, unit)| comparative(title, *unit, false) == "fewer"));
        assert_eq!(comparative("memory of filters", Unit::Bytes, false), "less");
        assert_eq!(comparative("write amplification", Unit::Ratio, false), "lower");
        assert_eq!(comparative("false-positive rate", Unit::Share, true), "higher");
    }
}
