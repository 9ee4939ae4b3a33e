//! Applies a gate to the verdicts of a run, and formats verdicts as Markdown for the summary page of a CI run.

use measure::Ranked;

use super::Verdicts;
use super::judged::Judged;
use crate::gate::{GateOutcome, GateRule, Tally};
use crate::markdown::{plain, row};
use crate::words::{and_more, on_one_line, quoted, wrapped};

/// The largest number of comparisons that the text of a gate lists.
const MOST_LISTED: usize = 20;

/// The outcome of the gate of a run.
pub struct Gated {
    rule: GateRule,
    tally: Tally,
    /// Configurations without a value of the metric. The gate needs a value of every configuration.
    missing: Vec<String>,
    /// The comparisons that did not pass, each with its outcome and a sentence. The failed comparisons come first.
    listed: Vec<(GateOutcome, String)>,
}

impl Gated {
    /// Returns whether the gate passes: every configuration has a value, at least one comparison exists, and the rule
    /// accepts the outcomes of all comparisons.
    pub fn passes(&self) -> bool {
        self.missing.is_empty() && self.tally != Tally::default() && self.rule.passes(self.tally)
    }

    /// Returns one line with the outcome and the counts, then one line for each comparison that did not pass.
    pub fn text(&self) -> String {
        let mut text = wrapped("Gate: ", "      ", &self.headline());
        for (outcome, sentence) in self.listed.iter().take(MOST_LISTED) {
            text += &wrapped(&format!("  {}: ", outcome.name()), "    ", sentence);
        }
        if self.listed.len() > MOST_LISTED {
            let more = and_more(self.listed.len() - MOST_LISTED);
            text += &wrapped("  ", "    ", &format!("{}; see verdicts.csv", more.trim_start()));
        }
        text
    }

    /// Formats the first line: `FAIL: 1 of 2 numbers failed, 0 undecided, 1 passed (tolerance 5%)`.
    fn headline(&self) -> String {
        let result = if self.passes() { "PASS" } else { "FAIL" };
        if self.tally == Tally::default() && self.missing.is_empty() {
            return format!("{result}: no configuration was compared with the baseline");
        }
        let missing = match &self.missing[..] {
            [] => String::new(),
            missing => format!("; no measurements of {}", missing.join(", ")),
        };
        format!("{result}: {}{missing}", self.rule.counts(self.tally, "numbers"))
    }
}

impl Verdicts<'_> {
    /// Applies the rule of a gate to the verdicts, except to ideal bounds. A comparison is undecided if one of its
    /// values is implausible, or if the configurations are not comparable.
    pub fn gated(&self, rule: &GateRule) -> Gated {
        let gated = || self.judged.iter().flat_map(|judged| judged.gated(rule));
        let mut listed: Vec<(GateOutcome, String)> =
            gated().filter(|(outcome, _)| *outcome != GateOutcome::Passed).collect();
        listed.sort_by_key(|(outcome, _)| *outcome);
        let tally = gated().map(|(outcome, _)| outcome).collect();
        let mut missing: Vec<String> =
            self.judged.iter().flat_map(|judged| judged.unmeasured.iter().map(|name| quoted(name))).collect();
        missing.sort();
        missing.dedup();
        Gated { rule: *rule, tally, missing: missing.iter().map(|name| on_one_line(name)).collect(), listed }
    }

    /// Returns Markdown with a table of all comparisons, followed by the verdicts as sentences. If `rule` is set, the
    /// heading contains the outcome of the gate.
    pub fn markdown(&self, rule: Option<&GateRule>) -> String {
        let name = &self.experiment.name;
        let mut text = match rule.map(|rule| self.gated(rule)) {
            Some(gated) => format!("### lsmbench: {}: {}\n\n", plain(name), plain(&gated.headline())),
            None => format!("### lsmbench: {}\n\n", plain(name)),
        };
        text += "| configuration | number | base | new | change | verdict |\n|---|---|--:|--:|---|---|\n";
        for judged in &self.judged {
            for ranked in &judged.ranked {
                text += &judged.markdown_row(ranked, rule);
            }
        }
        self.sentences().iter().fold(text, |text, sentence| text + "\n" + &plain(sentence) + "\n")
    }
}

impl Judged<'_> {
    /// Applies the rule of a gate to each comparison with the baseline. Returns each outcome with a sentence.
    fn gated(&self, rule: &GateRule) -> Vec<(GateOutcome, String)> {
        let gated = self.ranked.iter().filter(|ranked| !self.is_bound(&ranked.name));
        gated.filter_map(|ranked| Some((self.outcome_at(ranked, rule)?, self.statement(ranked)))).collect()
    }

    /// Applies the rule of a gate to one comparison. Returns `None` if neither higher nor lower is better.
    fn outcome_at(&self, ranked: &Ranked, rule: &GateRule) -> Option<GateOutcome> {
        let outcome = rule.outcome(&ranked.comparison, self.column.better())?;
        let is_doubtful = self.implausible(&ranked.name).is_some() || !self.is_comparable(&ranked.name);
        Some(if is_doubtful { GateOutcome::Undecided } else { outcome })
    }

    /// Formats a comparison, and the reason if it is inconclusive:
    /// `new has 12.3% more CPU time than base (95% CI 10.2% to 14.0%) in phase get`.
    fn statement(&self, ranked: &Ranked) -> String {
        let Some(baseline) = self.entries.first() else { return String::new() };
        let doubt = match (self.implausible(&ranked.name), ranked.comparison.doubt) {
            (Some(words), _) => format!(": implausible: {words}"),
            (None, Some(doubt)) => format!(": {doubt}"),
            (None, None) => String::new(),
        };
        let change = self.change(ranked, Some(&quoted(&baseline.sample.name)));
        let (evidence, phase) = (self.evidence(ranked), &self.phase);
        format!("{change}{evidence} in phase {phase}{doubt}")
    }

    fn markdown_row(&self, ranked: &Ranked, rule: Option<&GateRule>) -> String {
        let Some((baseline, entry)) = self.both(&ranked.name) else { return String::new() };
        let [base, new] = [baseline, entry]
            .map(|of| of.sample.median().map_or_else(String::new, |value| self.value(value)));
        let within = if self.within.is_empty() { String::new() } else { format!(", {}", self.within) };
        let interval = self.interval(ranked).map_or_else(String::new, |ci| format!(" (95% CI {ci})"));
        let change = self.change_of(ranked).map_or_else(String::new, |change| change.short());
        let outcome =
            rule.filter(|_| !self.is_bound(&ranked.name)).and_then(|rule| self.outcome_at(ranked, rule));
        let word = match outcome {
            Some(outcome) => format!("{}: {}", outcome.name(), self.word(ranked)),
            None => self.word(ranked),
        };
        let cells =
            [format!("{}{within}", ranked.name), self.what(), base, new, format!("{change}{interval}"), word];
        row(cells.iter().map(String::as_str))
    }
}
