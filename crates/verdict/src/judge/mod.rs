//! Judges the configurations of an experiment: which configuration is better, by how much, and with which confidence.

mod cause_notes;
mod causes;
mod chance;
mod counter;
mod few;
mod gated;
mod group;
mod judged;
mod machines;
mod notes;
mod price;
mod record;
mod resolution;
mod sentence;
mod steadiness;
mod stopping;
mod table;
mod text;

use std::path::Path;

use measure::{Ranked, Verdict, adjust};
use results::{Folder, Look, Manifest, Row, Table, columns as c};
use types::Outcome;

use self::group::groups;
use self::judged::{Judged, metrics};
use crate::facts::ExperimentFacts;
use crate::words::{counted, wrapped};

pub use causes::PhaseCounters;
pub use gated::Gated;
pub use group::{baselines, noisy_baselines};
pub use judged::judged_phase;
pub use machines::Machines;
pub(crate) use resolution::holds_found_rate;
pub use stopping::LOOKS_ALPHA;

/// The largest total number of lines in the tables of a component experiment. If the tables have more lines, only the
/// last table is printed.
const MOST_LINES: usize = 80;

/// The sentence of a quick run, which has no verdict.
pub const NO_QUICK_VERDICT: &str =
    "quick run (reduced size). Rerun without --quick before drawing conclusions.";

/// Returns the verdicts on the results in a folder as text: one paragraph for each group of configurations and each
/// metric.
pub fn sentences(experiment: &ExperimentFacts<'_>, folder: &Folder) -> Outcome<Vec<String>> {
    Ok(read(experiment, folder)?.sentences())
}

/// Returns the tables and verdicts that a full run prints for the results in a folder.
pub fn screen(experiment: &ExperimentFacts<'_>, folder: &Folder) -> Outcome<String> {
    Ok(read(experiment, folder)?.text(false))
}

/// Returns the rows of the verdicts that are computed from only the first `rounds` rounds of the results in a folder.
pub fn rows_of_rounds(experiment: &ExperimentFacts<'_>, folder: &Folder, rounds: u64) -> Outcome<Vec<Row>> {
    let first = |path: &Path| -> Outcome<Table> {
        let table = Table::read(path)?;
        let is_first = |row: &&Row| row.get(&c::TRIAL).integer().is_some_and(|trial| trial < rounds);
        let rows = table.rows().iter().filter(is_first).cloned().collect();
        Ok(Table::new(table.schema().clone(), rows))
    };
    Ok(Verdicts::of(experiment, &first(&folder.runs())?, &first(&folder.noise())?, &[])?.rows())
}

/// Reads the results in a folder, and computes their verdicts.
fn read<'a>(experiment: &'a ExperimentFacts<'a>, folder: &Folder) -> Outcome<Verdicts<'a>> {
    let runs = Table::read(&folder.runs())?;
    let noise = match folder.noise().exists() {
        true => Table::read(&folder.noise())?,
        false => Table::new(runs.schema().clone(), Vec::new()),
    };
    let looks = Manifest::read(&folder.manifest()).map(|manifest| manifest.looks).unwrap_or_default();
    Verdicts::of(experiment, &runs, &noise, &looks)
}

/// Formats the result of a group of configurations for a metric: the caption, the table if `is_shown`, and the verdict.
/// For a quick run, warnings replace the verdict.
fn block(judged: &Judged<'_>, is_shown: bool, is_quick: bool) -> String {
    let mut text = wrapped("", "  ", &judged.caption());
    if is_shown && !judged.entries.is_empty() {
        text.extend(["\n", &judged.table(), "\n"]);
    }
    match is_quick {
        true => text += &judged.warnings(),
        false => text.extend(judged.statements().iter().map(sentence::Statement::lines)),
    }
    text
}

/// Formats the verdicts on all metrics after the first. `first` contains the verdicts on the first metric, and
/// `further` the verdicts on each further metric, with the groups of configurations in the same order.
fn briefs(further: &[&Judged<'_>], first: &[&Judged<'_>], is_quick: bool) -> String {
    let mut noted: Vec<String> = first.iter().flat_map(|judged| judged.remarks()).collect();
    let pairs = further.iter().zip(first.iter().cycle());
    pairs.map(|(judged, first)| brief(judged, first, &mut noted, is_quick)).collect()
}

