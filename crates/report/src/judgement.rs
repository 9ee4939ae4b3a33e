//! The judgement of a claim: one of five findings, with its numbers and its reason.

use std::fmt;

use measure::Interval;

use crate::{Compare, Expected};

/// One of the five possible findings about a claim, which is a number that a published document states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finding {
    /// The measured or computed number is within the tolerance of the claimed number.
    Reproduced,
    /// The measured difference has the claimed direction, but is much smaller.
    DirectionOnly,
    /// The measured or computed number contradicts the claimed number.
    NotReproduced,
    /// The claimed number exceeds a theoretical bound, or contradicts other numbers of the same document.
    Impossible,
    /// The claim was not tested; the judgement states the reason.
    NotTestable,
}

impl Finding {
    /// All findings, from the best to the worst.
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::DirectionOnly, Self::NotReproduced, Self::Impossible, Self::NotTestable];

    /// Returns the name of the finding on pages and in files.
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

/// The finding about a claim, with the numbers and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The identifier of the judged claim, such as `cs265-001`.
    pub id: String,
    /// The form in which the claim was compared with a measurement, such as a ratio. `None` without such a comparison.
    pub compare: Option<Compare>,
    /// The claim as a number that can be compared with the measurement: the claimed number, or the ratio of two claims.
    pub claimed: f64,
    /// The measured number, as the median over all trials. `None` without a measurement.
    pub measured: Option<f64>,
    /// The 95 % confidence interval of the measured number. `None` if there are too few trials.
    pub interval: Option<Interval>,
    /// The data sizes of the measurement, such as `1,250,000 against 125,000` for two compared variants. `None` if the
    /// measurement had the size in the document.
    pub measured_at: Option<String>,
    /// The computed number that decides the claim, or that the report shows next to the measurement.
    pub theory: Option<Expected>,
    /// The finding about the claim, such as "reproduced".
    pub finding: Finding,
    /// The reason for the finding, in a sentence.
    pub reason: String,
}

impl Judgement {
    /// Returns whether the claim is reproduced by a computation without a measurement, usually from other numbers of
    /// the document.
    pub fn is_by_arithmetic(&self) -> bool {
        self.finding == Finding::Reproduced && self.measured.is_none()
    }

    /// Formats the finding for the tables of the report, such as `reproduced by arithmetic`.
    pub(crate) fn said(&self) -> String {
        let how = if self.is_by_arithmetic() { " by arithmetic" } else { "" };
        format!("{}{how}", self.finding)
    }
}
