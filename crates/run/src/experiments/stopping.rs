//! The budget of a run: when it looks at its verdicts, when it ends, and which configurations stop before the others.

use std::collections::BTreeSet;
use std::time::Instant;

use experiment::Trials;
use measure::{FEWEST_BLOCKS, Outlook, Spending, is_look};
use results::Look;
use types::Outcome;
use verdict::LOOKS_ALPHA;

use super::{Books, Run};

/// The state of a run with a budget.
pub(super) struct Stopping {
    /// The budget in seconds; `None` without one.
    budget: Option<f64>,
    /// The number of rounds of the experiment.
    most_rounds: u64,
    started: Instant,
    spending: Spending,
    /// The indices of configurations whose verdicts are decided.
    stopped: BTreeSet<usize>,
}

impl Stopping {
    /// The state at the start of a run.
    pub(super) fn new(trials: &Trials) -> Self {
        Self {
            budget: trials.budget.map(|budget| budget.0 as f64 / 1e9),
            most_rounds: trials.count,
            started: Instant::now(),
            spending: Spending::new(LOOKS_ALPHA),
            stopped: BTreeSet::new(),
        }
    }

    /// Whether the verdicts of a configuration are decided, so that it runs no more.
    pub(super) fn has_stopped(&self, cell: usize) -> bool {
        self.stopped.contains(&cell)
    }

    /// Looks at the verdicts after so many rounds, if it is time to. Decided configurations stop. Returns the reason why the run
    /// ends; `None` if it goes on. `print` prints a line.
    pub(super) fn look(
        &mut self,
        run: &Run<'_>,
        books: &mut Books,
        rounds: u64,
        print: impl Fn(&str),
    ) -> Outcome<Option<String>> {
        let Some(budget) = self.budget else { return Ok(None) };
        if rounds == 0 {
            return Ok(None);
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let more = ((budget - seconds) * rounds as f64 / seconds).max(0.0);
        let more_rounds = (more as u64).min(self.most_rounds.saturating_sub(rounds));
        let is_last = more_rounds == 0;
        if rounds < FEWEST_BLOCKS as u64 {
            let reason = format!("trials.budget allows {rounds} rounds; a verdict needs {FEWEST_BLOCKS}");
            return Ok(is_last.then_some(reason));
        }
        if !is_look(rounds as usize) && !is_last {
            return Ok(None);
        }
        let level = self.spending.look(if is_last { 1.0 } else { seconds / budget });
        books.manifest.looks.push(Look { rounds, seconds, level });
        let verdicts = run.verdicts(&books.manifest.looks)?;
        let outlooks = verdicts.outlooks(more_rounds as usize);
        for (place, cell) in run.experiment.cells.iter().enumerate() {
            if let Some(Outlook::Decided(verdict)) = outlooks.get(&cell.number)
                && !is_last
                && self.stopped.insert(place)
            {
                print(&format!("  {} is decided after {rounds} rounds: {verdict}", cell.label));
            }
        }
        let is_open = outlooks.values().any(|outlook| *outlook == Outlook::Open);
        let is_decided = outlooks.values().all(|outlook| matches!(outlook, Outlook::Decided(_)));
        Ok(match (is_open, is_decided) {
            (_, true) if !outlooks.is_empty() => Some("every verdict is decided".to_owned()),
            (false, _) => Some("the rest of trials.budget would hardly decide a verdict".to_owned()),
            (true, _) if is_last => Some("trials.budget is used up".to_owned()),
            (true, _) => None,
        })
    }
}
