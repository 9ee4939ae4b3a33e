//! The rule of a gate. A gate compares a run with a baseline. The rule defines which regressions pass and which
//! outcomes fail.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use measure::{Comparison, Doubt, Verdict};
use results::Better;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest relative regression that passes a gate. The value is more than 0 and less than 1: `5%` is 0.05.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance(f64);

/// The outcomes of a comparison that fail a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// The gate fails only on a regression.
    Regressed,
    /// The gate fails on a regression and on an undecided comparison.
    Inconclusive,
}

/// `[gate]`: makes `lsmbench run` exit with 1 if a configuration is worse than the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GateRule {
    /// Largest regression that passes, such as `"5%"`. A comparison passes only if its 95 % confidence interval
    /// contains no larger regression. Without a tolerance, a comparison passes unless its verdict is `regressed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// Outcome that fails the gate: `"regressed"`, or `"inconclusive"` for undecided comparisons as well. Default:
    /// `"inconclusive"` with a tolerance, else `"regressed"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<FailOn>,
}

/// The outcome of one comparison under the rule of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GateOutcome {
    /// The metric regressed. If the gate has a tolerance, the metric regressed by more than the tolerance.
    Failed,
    /// The trials are not sufficient to decide whether the comparison passes.
    Undecided,
    /// The metric did not regress. If the gate has a tolerance, the metric regressed by at most the tolerance.
    Passed,
}

/// The numbers of comparisons that failed, passed or are undecided by the rule of a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) failed: usize,
    pub(crate) undecided: usize,
    pub(crate) passed: usize,
}

impl FromStr for Tolerance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, divisor) = match text.trim().strip_suffix('%') {
            Some(percent) => (percent.trim_end(), 100.0),
            None => (text.trim(), 1.0),
        };
        let share = number.parse::<f64>().map(|number| number / divisor);
        share.ok().and_then(Self::of_share).ok_or_else(|| {
            format!("expected a share above 0% and below 100%, such as 5% or 0.05, not \"{text}\"")
        })
    }
}

impl Tolerance {
    fn of_share(share: f64) -> Option<Self> {
        (share > 0.0 && share < 1.0).then_some(Self(share))
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounds away the binary error of the product: 0.07 * 100 is 7.000000000000001.
        write!(f, "{}%", (self.0 * 1e8).round() / 1e6)
    }
}

impl Serialize for Tolerance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Tolerance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Share;

        impl Visitor<'_> for Share {
            type Value = Tolerance;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share such as \"5%\" or 0.05")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Tolerance, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_f64<E: de::Error>(self, share: f64) -> Result<Tolerance, E> {
                share.to_string().parse().map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, share: i64) -> Result<Tolerance, E> {
                share.to_string().parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Share)
    }
}

impl JsonSchema for Tolerance {
    fn schema_name() -> Cow<'static, str> {
        "Tolerance".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

impl FailOn {
    /// Returns the name of the outcome in TOML and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl GateOutcome {
    /// Returns the name of the outcome in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Undecided => "undecided",
            Self::Passed => "passed",
        }
    }
}

impl GateRule {
    /// The keys of the table `[gate]`.
    pub const KEYS: [&str; 2] = ["tolerance", "fail_on"];

    /// Returns whether undecided comparisons fail the gate.
    pub(crate) fn is_strict(&self) -> bool {
        let by_default = if self.tolerance.is_some() { FailOn::Inconclusive } else { FailOn::Regressed };
        self.fail_on.unwrap_or(by_default) == FailOn::Inconclusive
    }

    /// Returns whether a comparison with the baseline passes the rule. Returns `None` if neither higher nor
    /// lower is better.
    pub(crate) fn outcome(&self, comparison: &Comparison, better: Better) -> Option<GateOutcome> {
        let Some(Tolerance(tolerance)) = self.tolerance else {
            return match (comparison.verdict, comparison.doubt) {
                (_, Some(Doubt::NoDirection)) => None,
                (Verdict::Regressed, _) => Some(GateOutcome::Failed),
                (Verdict::Inconclusive, _) => Some(GateOutcome::Undecided),
                (Verdict::Improved | Verdict::Equivalent, _) => Some(GateOutcome::Passed),
            };
        };
        let regressions = |ratio: f64| match better {
            Better::Lower => Some(ratio - 1.0),
            Better::Higher => Some(1.0 - ratio),
            Better::Neither => None,
        };
        // An implausible value can have a confidence interval, but the interval decides nothing.
        if comparison.doubt == Some(Doubt::Implausible) {
            return Some(GateOutcome::Undecided);
        }
        let Some(interval) = comparison.interval else {
            return (better != Better::Neither).then_some(GateOutcome::Undecided);
        };
        let ends = [regressions(interval.low)?, regressions(interval.high)?];
        let (least, most) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        Some(match comparison.verdict {
            _ if most <= tolerance => GateOutcome::Passed,
            // The verdict is corrected for the number of comparisons, but the interval is not, so both must show the
            // regression.
            Verdict::Regressed if least > tolerance => GateOutcome::Failed,
            _ => GateOutcome::Undecided,
        })
    }

    /// Returns whether the gate passes with these numbers of failed and undecided comparisons.
    pub(crate) fn passes(&self, tally: Tally) -> bool {
        tally.failed == 0 && (tally.undecided == 0 || !self.is_strict())
    }

