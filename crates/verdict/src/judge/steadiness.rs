//! The steadiness of a store in the trials of a configuration. The SNIA rule decides whether a trial is steady: during
//! the measurement, values such as the throughput must stay near their mean.

use std::collections::BTreeSet;

use results::columns as c;

use crate::trial_rows::TrialRows;
use crate::words::{counted, joined};

/// The steadiness of a configuration: how many of its trials were steady. In a steady trial, values such as the
/// throughput stay near their mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Steadiness {
    /// The number of trials for which the steadiness is known.
    pub(super) judged: usize,
    /// The number of trials that were not steady.
    pub(super) unsteady: usize,
    /// The names of the values that were not steady in at least one trial, such as the throughput.
    unsteady_in: BTreeSet<String>,
    /// The number of trials in which the store was still not steady when the warm-up ended.
    never: usize,
}

impl Steadiness {
    /// Reads the steadiness from the rows of a configuration that cover all operations of the phase.
    pub(super) fn of(whole: &TrialRows<'_>) -> Self {
        let mut steadiness = Self::default();
        for row in whole.iter() {
            let steady = row.get(&c::STEADY);
            steadiness.judged += usize::from(!steady.is_empty());
            steadiness.unsteady += usize::from(steady.to_string() == "false");
            steadiness.never += usize::from(row.get(&c::WARM_UP_STEADY).to_string() == "false");
            let unsteady = row.get(&c::UNSTEADY).to_string();
            steadiness
                .unsteady_in
                .extend(unsteady.split(", ").filter(|name| !name.is_empty()).map(str::to_owned));
        }
        steadiness
    }

    /// Returns the number of trials in which the configuration was not steady. Returns `None` if no trial has a known
    /// steadiness.
    pub(super) fn unsteady_trials(&self) -> Option<usize> {
        (self.judged > 0).then_some(self.unsteady)
    }

    /// Returns a note on the trials that were not steady. `name` is the name of the configuration in the note. Returns
    /// `None` if all trials were steady.
    pub(super) fn note(&self, name: &str) -> Option<String> {
        if self.unsteady > 0 {
            return Some(format!(
                "Not steady: in {unsteady} of {judged} of {name}, {values} varied more than the SNIA rule allows.",
                unsteady = self.unsteady,
                judged = counted(self.judged, "trial"),
                values = joined(&self.unsteady_in.iter().cloned().collect::<Vec<_>>()),
            ));
        }
        (self.never > 0).then(|| {
            format!(
                "Not steady: {name} did not become steady within its warm-up in {trials}.",
                trials = counted(self.never, "trial")
            )
        })
    }
}
