//! Collects the violations that an exploration found, with the numbers that reproduce each violation.

use crate::violation::Violation;

/// The number of violations after which an exploration ends early.
const MOST_VIOLATIONS: u64 = 100;
/// The maximum number of violations that an exploration keeps per check. Further violations are only counted.
const MOST_OF_ONE_CHECK: usize = 3;

/// A violation (a failed check), with the numbers that reproduce it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedViolation<P> {
    /// The numbers that reproduce the violation, such as a seed and a step.
    pub place: P,
    /// The event before the violation, such as the last storage call before a power failure, or an injected fault.
    pub moment: String,
    /// The check that failed, with a description of the evidence.
    pub violation: Violation,
}

/// The violations that an exploration found: their number, and the first violations of each check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings<P> {
    /// The number of all violations, including those that are not kept.
    pub violations: u64,
    /// The first violations of every check, at most three per check.
    pub kept: Vec<LocatedViolation<P>>,
}

impl<P> Default for Findings<P> {
    fn default() -> Self {
        Self { violations: 0, kept: Vec::new() }
    }
}

impl<P> Findings<P> {
    /// Records a violation. `place` contains the numbers that reproduce it, and `moment` describes the event before it.
    pub fn add(&mut self, place: P, moment: impl Into<String>, violation: Violation) {
        self.violations += 1;
        let of_check = |found: &&LocatedViolation<P>| found.violation.check == violation.check;
        if self.kept.iter().filter(of_check).count() < MOST_OF_ONE_CHECK {
            self.kept.push(LocatedViolation { place, moment: moment.into(), violation });
        }
    }

    /// Converts the numbers that reproduce each violation to text.
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

    /// Returns whether the exploration must end, because it has found enough violations.
    pub(crate) fn are_enough(&self) -> bool {
        self.violations >= MOST_VIOLATIONS
    }
}
