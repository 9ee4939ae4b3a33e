//! The sentences of a verdict. Each outcome has its own sentence, with the reason and the next step.

use std::collections::BTreeSet;

use measure::{Comparison, Doubt, FEWEST_BLOCKS, Ranked, Verdict};
use results::columns::ALL;
use results::{Better, RunMode, Unit};

use super::judged::{Entry, Judged, is_confounded};
use super::price::ALIKE;
use crate::change::{Change, comparative, direction, is_speed};
use crate::words::{and_more, counted, listed, percent, quoted, shown, wrapped};

/// A verdict mentions the memory of two designs only if their memory differs by more than this fraction.
const EQUAL_MEMORY: f64 = 0.02;

/// The largest number of configurations that a sentence names.
const MOST_NAMED: usize = 6;

/// The largest number of settings that a warning names.
const MOST_SETTINGS: usize = 4;

/// The largest limit, as a fraction, in the verdict "no difference". This verdict states that the difference of each
/// candidate from the baseline is within a limit.
const WIDEST_EQUIVALENCE: f64 = 0.1;

/// A statement about one outcome: its first word, followed by sentences.
pub(super) struct Statement {
    /// The first word of the statement: `Verdict`, `No verdict`, `WARNING` or `INVALID`.
    word: &'static str,
    /// The sentences of the statement. On a terminal, each sentence starts on a new line.
    sentences: Vec<String>,
}

impl Statement {
    /// Creates a statement of one sentence.
    pub(super) fn new(word: &'static str, sentence: impl Into<String>) -> Self {
        Self { word, sentences: vec![sentence.into()] }
    }

    fn verdict(sentence: impl Into<String>) -> Self {
        Self::new("Verdict", sentence)
    }

    fn none(sentence: impl Into<String>) -> Self {
        Self::new("No verdict", sentence)
    }

    fn and(mut self, sentences: impl IntoIterator<Item = String>) -> Self {
        self.sentences.extend(sentences);
        self
    }

    /// Removes the sentences that an earlier statement in `said` already contains. The first sentence always remains.
    pub(super) fn omit(&mut self, said: &[Statement]) {
        let is_said = |sentence: &String| said.iter().any(|of| of.sentences.contains(sentence));
        let rest = self.sentences.split_off(1);
        self.sentences.extend(rest.into_iter().filter(|sentence| !is_said(sentence)));
    }

    /// Returns whether the statement is a verdict, or states that no verdict is possible.
    pub(super) fn is_verdict(&self) -> bool {
        ["Verdict", "No verdict"].contains(&self.word)
    }

    /// Formats the statement as lines for a terminal.
    pub(super) fn lines(&self) -> String {
        let rest = " ".repeat(self.word.len() + 2);
        let mut first = format!("{}: ", self.word);
        let mut text = String::new();
        for sentence in &self.sentences {
            text += &wrapped(&first, &rest, sentence);
            first.clone_from(&rest);
        }
        text
    }

    /// Joins the sentences of the statement to one paragraph. Leaves out the word `Verdict` at its start.
    pub(super) fn paragraph(&self) -> String {
        let text = self.sentences.join(" ");
        if self.word == "Verdict" { text } else { format!("{}: {text}", self.word) }
    }
}

