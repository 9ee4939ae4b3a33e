//! The four verdicts, and the reasons why a comparison is inconclusive.

use std::fmt;

use results::Better;

use crate::significance::{FEWEST_BLOCKS, FEWEST_SESSIONS};

/// The largest relative difference at which two variants may count as equivalent. A difference above 10 % is important
/// even on a noisy machine.
pub(crate) const WIDEST_EQUIVALENCE: f64 = 0.1;

/// The verdict of a comparison of a candidate with a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The candidate is better than the baseline by more than δ, the smallest difference that counts.
    Improved,
    /// The two variants differ by less than δ, the smallest difference that counts.
    Equivalent,
    /// The trials do not decide the comparison. The field `doubt` of the comparison contains the reason.
    Inconclusive,
    /// The candidate is worse than the baseline by more than δ, the smallest difference that counts.
    Regressed,
}

impl Verdict {
    /// All verdicts, from the best to the worst for the candidate.
    pub const ALL: [Self; 4] = [Self::Improved, Self::Equivalent, Self::Inconclusive, Self::Regressed];

    /// Returns the name of the verdict in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::Regressed => "regressed",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The reason why a comparison is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Both variants were measured in too few rounds of trials.
    TooFewBlocks {
        /// The number of rounds in which both variants were measured.
        blocks: usize,
    },
    /// The confidence interval contains both "no difference" and a difference above δ, the smallest difference that
    /// counts.
    TooNoisy,
    /// The builds have too few sessions: one session each, or two sessions of one build and one of the other. The
    /// variation between sessions of one build is therefore unknown.
    FewSessions,
    /// The counts come from only one seed. With another seed, the difference might change.
    OneSeed,
    /// A value of one variant exceeds a theoretical or physical bound, so it cannot be correct.
    Implausible,
    /// The metric regressed in the latest batch of trials, but not in the batch before it.
    OnlyOnce,
    /// The confidence interval excludes "no difference", but chance causes an equally large difference too often.
    Chance,
    /// The measured difference is below the smallest difference that a verdict reports: δ or the noise floor of the
    /// machine. The confidence interval excludes "no difference".
    TooSmall,
    /// The difference is significant in a single comparison, but not after the correction for the number of
    /// comparisons.
    OneOfMany {
        /// The number of comparisons in the sweep that share the correction.
        comparisons: usize,
    },
    /// The value of one variant is 0 in some rounds, so the ratio is undefined.
    SometimesZero,
    /// A value of the baseline or the candidate is negative or not a number, so the ratio is undefined.
    NoRatio,
    /// The values differ, but neither higher nor lower values of the metric are better.
    NoDirection,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewBlocks { blocks: 0 } => {
                f.write_str("no trial has values for both the baseline and the candidate")
            }
            Self::TooFewBlocks { blocks } => {
                let trials_are = if *blocks == 1 { "trial is" } else { "trials are" };
                write!(f, "{blocks} {trials_are} too few for a verdict; run at least {FEWEST_BLOCKS} trials")
            }
            Self::TooNoisy => f.write_str(
                "the confidence interval (CI) includes the ratio 1; more trials may narrow the CI",
            ),
            Self::Chance => f.write_str("chance alone may cause this difference; more trials may decide"),
            Self::FewSessions => {
                write!(
                    f,
                    "too few sessions to distinguish a difference between builds from differences between \
                     sessions of one build; a verdict needs at least {FEWEST_SESSIONS} sessions in total"
                )
            }
            Self::OneSeed => {
                f.write_str("one seed: the difference may hold only for this seed; more seeds may decide")
            }
            Self::Implausible => f.write_str(
                "a value of the baseline or the candidate exceeds a physical or theoretical bound",
            ),
            Self::OnlyOnce => f.write_str("the first batch of trials did not show this change"),
            Self::TooSmall => f.write_str(
                "the difference is below the smallest difference that a verdict reports, but the confidence \
                 interval (CI) is too wide for equivalence",
            ),
            Self::OneOfMany { comparisons } => write!(
                f,
                "among {comparisons} comparisons, chance alone may cause one such difference; more trials may decide"
            ),
            Self::SometimesZero => {
                f.write_str("the baseline or the candidate is 0 in some trials, so the ratio is undefined")
            }
            Self::NoRatio => {
                f.write_str("a value of the baseline or the candidate is negative, so the ratio is undefined")
            }
            Self::NoDirection => f.write_str(
                "the values differ, but neither higher nor lower values of this metric are better",
            ),
        }
    }
}

/// Returns the verdict on a comparison, and the reason if it is inconclusive. `median`, `low` and `high` are logarithms
/// of the ratio candidate / baseline, and `delta` is the smallest relative difference that a verdict reports.
pub(crate) fn judge(
    median: f64,
    (low, high): (f64, f64),
    better: Better,
    delta: f64,
) -> (Verdict, Option<Doubt>) {
    let (margin, equal) = (delta.ln_1p(), delta.min(WIDEST_EQUIVALENCE).ln_1p());
    if -equal <= low && high <= equal {
        return (Verdict::Equivalent, None);
    }
    let is_apart = low > 0.0 || high < 0.0;
    match (is_apart, better) {
        (false, _) => (Verdict::Inconclusive, Some(Doubt::TooNoisy)),
        (true, _) if median.abs() <= margin => (Verdict::Inconclusive, Some(Doubt::TooSmall)),
        (true, Better::Neither) => (Verdict::Inconclusive, Some(Doubt::NoDirection)),
        (true, _) if (median > 0.0) == (better == Better::Higher) => (Verdict::Improved, None),
        (true, _) => (Verdict::Regressed, None),
    }
}