/// Formats the verdict of a group on a further metric as one paragraph, with its cautions. `first` is the verdict of
/// the group on the first metric. The paragraph omits all statements of `first`, and all cautions that `noted` already
/// contains. Its own cautions are added to `noted`. Returns an empty text if nothing remains.
fn brief(judged: &Judged<'_>, first: &Judged<'_>, noted: &mut Vec<String>, is_quick: bool) -> String {
    let warned = first.warnings();
    let (said, mut statements) = (first.statements(), judged.statements());
    statements.retain(|of| if of.is_verdict() { !is_quick } else { !warned.contains(&of.lines()) });
    statements.iter_mut().for_each(|of| of.omit(&said));
    let what = if judged.phase == first.phase { judged.title() } else { judged.what() };
    let mut cautions = judged.cautions();
    cautions.retain(|note| !noted.contains(note));
    noted.extend(cautions.iter().cloned());
    if statements.is_empty() && cautions.is_empty() {
        return String::new();
    }
    // The title of the metric begins the paragraph.
    let (summary, title) = (judged.summary(&what, &statements), judged.title());
    let summary = summary.replace(&format!(", {title} "), ", ").replace(&format!(" {title} ("), " (");
    let others = if is_quick || statements.is_empty() { String::new() } else { judged.others() };
    wrapped("Also: ", "      ", &format!("{summary}{others} {}", cautions.join(" ")))
}

/// Formats the notes below a verdict: the facts in one paragraph, and each remark on a separate line. `is_kept` selects
/// the notes. Its second argument is true for a fact and false for a remark.
fn noted(facts: &[String], remarks: &[String], is_kept: impl Fn(&String, bool) -> bool) -> String {
    let facts: Vec<&str> = facts.iter().filter(|note| is_kept(note, true)).map(String::as_str).collect();
    let remarks = remarks.iter().filter(|note| is_kept(note, false));
    let paragraph = if facts.is_empty() { String::new() } else { wrapped("  ", "    ", &facts.join(" ")) };
    remarks.fold(paragraph, |text, note| text + &wrapped("  ", "    ", note))
}

/// The verdicts on the results of an experiment.
pub struct Verdicts<'a> {
    experiment: &'a ExperimentFacts<'a>,
    /// The values and comparisons of each group of configurations for each metric.
    judged: Vec<Judged<'a>>,
}

impl<'a> Verdicts<'a> {
    /// Computes the verdicts of an experiment from its rows `runs`.
    ///
    /// * `noise` contains the rows of additional trials of the baselines. They show how much values differ by noise
    ///   alone.
    /// * `looks` contains the times during the run at which lsmbench evaluated the verdicts. Only a run with a time
    ///   budget has such times.
    ///
    /// The p-values are corrected for the number of comparisons in all verdicts.
    pub fn of(
        experiment: &'a ExperimentFacts<'a>,
        runs: &Table,
        noise: &Table,
        looks: &[Look],
    ) -> Outcome<Self> {
        let (groups, metrics) = (groups(experiment), metrics(experiment, runs));
        let pairs = metrics.iter().flat_map(|metric| groups.iter().map(move |group| (group, metric)));
        let candidates: usize = groups.iter().map(|group| group.cells.len().saturating_sub(1)).sum();
        let comparisons = candidates * metrics.len();
        let judged = pairs
            .map(|(group, metric)| Judged::new(experiment, (runs, noise, looks), group, metric, comparisons));
        let mut judged: Vec<Judged<'a>> = judged.collect::<Outcome<_>>()?;
        let family = || judged.iter().flat_map(|judged| &judged.ranked);
        let family = family().filter(|ranked| ranked.comparison.p_value.is_some()).count();
        judged.iter_mut().for_each(|judged| judged.family = family);
        adjust(judged.iter_mut().flat_map(Judged::comparisons));
        Ok(Self { experiment, judged })
    }

    /// Returns whether every confidence interval is narrow enough: its relative half-width must be at most `precision`.
    /// Returns false if there are no comparisons, or if a comparison has no interval.
    pub fn reach_no_further_than(&self, precision: f64) -> bool {
        let is_narrow = |ranked: &Ranked| {
            let interval = ranked.comparison.interval;
            interval.is_some_and(|interval| (interval.high / interval.low).ln() <= 2.0 * precision.ln_1p())
        };
        let mut comparisons = self.judged.iter().flat_map(|judged| &judged.ranked).peekable();
        comparisons.peek().is_some() && comparisons.all(is_narrow)
    }

