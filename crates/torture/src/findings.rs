//! The violations that an exploration found, with the coordinates that reproduce each violation.

use crate::violation::Violation;

/// The number of violations at which an exploration ends.
const MOST_VIOLATIONS: u64 = 100;
/// The maximum number of recorded violations per check.
const MOST_OF_ONE_CHECK: usize = 3;

/// A violation with the coordinates that reproduce it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedViolation<P> {
    /// Coordinates that reproduce the violation.
    pub place: P,
    /// The event before the violation: the last step before the power failure, or the injected fault.
    pub moment: String,
    /// The failed check, with the evidence.
    pub violation: Violation,
}

/// The number of violations, and the first few violations of every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings<P> {
    /// Number of violations.
    pub violations: u64,
    /// The first few violations of every check.
    pub kept: Vec<LocatedViolation<P>>,
}

impl<P> Default for Findings<P> {
    fn default() -> Self {
        Self { violations: 0, kept: Vec::new() }
    }
}

impl<P> Findings<P> {
    /// Records a violation. `place` contains the coordinates of the violation, and `moment` describes the event
    /// before the violation.
    pub fn add(&mut self, place: P, moment: impl Into<String>, violation: Violation) {
        self.violations += 1;
        let of_check = |found: &&LocatedViolation<P>| found.violation.check == violation.check;
        if self.kept.iter().filter(of_check).count() < MOST_OF_ONE_CHECK {
            self.kept.push(LocatedViolation { place, moment: moment.into(), violation });
        }
    }

    /// Converts the coordinates of the findings to text.
    pub fn spelt(self) -> Findings<String>
    where
        P: ToString,
    {
        let spelt = |LocatedViolation { place, moment, violation }| LocatedViolation {
            place: P::to_string(&place),
            moment,
            violation,
        };
        Findings { violations: self.violations, kept: self.kept.into_iter().map(spelt).collect() }
    }

    /// Returns whether further violations would add no information.
    pub(crate) fn are_enough(&self) -> bool {
        self.violations >= MOST_VIOLATIONS
    }
}
