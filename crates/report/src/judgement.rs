//! The verdict on a claim.

use std::fmt;

use measure::Interval;

use crate::{Compare, Expected};

/// What a claim comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finding {
    /// Measured, or computed, within the tolerance.
    Reproduced,
    /// Better and worse are as claimed, by how much is not.
    DirectionOnly,
    /// Measured otherwise.
    NotReproduced,
    /// Beyond a bound that is shown with its derivation, or not what the document's own quantities come to by arithmetic.
    Impossible,
    /// Not looked at, and why.
    NotTestable,
}

impl Finding {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::DirectionOnly, Self::NotReproduced, Self::Impossible, Self::NotTestable];

    /// As pages and files write it.
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

/// A claim, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The claim's name.
    pub id: String,
    /// How it was compared; nothing where it was only computed, or not at all.
    pub compare: Option<Compare>,
    /// The claim in the form that it was compared in: a ratio of two claims, or its own value.
    pub claimed: f64,
    /// The measurement in the same form, median over trials.
    pub measured: Option<f64>,
    /// A 95 % interval on it, where trials are enough for one.
    pub interval: Option<Interval>,
    /// The size that it was measured at, where that is not the document's: `1,250,000 against 125,000`.
    pub measured_at: Option<String>,
    /// What must be, by computation, or what theory expects beside the measurement.
    pub theory: Option<Expected>,
    /// What follows.
    pub finding: Finding,
    /// Why, in a sentence.
    pub reason: String,
}

impl Judgement {
    /// Whether the claim is reproduced by a computation alone, mostly on other numbers of the document: it holds, and
    /// nothing was measured.
    pub fn is_by_arithmetic(&self) -> bool {
        self.finding == Finding::Reproduced && self.measured.is_none()
    }

    /// What it came to, as a claim's row says it: `reproduced by arithmetic`.
    pub(crate) fn said(&self) -> String {
        let how = if self.is_by_arithmetic() { " by arithmetic" } else { "" };
        format!("{}{how}", self.finding)
    }
}
