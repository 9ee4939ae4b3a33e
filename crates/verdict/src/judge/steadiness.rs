//! How steady a cell was while it was measured.

use std::collections::BTreeSet;

use results::columns as c;

use crate::trial_rows::TrialRows;

/// How steady a cell was in its trials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Steadiness {
    /// Trials in which it can be told.
    pub(super) told: u64,
    /// Those of them in which it was not.
    pub(super) unsteady: u64,
    /// In what.
    what: BTreeSet<String>,
    /// Trials whose warm-up ended before it came to be steady.
    never: u64,
}

impl Steadiness {
    /// By the rows of a cell for all operations of the phase that is judged.
    pub(super) fn of(whole: &TrialRows<'_>) -> Self {
        let mut steadiness = Self::default();
        for row in whole.iter() {
            let steady = row.get(&c::STEADY);
            steadiness.told += u64::from(!steady.is_empty());
            steadiness.unsteady += u64::from(steady.to_string() == "false");
            steadiness.never += u64::from(row.get(&c::WARM_UP_STEADY).to_string() == "false");
            let what = row.get(&c::UNSTEADY).to_string();
            steadiness.what.extend(what.split(", ").filter(|what| !what.is_empty()).map(str::to_owned));
        }
        steadiness
    }

    /// The number of trials in which the cell was not steady, where it can be told of any.
    pub(super) fn unsteady_trials(&self) -> Option<u64> {
        (self.told > 0).then_some(self.unsteady)
    }

    /// What a reader should know of a cell of this name.
    pub(super) fn note(&self, name: &str) -> Option<String> {
        if self.unsteady > 0 {
            let what = self.what.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            return Some(format!("not steady: {name} in {} of {} trials ({what})", self.unsteady, self.told));
        }
        let never = self.never;
        (never > 0).then(|| format!("not steady: {name} never was within its warm-up, in {never} trials"))
    }
}