    /// Returns each pair of a candidate and a baseline for which a verdict on a time or a rate found a difference, as
    /// the numbers of the two configurations. The pairs are in the order of the verdicts, without duplicates.
    pub fn decided_on_time(&self) -> Vec<(u64, u64)> {
        let mut pairs = Vec::new();
        for judged in self.judged.iter().filter(|judged| judged.is_of_time()) {
            let is_decided = |ranked: &&Ranked| {
                matches!(ranked.comparison.verdict, Verdict::Improved | Verdict::Regressed)
            };
            for ranked in judged.ranked.iter().filter(is_decided) {
                let both = judged.both(&ranked.name);
                let pair = both.map(|(baseline, entry)| (entry.cell.number, baseline.cell.number));
                pairs.extend(pair.filter(|pair| !pairs.contains(pair)));
            }
        }
        pairs
    }

    /// Returns the verdicts as a short text. Each group of configurations has a table, a verdict and notes for the
    /// first metric, and one paragraph for each further metric. A quick run has no verdict, because its sizes are
    /// reduced.
    pub fn text(&self, is_quick: bool) -> String {
        let is_first_metric = |judged: &Judged<'_>| judged.column == self.judged[0].column;
        let (first, further): (Vec<_>, Vec<_>) =
            self.judged.iter().partition(|judged| is_first_metric(judged));
        let lines: usize = first.iter().map(|judged| judged.entries.len()).sum();
        let is_whole = self.experiment.component.is_none() || lines <= MOST_LINES;
        let shown = &first[if is_whole { 0 } else { first.len() - 1 }..];
        let facts: Vec<Vec<String>> = shown.iter().map(|judged| judged.facts()).collect();
        let remarks: Vec<Vec<String>> = shown.iter().map(|judged| judged.remarks()).collect();
        let is_common = |note: &String, is_fact: bool| {
            let all = if is_fact { &facts } else { &remarks };
            all.iter().all(|notes| notes.contains(note))
        };
        let mut text: String = first[..first.len() - shown.len()]
            .iter()
            .map(|judged| block(judged, false, is_quick) + "\n")
            .collect();
        for (judged, (facts, remarks)) in shown.iter().zip(facts.iter().zip(&remarks)) {
            text += &(block(judged, true, is_quick) + "\n");
            let own = noted(facts, remarks, |note, is_fact| !is_common(note, is_fact));
            if !own.is_empty() {
                text += &(own + "\n");
            }
        }
        let common = facts.first().zip(remarks.first());
        let common = common.map_or_else(String::new, |(facts, remarks)| noted(facts, remarks, is_common));
        let further = briefs(&further, &first, is_quick);
        // Verdicts and notes of one group stand together.
        let mut parts = match shown.len() {
            1 => vec![text.trim_end().to_owned() + "\n" + &further + &common],
            _ => vec![text + &further, common],
        };
        parts.extend(is_quick.then(|| wrapped("No verdict: ", "            ", NO_QUICK_VERDICT)));
        parts.extend((!is_whole).then(|| {
            let others = counted(first.len() - shown.len(), "other table");
            wrapped("  ", "    ", &format!("This text omits {others}; see verdicts.csv."))
        }));
        let parts: Vec<&str> =
            parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect();
        parts.join("\n\n") + "\n"
    }

    /// Returns the verdicts as paragraphs, one for each metric of each group of configurations. If there is only one
    /// paragraph, about more than two configurations, a sentence with the values of all configurations follows.
    pub fn sentences(&self) -> Vec<String> {
        let sentences = self.judged.iter().map(Judged::paragraph);
        let values = match &self.judged[..] {
            [judged] if judged.entries.len() > 2 => judged.values(),
            _ => None,
        };
        sentences.chain(values).collect()
    }

    /// Returns the rows of `verdicts.csv`.
    pub fn rows(&self) -> Vec<Row> {
        self.judged.iter().flat_map(|judged| judged.rows(&self.experiment.name)).collect()
    }
}
