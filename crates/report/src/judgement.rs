//! The verdict on a claim.

use std::fmt;

use measure::Interval;

use crate::{Compare, Expected};

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finding {
    /// The measured or computed number is within the tolerance of the claim.
    Reproduced,
    /// The direction is as claimed, but the size is not.
    DirectionOnly,
    /// The measurement or the computation contradicts the claim.
    NotReproduced,
    /// The claim exceeds a bound whose derivation the report shows, or contradicts other values of the document.
    Impossible,
    /// The claim was not tested, and the reason is given.
    NotTestable,
}

impl Finding {
    /// All findings.
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::DirectionOnly, Self::NotReproduced, Self::Impossible, Self::NotTestable];

    /// Name of the finding on pages and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::DirectionOnly => "direction only",
            Self::NotReproduced => "not reproduced",
            Self::Impossible => "impossible",
            Self::NotTestable => "not testable here",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A judged claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The identifier of the claim.
    pub id: String,
    /// The form of the comparison; `None` for a claim that was only computed or not tested.
    pub compare: Option<Compare>,
    /// The claim in the form of the comparison: its own value, or the ratio of two claims.
    pub claimed: f64,
    /// The measurement in the form of the comparison, as the median over trials.
    pub measured: Option<f64>,
    /// The 95 % confidence interval of the measurement; `None` with too few trials.
    pub interval: Option<Interval>,
    /// The size of the measurement, if it differs from the size in the document, such as `1,250,000 against 125,000`.
    pub measured_at: Option<String>,
    /// The computed result, or the expectation of theory that accompanies the measurement.
    pub theory: Option<Expected>,
    /// The verdict.
    pub finding: Finding,
    /// The reason for the verdict, in a sentence.
    pub reason: String,
}

impl Judgement {
    /// Whether the claim is reproduced by computation only, mostly from other numbers of the document, without a
    /// measurement.
    pub fn is_by_arithmetic(&self) -> bool {
        self.finding == Finding::Reproduced && self.measured.is_none()
    }

    /// The finding as the row of a claim prints it, such as `reproduced by arithmetic`.
    pub(crate) fn said(&self) -> String {
        let how = if self.is_by_arithmetic() { " by arithmetic" } else { "" };
        format!("{}{how}", self.finding)
    }
}