    /// Formats the counts: `1 of 4 numbers failed, 1 undecided, 2 passed (tolerance 5%)`.
    pub(crate) fn counts(&self, tally: Tally, noun: &str) -> String {
        let Tally { failed, undecided, passed } = tally;
        let how = match self.tolerance {
            Some(tolerance) => format!("tolerance {tolerance}"),
            None if self.is_strict() => "undecided numbers fail".to_owned(),
            None => "undecided numbers pass".to_owned(),
        };
        let all = failed + undecided + passed;
        format!("{failed} of {all} {noun} failed, {undecided} undecided, {passed} passed ({how})")
    }
}

impl FromIterator<GateOutcome> for Tally {
    fn from_iter<I: IntoIterator<Item = GateOutcome>>(outcomes: I) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            match outcome {
                GateOutcome::Failed => tally.failed += 1,
                GateOutcome::Undecided => tally.undecided += 1,
                GateOutcome::Passed => tally.passed += 1,
            }
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use measure::{Interval, compare_exact};

    use super::*;

    fn comparison(verdict: Verdict, ends: Option<[f64; 2]>) -> Comparison {
        let interval = ends.map(|[low, high]| Interval { low, high });
        Comparison { verdict, interval, doubt: None, ..compare_exact(1.0, 1.0, Better::Lower, 0.0) }
    }

    fn rule(tolerance: &str) -> GateRule {
        GateRule { tolerance: Some(tolerance.parse().unwrap()), fail_on: None }
    }

    #[test]
    fn tolerances_are_shares_or_percentages() {
        for (text, shown) in
            [("5%", "5%"), ("0.05", "5%"), (" 7 % ", "7%"), ("0.5%", "0.5%"), ("0.29", "29%")]
        {
            assert_eq!(text.parse::<Tolerance>().unwrap().to_string(), shown);
        }
        for text in ["5", "0", "100%", "-1%", "five", "NaN", "%", ""] {
            let error = text.parse::<Tolerance>().unwrap_err();
            assert!(error.contains("as 5% or 0.05"), "{text}: {error}");
        }
        let read = |text: &str| toml::from_str::<GateRule>(text);
        assert_eq!(read("tolerance = \"5%\"").unwrap(), rule("5%"));
        assert_eq!(read("tolerance = 0.05").unwrap(), rule("5%"));
        assert!(read("tolerance = 5").is_err() && read("fail_on = \"never\"").is_err());
        assert_eq!(toml::to_string(&rule("5%")).unwrap(), "tolerance = \"5%\"\n");
    }

    /// Tests that a comparison passes only if its confidence interval excludes a regression above the tolerance.
    #[test]
    fn an_interval_decides_by_its_worse_end() {
        let outcome = |verdict, ends, better| rule("5%").outcome(&comparison(verdict, ends), better);
        let passed = Some(GateOutcome::Passed);
        for (verdict, ends, better, expected) in [
            (Verdict::Equivalent, Some([0.99, 1.01]), Better::Lower, passed),
            (Verdict::Inconclusive, Some([0.9, 1.04]), Better::Lower, passed),
            (Verdict::Inconclusive, Some([0.9, 1.06]), Better::Lower, Some(GateOutcome::Undecided)),
            (Verdict::Regressed, Some([1.02, 1.04]), Better::Lower, passed),
            (Verdict::Regressed, Some([1.04, 1.08]), Better::Lower, Some(GateOutcome::Undecided)),
            (Verdict::Regressed, Some([1.06, 1.08]), Better::Lower, Some(GateOutcome::Failed)),
            (Verdict::Inconclusive, Some([1.06, 1.08]), Better::Lower, Some(GateOutcome::Undecided)),
            (Verdict::Improved, Some([0.5, 0.6]), Better::Lower, passed),
            (Verdict::Improved, Some([1.5, 1.6]), Better::Higher, passed),
            (Verdict::Regressed, Some([0.90, 0.94]), Better::Higher, Some(GateOutcome::Failed)),
            (Verdict::Inconclusive, Some([0.96, 1.10]), Better::Higher, passed),
            (Verdict::Inconclusive, None, Better::Higher, Some(GateOutcome::Undecided)),
            (Verdict::Inconclusive, None, Better::Neither, None),
            (Verdict::Regressed, Some([f64::INFINITY; 2]), Better::Lower, Some(GateOutcome::Failed)),
        ] {
            assert_eq!(outcome(verdict, ends, better), expected, "{verdict} {ends:?} {better:?}");
        }
        let impossible = Comparison {
            doubt: Some(Doubt::Implausible),
            ..comparison(Verdict::Inconclusive, Some([1.0, 1.0]))
        };
        assert_eq!(rule("5%").outcome(&impossible, Better::Lower), Some(GateOutcome::Undecided));
    }

    #[test]
    fn undecided_numbers_fail_where_the_rule_says_so() {
        let undecided = Tally { failed: 0, undecided: 4, passed: 0 };
        assert!(GateRule::default().passes(undecided));
        assert!(!rule("5%").passes(undecided), "a gate with a tolerance decides");
        let lenient = GateRule { fail_on: Some(FailOn::Regressed), ..rule("5%") };
        assert!(lenient.passes(undecided) && !lenient.passes(Tally { failed: 1, ..Tally::default() }));
        let strict = GateRule { tolerance: None, fail_on: Some(FailOn::Inconclusive) };
        assert!(!strict.passes(undecided));
        let outcome = |verdict| strict.outcome(&comparison(verdict, None), Better::Lower);
        let tally: Tally = Verdict::ALL.into_iter().filter_map(outcome).collect();
        assert_eq!(tally, Tally { failed: 1, undecided: 1, passed: 2 });
        assert_eq!(
            rule("5%").counts(tally, "numbers"),
            "1 of 4 numbers failed, 1 undecided, 2 passed (tolerance 5%)"
        );
    }
}
