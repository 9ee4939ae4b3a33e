//! The prospects of a run with a time budget: which verdicts are already decided, and which other verdicts the rest of
//! the budget may decide. A look is an evaluation of the verdicts during the run.

use std::collections::BTreeMap;

use measure::{Outlook, outlook};

use super::Verdicts;
use super::judged::Judged;
use crate::words::{and_more, counted, quoted};

/// The error rate of all evaluations of the verdicts during a run: the probability of at least one false difference.
pub const LOOKS_ALPHA: f64 = 0.05;

/// The share of the error rate that a forecast reserves for the evaluation of the verdicts at the end of the run.
const LAST_SHARE: f64 = 0.4;

/// The largest number of configurations that the note about early decisions names.
const MOST_NAMED: usize = 6;

impl Verdicts<'_> {
    /// Forecasts the verdict of each candidate: already decided, still open, or unlikely to be decided within the time
    /// budget. The key is the number of the candidate. `more_rounds` is the number of further rounds that fit into the
    /// budget.
    pub fn outlooks(&self, more_rounds: usize) -> BTreeMap<u64, Outlook> {
        let mut outlooks: BTreeMap<u64, Outlook> = BTreeMap::new();
        for (cell, new) in self.judged.iter().flat_map(|judged| judged.outlooks(more_rounds)) {
            let known = outlooks.entry(cell).or_insert(new);
            *known = match (*known, new) {
                (Outlook::Open, _) | (_, Outlook::Open) => Outlook::Open,
                (Outlook::Hopeless, _) | (_, Outlook::Hopeless) => Outlook::Hopeless,
                (decided, Outlook::Decided(_)) => decided,
            };
        }
        outlooks
    }
}

impl Judged<'_> {
    fn outlooks(&self, more_rounds: usize) -> Vec<(u64, Outlook)> {
        let of = |ranked: &measure::Ranked| {
            let (baseline, entry) = self.both(&ranked.name)?;
            let comparison = &ranked.comparison;
            let prospect = match self.has_verdict(&ranked.name) {
                true => outlook(
                    &baseline.sample,
                    &entry.sample,
                    comparison.verdict,
                    (comparison.delta, LAST_SHARE * LOOKS_ALPHA),
                    more_rounds,
                ),
                false => Outlook::Hopeless,
            };
            Some((entry.cell.number, prospect))
        };
        self.ranked.iter().filter_map(of).collect()
    }

    /// Returns a note about the evaluations of the verdicts during the run, and about the configurations that stopped
    /// early. Returns `None` for a run without a time budget.
    pub(super) fn looks_note(&self) -> Option<String> {
        let looks: Vec<String> = self.looks.iter().map(|look| look.rounds.to_string()).collect();
        if looks.is_empty() {
            return None;
        }
        let all = self.trials();
        let early = self.entries.iter().filter(|entry| entry.sample.blocks.len() < all);
        let early: Vec<String> = early
            .map(|entry| {
                let rounds = counted(entry.sample.blocks.len(), "round");
                format!("{} after {rounds}", quoted(&entry.sample.name))
            })
            .collect();
        let stopped = if early.is_empty() {
            String::new()
        } else {
            let more = and_more(early.len().saturating_sub(MOST_NAMED));
            format!(
                " Decided and stopped early: {names}{more}.",
                names = early[..early.len().min(MOST_NAMED)].join(", ")
            )
        };
        let rounds = looks.join(", ");
        Some(format!(
            "Verdicts were evaluated after {rounds} rounds; all evaluations together have an error rate of \
             5%.{stopped}"
        ))
    }
}