impl Judged<'_> {
    /// Returns all statements about a group of configurations, in this order: wrong answers and other warnings about
    /// values, the verdict, and the warning about configurations that differ in several settings.
    pub(super) fn statements(&self) -> Vec<Statement> {
        let mut all: Vec<Statement> = Vec::new();
        all.extend(self.wrong.iter().map(|(cell, count)| {
            let answers = counted(usize::try_from(*count).unwrap_or(usize::MAX), "wrong answer");
            let cell = quoted(cell);
            Statement::new(
                "INVALID",
                format!("{cell} returned {answers}; its results are discarded. Exit status 1."),
            )
        }));
        if !self.dropping.is_empty() {
            let (cells, pronoun) =
                (listed(&self.dropping), if self.dropping.len() == 1 { "it" } else { "they" });
            let text = format!(
                "{cells} dropped data that later operations requested, so {pronoun} did less work than the \
                 other configurations."
            );
            all.push(Statement::new("WARNING", text));
        }
        let Some(baseline) = self.entries.first() else {
            all.push(Statement::none(format!(
                "no configuration has a value of {metric}.",
                metric = self.what()
            )));
            return all;
        };
        let name = quoted(&baseline.sample.name);
        if let Some(words) = self.implausible(&baseline.sample.name) {
            all.push(Statement::none(format!("the values of {name} are implausible ({words}).")));
            return all;
        }
        let marked: Vec<&str> = self.names(|ranked| self.implausible(&ranked.name).is_some());
        if !marked.is_empty() {
            let text = format!(
                "implausible values of {names} have no verdict; see runs.csv, column implausible.",
                names = listed(&marked)
            );
            all.push(Statement::new("WARNING", text));
        }
        all.push(self.outcome(baseline));
        all.extend(self.confounded(&name));
        all
    }

    /// Returns the statement that compares the configurations with the baseline.
    fn outcome(&self, baseline: &Entry<'_>) -> Statement {
        let name = quoted(&baseline.sample.name);
        let others: Vec<&Ranked> = self.ranked.iter().filter(|other| self.has_verdict(&other.name)).collect();
        let Some(best) = others.first() else {
            return self.nothing_to_compare(&name, baseline);
        };
        let all = |verdict| others.iter().all(|other| other.comparison.verdict == verdict);
        if best.comparison.verdict == Verdict::Improved {
            self.improved(&name, best, &others[1..])
        } else if all(Verdict::Regressed) {
            self.regressed(&name, &others)
        } else if all(Verdict::Equivalent) {
            self.equivalent(&name, &others)
        } else {
            self.undecided(&name, best, &others[1..])
        }
    }

    fn nothing_to_compare(&self, name: &str, baseline: &Entry<'_>) -> Statement {
        let value = baseline.sample.median().map_or_else(String::new, |value| self.value(value));
        let why = match self.ranked.iter().all(|other| self.is_bound(&other.name)) {
            _ if self.ranked.is_empty() => "no other configuration was measured".to_owned(),
            true => "all other configurations are ideal bounds".to_owned(),
            false => format!(
                "no other configuration is comparable, because {costs} differ by more than {limit:.0}%",
                costs = self.prices.names().join(" and "),
                limit = ALIKE * 100.0
            ),
        };
        Statement::none(format!("{why}. {name} has {value} {title}.", title = self.title()))
    }

    fn improved(&self, baseline: &str, best: &Ranked, others: &[&Ranked]) -> Statement {
        let mut text = format!("{}{}.", self.change(best, Some(baseline)), self.evidence(best));
        text += &self.exactness();
        let better: Vec<&Ranked> =
            others.iter().copied().filter(|other| other.comparison.verdict == Verdict::Improved).collect();
        Statement::verdict(text).and(self.also(baseline, &better)).and(self.other_memory(best))
    }

    /// Returns the sentence that names the other configurations that are better than the baseline: `lazy-leveled and
    /// l0-tiered are also faster than leveled.`
    fn also(&self, baseline: &str, better: &[&Ranked]) -> Option<String> {
        let names: Vec<&str> = better.iter().take(MOST_NAMED).map(|other| &*other.name).collect();
        let first = better.first()?;
        let is_up = first.comparison.ratio.is_some_and(|ratio| ratio > 1.0);
        let (unit, title) = (self.column.unit(), self.title());
        let names = listed(&names) + &and_more(better.len() - names.len());
        Some(match (is_speed(unit), better.len()) {
            (true, 1) => format!("{names} is also {faster} than {baseline}.", faster = self.direction(is_up)),
            (true, _) => {
                format!("{names} are also {faster} than {baseline}.", faster = self.direction(is_up))
            }
            (false, 1) => {
                format!("{names} also has {lower} {title} than {baseline}.", lower = self.direction(is_up))
            }
            (false, _) => {
                format!("{names} also have {lower} {title} than {baseline}.", lower = self.direction(is_up))
            }
        })
    }

    fn regressed(&self, baseline: &str, others: &[&Ranked]) -> Statement {
        let changes: Vec<String> = others
            .iter()
            .take(MOST_NAMED)
            .map(|other| format!("{}{}", self.change(other, None), self.evidence(other)))
            .collect();
        let more = and_more(others.len() - changes.len());
        let exact = self.exactness();
        Statement::verdict(format!(
            "{baseline} is best. {changes}{more}.{exact}",
            changes = changes.join(", ")
        ))
    }

    fn equivalent(&self, baseline: &str, others: &[&Ranked]) -> Statement {
        let most = others.iter().map(|other| other.comparison.delta).fold(0.0, f64::max);
        let within = percent(most.min(WIDEST_EQUIVALENCE)).replace(".0%", "%");
        let how = match (self.is_exact(), others.len()) {
            (true, _) if self.seeds > 1 => {
                format!(" (exact, the same for all {seeds} seeds)", seeds = self.seeds)
            }
            (true, _) => " (exact, counted mode)".to_owned(),
            (false, 1) => self.interval(others[0]).map_or_else(String::new, |ci| format!(" (95% CI {ci})")),
            (false, _) => " (95% CIs inside the threshold)".to_owned(),
        };
        let who = match others {
            [one] => format!("{} is", quoted(&one.name)),
            _ => "All candidates are".to_owned(),
        };
        Statement::verdict(format!("no difference. {who} within {within} of {baseline}{how}."))
    }

    /// Returns the statement if no candidate is better than the baseline, and the verdicts of the candidates differ or
    /// are inconclusive.
    fn undecided(&self, baseline: &str, best: &Ranked, others: &[&Ranked]) -> Statement {
        let comparison = &best.comparison;
        let name = quoted(&best.name);
        let more = 2 * self.trials().max(FEWEST_BLOCKS);
        let trials = match self.experiment.mode {
            RunMode::Timed => format!("More trials may decide: --trials {more}."),
            RunMode::Counted => format!("More seeds may decide: --set trials.seeds={more}."),
        };
        let size = self.size_of(best);
        let p = comparison.p_value.map_or_else(String::new, |p| format!("p = {}", p_value(p)));
        let closest = format!("Closest: {name}, {}", self.closeness(best));
        let statement = match (comparison.verdict, comparison.doubt) {
            (_, Some(Doubt::TooFewBlocks { blocks: 0 })) => {
                Statement::none(format!("no trial has values of both {name} and {baseline}."))
            }
            (_, Some(Doubt::OneSeed)) => Statement::none(format!(
                "one seed: the difference may hold only for this seed. {change}{evidence}.",
                change = self.change(best, Some(baseline)),
                evidence = self.evidence(best)
            ))
            .and(["More seeds may decide: --set trials.seeds=8.".to_owned()]),
            (_, Some(Doubt::TooFewBlocks { blocks })) if self.experiment.mode == RunMode::Counted => {
                Statement::none(format!(
                    "{seeds}; a verdict over seeds needs at least {FEWEST_BLOCKS} (--set trials.seeds={FEWEST_BLOCKS}).",
                    seeds = counted(blocks, "seed")
                ))
            }
            (_, Some(Doubt::TooFewBlocks { blocks })) => Statement::none(format!(
                "{trials}; a timed verdict needs at least {FEWEST_BLOCKS} (--trials {FEWEST_BLOCKS}).",
                trials = counted(blocks, "trial")
            )),
            (_, Some(Doubt::TooNoisy)) => Statement::verdict(format!(
                "inconclusive. No candidate beats {baseline}. {closest}; the CI includes zero."
            ))
            .and([trials]),
            (_, Some(Doubt::TooSmall)) => Statement::verdict(format!(
                "inconclusive. {name} differs by {size}, below the {limit}.",
                limit = self.threshold(comparison)
            ))
            .and([self.against_noise(comparison, trials)]),
            (_, Some(Doubt::OneOfMany { comparisons })) => Statement::verdict(format!(
                "inconclusive. {name} is not significant after correction for {comparisons} ({p}).",
                comparisons = counted(comparisons, "comparison")
            ))
            .and([trials]),
            (_, Some(Doubt::Chance)) => Statement::verdict(format!(
                "inconclusive. {name} differs by {size}, but it is not significant ({p} > 0.05)."
            ))
            .and([trials]),
            (_, Some(Doubt::SometimesZero)) => Statement::verdict(format!(
                "inconclusive. {metric} is 0 in some trials, so the ratio is undefined. Longer phases may avoid the \
                 value 0.",
                metric = self.title()
            )),
            (_, Some(Doubt::NoDirection)) => Statement::verdict(format!(
                "inconclusive. {closest}, but neither higher nor lower values of {metric} are better. \
                 Judge another metric: --set verdict.metric=NAME.",
                metric = self.title()
            )),
            (_, Some(doubt)) => Statement::none(format!("{doubt}.")),
            (Verdict::Equivalent, None) => Statement::verdict(format!(
                "no candidate beats {baseline}. {closest}, within the threshold of {limit}.",
                limit = percent(comparison.equivalence_limit())
            )),
            (_, None) => Statement::verdict(format!("no candidate beats {baseline}. {closest}.")),
        };
        let worse = |other: &&Ranked| other.comparison.verdict == Verdict::Regressed;
        let worse: Vec<&str> = others.iter().copied().filter(worse).map(|other| &*other.name).collect();
        let is_verb = if worse.len() == 1 { "is" } else { "are" };
        statement.and(
            (!worse.is_empty())
                .then(|| format!("{names} {is_verb} worse than {baseline}.", names = listed(&worse))),
        )
    }

    /// Returns the advice for a difference below the threshold. If the noise floor sets the threshold, the advice is to
    /// reduce noise. Otherwise it is the advice `trials` to run more trials.
    fn against_noise(&self, comparison: &Comparison, trials: String) -> String {
        match self.noise.is_some_and(|noise| noise.floor >= comparison.delta) {
            true => {
                "Less noise may decide the comparison: `lsmbench doctor` lists sources of noise.".to_owned()
            }
            false => trials,
        }
    }

    /// Formats the limit below which differences get no verdict, with its name: `3.1% noise floor`.
    fn threshold(&self, comparison: &Comparison) -> String {
        format!("{} {}", percent(comparison.delta), self.threshold_name(comparison))
    }

    /// Returns the name of the limit below which differences are ignored: the noise floor, the precision of the rate
    /// search, or the threshold δ.
    pub(super) fn threshold_name(&self, comparison: &Comparison) -> &'static str {
        match self.noise {
            Some(noise) if noise.floor >= comparison.delta => "noise floor",
            _ if self.resolution > 0.0 && self.resolution >= comparison.delta => {
                "precision of the rate search"
            }
            _ => "threshold",
        }
    }

    /// Describes the change of a candidate that is not better than the baseline, with the metric and the interval:
    /// `get latency +6.3% (95% CI -3.6% to +22.2%)`.
    fn closeness(&self, best: &Ranked) -> String {
        let title = self.title();
        let Some(change) = self.change_of(best) else { return title };
        let interval = change.signed_interval().map_or_else(String::new, |ci| format!(" (95% CI {ci})"));
        match change.is_factor() {
            true => format!("{} {} {title}{interval}", change.size(), self.comparative(change.is_up())),
            false => format!("{title} {}{interval}", change.short()),
        }
    }

    /// Describes the change of a candidate: `tiered is 2.28x faster than leveled`. Omits the baseline if `than` is
    /// `None`.
    pub(super) fn change(&self, of: &Ranked, than: Option<&str>) -> String {
        let (name, title) = (quoted(&of.name), self.title());
        let than = than.map_or_else(String::new, |baseline| format!(" than {baseline}"));
        let Some(change) = self.change_of(of) else { return name };
        let (size, is_up) = (change.size(), change.is_up());
        if change.is_of_zero() {
            let [own, base] = self.sides(of).unwrap_or_default();
            return format!("{name} has {own} {title}, and the baseline has {base}");
        }
        let is_rate = self.column.better() == Better::Higher;
        match is_speed(self.column.unit()) && (change.is_factor() || is_rate) {
            true => format!("{name} is {size} {faster}{than}", faster = self.direction(is_up)),
            false => format!("{name} has {size} {lower} {title}{than}", lower = self.comparative(is_up)),
        }
    }

    /// Returns the evidence for a change in parentheses, such as ` (95% CI 2.18x to 2.65x)`. For exact values, counts
    /// below 100, and fractions, the evidence also contains both values. Returns an empty text if there is no evidence.
    pub(super) fn evidence(&self, of: &Ranked) -> String {
        let sides = || {
            let [own, base] = self.sides(of)?;
            Some(format!("{own} vs {base}"))
        };
        let few = Some(self.few(&of.name)).filter(|few| !few.is_empty());
        let is_zero = self.change_of(of).is_some_and(|change| change.is_of_zero());
        let is_share = self.column.unit() == Unit::Share;
        let numbers = few.or_else(|| sides().filter(|_| (self.is_exact() || is_share) && !is_zero));
        let interval = self.interval(of).map(|ci| format!("95% CI {ci}"));
        let is_same = of.comparison.interval.is_some() && of.comparison.blocks > 1 && interval.is_none();
        let constant = is_same.then(|| match self.experiment.mode {
            RunMode::Timed => "the same ratio in every trial".to_owned(),
            RunMode::Counted => "the same ratio with every seed".to_owned(),
        });
        let parts: Vec<String> =
            [interval, constant, numbers, self.other_prices_of(&of.name)].into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
    }

    /// Returns the confidence interval of a candidate's change as text. Returns `None` if the interval does not exist
    /// or has no width.
    pub(super) fn interval(&self, of: &Ranked) -> Option<String> {
        self.change_of(of).filter(|_| !self.is_exact()).and_then(|change| change.interval())
    }

    /// Formats the size of a candidate's change. Returns an empty text if the comparison has no ratio.
    fn size_of(&self, of: &Ranked) -> String {
        self.change_of(of).map_or_else(String::new, |change| change.size())
    }

    /// Describes the costs in which a component differs from the baseline, such as `fpr 1.26% vs 0.9%`.
    fn other_prices_of(&self, name: &str) -> Option<String> {
        let prices = self.other_prices(name);
        Some(prices.trim_start_matches("; ").replace(" against ", " vs ")).filter(|text| !text.is_empty())
    }

    /// Returns a sentence such as `tiered uses 52.0% more memory (15.2 MiB vs 10.0 MiB).` Returns `None` if the memory
    /// is about equal or unknown, or if the cost is not the memory of a tree.
    fn other_memory(&self, of: &Ranked) -> Option<String> {
        if !self.prices.are_memory() {
            return None;
        }
        let (baseline, entry) = self.both(&of.name)?;
        let bytes = |entry: &Entry<'_>| entry.prices.first().copied().flatten().filter(|bytes| *bytes > 0.0);
        let (base, own) = (bytes(baseline)?, bytes(entry)?);
        let ratio = own / base;
        let size = match ratio {
            ratio if (ratio - 1.0).abs() <= EQUAL_MEMORY => return None,
            ratio if ratio >= 2.0 => format!("{ratio:.2}x more"),
            ratio if ratio <= 0.5 => format!("{:.2}x less", 1.0 / ratio),
            ratio if ratio > 1.0 => format!("{} more", percent(ratio - 1.0)),
            ratio => format!("{} less", percent(1.0 - ratio)),
        };
        let [own, base] = [own, base].map(|bytes| shown(bytes, Unit::Bytes));
        Some(format!("{name} uses {size} memory ({own} vs {base}).", name = quoted(&of.name)))
    }

    /// Returns a warning that names the configurations that differ from the baseline in more than one setting. Returns
    /// `None` if there are none.
    fn confounded(&self, baseline: &str) -> Option<Statement> {
        let others: Vec<&Entry<'_>> =
            self.entries.iter().skip(1).filter(|entry| is_confounded(&entry.contrast)).collect();
        if others.is_empty() {
            return None;
        }
        let settings: BTreeSet<&str> =
            others.iter().flat_map(|entry| &entry.contrast.settings).map(String::as_str).collect();
        let named: Vec<&str> = settings.iter().copied().take(MOST_SETTINGS).collect();
        let more = and_more(settings.len() - named.len());
        let (who, verb) = match others.len() {
            1 => (quoted(&others[0].sample.name), "differs"),
            count => (format!("{count} configurations"), "differ"),
        };
        let mismatches: usize = others.iter().map(|entry| entry.contrast.unequal_terms).max().unwrap_or(0);
        let mismatches = match mismatches {
            0 => String::new(),
            count => format!(" and {}", counted(count, "mismatch").replace("mismatchs", "mismatches")),
        };
        Some(Statement::new(
            "WARNING",
            format!(
                "{who} {verb} from {baseline} in more than one setting ({settings}{more}{mismatches}); see \
                 verdicts.csv, column differs_in.",
                settings = named.join(", ")
            ),
        ))
    }

    /// Returns the names of the candidates for which `keep` returns true, best candidate first.
    pub(super) fn names(&self, keep: impl Fn(&Ranked) -> bool) -> Vec<&str> {
        self.ranked.iter().filter(|ranked| keep(ranked)).map(|ranked| &*ranked.name).collect()
    }

    /// Returns the change of a candidate relative to the baseline. For a fraction of which larger values are better,
    /// such as a hit rate, the change is in percentage points, because a percentage of a percentage is ambiguous.
    pub(super) fn change_of(&self, of: &Ranked) -> Option<Change> {
        let is_share = self.column.unit() == Unit::Share && self.column.better() == Better::Higher;
        let baseline = self.entries.first().and_then(|baseline| baseline.sample.median());
        Change::of(&of.comparison, baseline.filter(|_| is_share))
    }

    /// Formats the median of a candidate and the median of the baseline.
    fn sides(&self, of: &Ranked) -> Option<[String; 2]> {
        let (base, own) = self.both(&of.name)?;
        Some([own.sample.median()?, base.sample.median()?].map(|side| self.value(side)))
    }

    /// Returns the word for an increase (`is_up`) or a decrease of the metric, such as `faster` or `fewer`.
    pub(super) fn direction(&self, is_up: bool) -> &'static str {
        direction(self.column.title(), (self.column.unit(), self.column.better()), is_up)
    }

    fn comparative(&self, is_up: bool) -> &'static str {
        comparative(self.column.title(), self.column.unit(), is_up)
    }

    /// Returns the title of the metric, such as `throughput` or `p99 service time of get`.
    pub(super) fn title(&self) -> String {
        let operation = if self.operation == ALL { String::new() } else { format!(" of {}", self.operation) };
        format!("{}{operation}", self.column.title())
    }

    /// Returns the title of the metric with the phase, such as `throughput in phase mixed`.
    pub(super) fn what(&self) -> String {
        format!("{} in phase {}", self.title(), self.phase)
    }

    /// Returns whether the values are exact. Exact values have no confidence interval.
    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Returns a sentence about the seeds of exact values: whether the values come from one seed, or are equal with
    /// several seeds. Returns an empty text if the values have a confidence interval.
    fn exactness(&self) -> String {
        match (self.is_exact(), self.seeds) {
            (false, _) => String::new(),
            (true, 0 | 1) if self.is_of_one_seed() => {
                " Exact for its seed, and larger than chance.".to_owned()
            }
            (true, 0 | 1) => " Exact (counted mode).".to_owned(),
            (true, seeds) => format!(" Exact (counted mode), the same with all {seeds} seeds."),
        }
    }

    /// Returns the number of trials that the comparisons use. Without a comparison, this is the number of trials of the
    /// baseline.
    pub(super) fn trials(&self) -> usize {
        let of_baseline = self.entries.first().map_or(0, |baseline| baseline.sample.blocks.len());
        let compared = self.ranked.iter().map(|ranked| ranked.comparison.blocks).max();
        compared.filter(|blocks| *blocks > 0 && !self.is_exact()).unwrap_or(of_baseline)
    }
}

/// Formats a p-value with three digits after the point, or as `<0.001`.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.0005 { "<0.001".to_owned() } else { format!("{p:.3}") }
}
