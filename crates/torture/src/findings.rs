//! What an exploration found to be wrong, and where.

use crate::violation::Violation;

/// After how many violations an exploration ends, and how many of one check it keeps.
const MOST_VIOLATIONS: u64 = 100;
const MOST_OF_ONE_CHECK: usize = 3;

/// A violation and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<P> {
    /// Where it is found again.
    pub place: P,
    /// What went on: the last step before the power failed, or the fault.
    pub moment: String,
    /// What is wrong.
    pub violation: Violation,
}

/// How often something was wrong, and what: the first few of every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings<P> {
    /// How often.
    pub violations: u64,
    /// The first few of every check.
    pub kept: Vec<Finding<P>>,
}

impl<P> Default for Findings<P> {
    fn default() -> Self {
        Self { violations: 0, kept: Vec::new() }
    }
}

impl<P> Findings<P> {
    /// Notes a violation.
    pub fn add(&mut self, place: P, moment: impl Into<String>, violation: Violation) {
        self.violations += 1;
        let of_check = |found: &&Finding<P>| found.violation.check == violation.check;
        if self.kept.iter().filter(of_check).count() < MOST_OF_ONE_CHECK {
            self.kept.push(Finding { place, moment: moment.into(), violation });
        }
    }

    /// The same, with places as they are written.
    pub fn spelt(self) -> Findings<String>
    where
        P: ToString,
    {
        let spelt =
            |Finding { place, moment, violation }| Finding { place: P::to_string(&place), moment, violation };
        Findings { violations: self.violations, kept: self.kept.into_iter().map(spelt).collect() }
    }

    /// Whether more would tell nothing new.
    pub(crate) fn are_enough(&self) -> bool {
        self.violations >= MOST_VIOLATIONS
    }
}
