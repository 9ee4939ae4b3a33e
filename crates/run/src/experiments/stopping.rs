//! Decides for a run with a time budget when to evaluate the verdicts, when to end, and which configurations to stop
//! early.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use experiment::Trials;
use measure::{FEWEST_BLOCKS, Outlook, Spending, is_look};
use results::Look;
use verdict::LOOKS_ALPHA;

/// The state of a run with a time budget: the evaluations of the verdicts so far, and the configurations that have
/// stopped.
pub(super) struct Stopping {
    /// The time budget of the run in seconds. `None` for a run without a budget.
    budget: Option<f64>,
    /// The largest number of rounds of trials that the experiment allows.
    most_rounds: u64,
    started: Instant,
    spending: Spending,
    /// The evaluations of the verdicts during the run so far, in order.
    pub(super) looks: Vec<Look>,
    /// The numbers of the configurations that run no further trials, because their verdicts are decided.
    stopped: BTreeSet<u64>,
}

/// The next step of a run with a time budget after a round of trials.
pub(super) enum Next {
    /// The run continues with the next round.
    GoOn,
    /// The run evaluates its verdicts now. The remaining budget probably suffices for `more_rounds` further rounds.
    Look { more_rounds: usize },
    /// The run ends now. The text is the reason.
    End(String),
}

impl Stopping {
    /// Creates the state of a run with a time budget, at the start of the run.
    pub(super) fn new(trials: &Trials) -> Self {
        Self {
            budget: trials.budget.map(|budget| budget.0 as f64 / 1e9),
            most_rounds: trials.count,
            started: Instant::now(),
            spending: Spending::new(LOOKS_ALPHA),
            looks: Vec::new(),
            stopped: BTreeSet::new(),
        }
    }

    /// Returns whether the configuration with the number `cell` runs no further trials, because its verdicts are
    /// decided.
    pub(super) fn has_stopped(&self, cell: u64) -> bool {
        self.stopped.contains(&cell)
    }

    /// Chooses the next step of the run after `rounds` rounds of trials. Without a budget, the run always continues.
    pub(super) fn next(&mut self, rounds: u64) -> Next {
        let Some(budget) = self.budget.filter(|_| rounds > 0) else { return Next::GoOn };
        let seconds = self.started.elapsed().as_secs_f64();
        let more = ((budget - seconds) * rounds as f64 / seconds).max(0.0);
        let more_rounds = (more as u64).min(self.most_rounds.saturating_sub(rounds));
        let is_last = more_rounds == 0;
        if rounds < FEWEST_BLOCKS as u64 {
            let reason = format!(
                "the time in trials.budget is used up before the {FEWEST_BLOCKS} rounds that a verdict needs"
            );
            return if is_last { Next::End(reason) } else { Next::GoOn };
        }
        if !is_look(rounds as usize) && !is_last {
            return Next::GoOn;
        }
        let level = self.spending.look(if is_last { 1.0 } else { seconds / budget });
        self.looks.push(Look { rounds, seconds, level });
        Next::Look { more_rounds: more_rounds as usize }
    }

    /// Stops the configurations whose verdicts are decided. `outlooks` contains a forecast for each configuration:
    /// whether more rounds can decide its verdict. Returns the configurations that stop now, and the reason why the
    /// whole run ends, if it ends.
    pub(super) fn judge(
        &mut self,
        outlooks: &BTreeMap<u64, Outlook>,
        more_rounds: usize,
    ) -> (Vec<u64>, Option<String>) {
        let is_decided = |outlook: &Outlook| matches!(outlook, Outlook::Decided(_));
        let decided = outlooks.iter().filter(|(_, outlook)| is_decided(outlook)).map(|(cell, _)| *cell);
        let new: Vec<u64> = decided.filter(|cell| self.stopped.insert(*cell)).collect();
        let is_open = outlooks.is_empty() || outlooks.values().any(|outlook| *outlook == Outlook::Open);
        let reason = match is_open {
            false if outlooks.values().all(is_decided) => Some("all verdicts are decided"),
            false => Some("the rest of the time in trials.budget is unlikely to decide another verdict"),
            true if more_rounds == 0 => Some("the time in trials.budget is used up"),
            true => None,
        };
        (new, reason.map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use measure::Verdict;

    use super::*;

    #[test]
    fn decided_configurations_stop_and_the_others_go_on() {
        let mut stopping = Stopping::new(&Trials::default());
        let (regressed, open) = (Outlook::Decided(Verdict::Regressed), Outlook::Open);
        let (new, reason) = stopping.judge(&BTreeMap::from([(1, regressed), (2, open)]), 9);
        assert_eq!((new, reason), (vec![1], None));
        assert!(stopping.has_stopped(1) && !stopping.has_stopped(2));
        let (new, reason) = stopping.judge(&BTreeMap::from([(1, regressed), (2, open)]), 0);
        assert_eq!((new, reason.unwrap().as_str()), (vec![], "the time in trials.budget is used up"));
        let (_, reason) = stopping.judge(&BTreeMap::from([(1, regressed), (2, Outlook::Hopeless)]), 9);
        assert!(reason.unwrap().contains("is unlikely to decide"));
        let (new, reason) = stopping.judge(&BTreeMap::from([(1, regressed), (2, regressed)]), 9);
        assert_eq!((new, reason.unwrap().as_str()), (vec![2], "all verdicts are decided"));
        // Without a budget nothing is looked at.
        assert!(matches!(stopping.next(6), Next::GoOn));
    }
}
