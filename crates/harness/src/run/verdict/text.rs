//! A verdict as people read it: one sentence first, then a table, then what holds for all of it.

use std::fmt::Write as _;

use measure::{Comparison, Doubt, Ranked, Sample, Verdict};
use results::verdicts::NO_RIVAL;
use results::{Better, Unit};

use super::judged::{Entry, Judged, NOT_EQUAL, factors};
use crate::experiment::RunMode;
use crate::output::and_more;
use crate::run::report::ALL;

/// The relative difference up to which two designs use the same memory.
const EQUAL_MEMORY: f64 = 0.02;

/// The relative difference up to which two designs of one budget of memory hold the same of it.
const MOST_UNEQUAL: f64 = 0.05;

impl Judged<'_> {
    /// The verdict in one sentence or two.
    pub(super) fn sentence(&self) -> String {
        let mut text = String::new();
        if !self.wrong.is_empty() {
            let _ = write!(text, "Wrong answers by {}: they get no number. ", self.wrong.join(", "));
        }
        if !self.dropping.is_empty() {
            let cells = self.dropping.join(", ");
            let _ = write!(
                text,
                "Some of what {cells} was asked for had been dropped: it does less than others. "
            );
        }
        let Some(baseline) = self.entries.first() else {
            return text + &format!("Nothing was measured of {}.", self.what());
        };
        if let Some(words) = self.implausible(&baseline.sample.name) {
            let name = &baseline.sample.name;
            return text + &format!("No verdict: the numbers of {name} are implausible ({words}).");
        }
        let marked: Vec<&str> = self
            .ranked
            .iter()
            .map(|other| &*other.name)
            .filter(|name| self.implausible(name).is_some())
            .collect();
        if !marked.is_empty() {
            let _ = write!(text, "Implausible numbers of {}: no verdict goes by them. ", marked.join(", "));
        }
        text + &self.winner(&baseline.sample.name, &baseline.sample)
    }

    fn winner(&self, baseline: &str, sample: &Sample) -> String {
        let what = self.what();
        let is_rival = |other: &&Ranked| {
            let name = &other.name;
            !self.is_oracle(name) && self.is_rival(name) && self.implausible(name).is_none()
        };
        let rivals: Vec<&Ranked> = self.ranked.iter().filter(is_rival).collect();
        let Some(best) = rivals.first() else {
            let value = sample.median().map_or_else(String::new, |value| self.value(value));
            let rivals = match self.ranked.iter().all(|other| self.is_oracle(&other.name)) {
                _ if self.ranked.is_empty() => "nothing",
                true => "nothing but oracles",
                false => "nothing of its like",
            };
            return format!("{baseline} has a {what} of {value}; there is {rivals} to compare it with.");
        };
        let all = |verdict| rivals.iter().all(|other| other.comparison.verdict == verdict);
        let better = rivals.iter().filter(|other| other.comparison.verdict == Verdict::Improved).count();
        if best.comparison.verdict == Verdict::Improved {
            let others = match better {
                1 => String::new(),
                2 => " (1 other does too)".to_owned(),
                _ => format!(" ({} others do too)", better - 1),
            };
            let confounded = self.confounded(&best.name);
            let memory = self.other_memory(&best.name) + &self.other_prices(&best.name);
            let change = best.comparison.change();
            let few = self.few(&best.name);
            return format!(
                "{} beats {baseline}{others}: {what} {change}{few}{confounded}{memory}.",
                best.name
            );
        }
        if all(Verdict::Regressed) {
            return format!("{baseline} beats every other: their {what} is worse.");
        }
        if all(Verdict::Equivalent) {
            return format!("No difference that matters: every {what} is about that of {baseline}.");
        }
        let (change, why) = (best.comparison.change(), self.no_winner(&best.comparison));
        if change.is_empty() {
            return format!("No winner over {baseline}: {why}.");
        }
        let few = self.few(&best.name);
        let beside =
            self.confounded(&best.name) + &self.other_memory(&best.name) + &self.other_prices(&best.name);
        let best = format!("The best of the others is {}: {what} {change}{few}{beside}.", best.name);
        format!("No winner over {baseline}: {why}. {best}")
    }

    /// Why nothing beats the baseline, by how the best of the others compares with it.
    fn no_winner(&self, best: &Comparison) -> String {
        let delta = format!("{:.1} %", best.delta * 100.0);
        let why = match (best.doubt, best.interval) {
            (Some(Doubt::TooNoisy), Some(interval)) => format!(
                "the interval of the best, {interval}, holds no difference as well as one that counts, more than {delta}"
            ),
            (Some(Doubt::TooSmall), _) => {
                format!("the best differs by less than counts, {delta}, and its interval reaches further")
            }
            (Some(doubt), _) => doubt.to_string(),
            (None, _) if best.verdict == Verdict::Equivalent => {
                format!("the best of the others is the same within {delta}")
            }
            (None, _) => "none of the others is better".to_owned(),
        };
        let aside: Vec<&str> =
            self.ranked.iter().map(|other| &*other.name).filter(|name| !self.is_rival(name)).collect();
        match aside.is_empty() {
            true => why,
            false => format!(
                "{why}; {} of other {} are no rivals",
                aside.join(", "),
                self.prices.names().join(" and ")
            ),
        }
    }

    /// What stands behind the change of a cell that differs from the baseline in more than one factor, or in terms that
    /// could not be made equal.
    fn confounded(&self, label: &str) -> String {
        let factors = self.beside_baseline(label).map(|(baseline, cell)| factors(baseline, cell));
        factors
            .filter(|factors| factors.starts_with("confounded") || factors.ends_with(NOT_EQUAL))
            .map_or_else(String::new, |factors| format!("; differs in {factors}"))
    }

    /// What stands behind the change of a cell that uses other memory than the baseline.
    fn other_memory(&self, label: &str) -> String {
        let bytes = |entry: Option<&Entry<'_>>| {
            let price = entry.and_then(|entry| *entry.prices.first()?);
            price.filter(|bytes| *bytes > 0.0)
        };
        let candidate = self.entries.iter().find(|entry| entry.sample.name == label);
        let (Some(base), Some(own)) = (bytes(self.entries.first()), bytes(candidate)) else {
            return String::new();
        };
        match own / base {
            _ if !self.prices.are_memory() => String::new(),
            ratio if (ratio - 1.0).abs() <= EQUAL_MEMORY => String::new(),
            ratio => format!("; memory ×{ratio:.2}"),
        }
    }

    /// In which prices a component is not like the baseline.
    pub(super) fn other_prices(&self, label: &str) -> String {
        self.both(label).map_or_else(String::new, |(baseline, entry)| {
            self.prices.differences(&entry.prices, &baseline.prices)
        })
    }

    /// `throughput in phase mixed`, or `p99 service time of get in phase lookup`.
    fn what(&self) -> String {
        let operation = if self.operation == ALL { String::new() } else { format!(" of {}", self.operation) };
        format!("{}{operation} in phase {}", self.column.title(), self.phase)
    }

    /// Every design with its median, its memory, and how it compares with the baseline.
    pub(super) fn table(&self) -> String {
        let Some(baseline) = self.entries.first() else { return String::new() };
        let mut entries: Vec<&Entry<'_>> = self.entries.iter().collect();
        let median = |entry: &Entry<'_>| entry.sample.median().unwrap_or(f64::NAN);
        match self.column.better() {
            Better::Higher => entries.sort_by(|a, b| median(b).total_cmp(&median(a))),
            Better::Lower => entries.sort_by(|a, b| median(a).total_cmp(&median(b))),
            Better::Neither => {}
        }
        let apart = if self.common_factors().is_some() { "" } else { "differs in" };
        let head = [&["", self.column.name()][..], &self.prices.names(), &["against the baseline", apart]];
        let mut rows: Vec<Vec<String>> = vec![head.concat().into_iter().map(str::to_owned).collect()];
        for entry in entries {
            let ranked = self.ranked.iter().find(|ranked| ranked.name == entry.sample.name);
            let oracle = if self.is_oracle(&entry.sample.name) { " [oracle]" } else { "" };
            let mut row = vec![format!("{}{oracle}", entry.sample.name), self.value(median(entry))];
            row.extend(entry.prices.iter().enumerate().map(|(at, price)| self.prices.shown(at, *price)));
            row.push(match ranked {
                None => "baseline".to_owned(),
                Some(ranked) if self.implausible(&ranked.name).is_some() => "implausible".to_owned(),
                Some(ranked) if !self.is_rival(&ranked.name) => ranked.comparison.brief_as(NO_RIVAL),
                Some(ranked) => ranked.comparison.brief(),
            });
            row.push(match ranked {
                Some(_) if !apart.is_empty() => factors(baseline.cell, entry.cell),
                _ => String::new(),
            });
            rows.push(row);
        }
        aligned(&rows)
    }

    /// What every design differs in from the baseline, where it is the same.
    fn common_factors(&self) -> Option<String> {
        let (baseline, others) = self.entries.split_first()?;
        let mut factors = others.iter().map(|other| factors(baseline.cell, other.cell));
        let first = factors.next()?;
        factors.all(|factors| factors == first).then_some(first)
    }

    /// What holds for several rows of the table, each once.
    pub(super) fn notes(&self) -> String {
        let mut notes = Vec::new();
        let comparisons = || self.ranked.iter().map(|ranked| &ranked.comparison);
        if let Some(of) =
            comparisons().find(|comparison| comparison.interval.is_some() && comparison.blocks > 1)
        {
            notes.push(format!(
                "in brackets: {} % intervals over {} trials",
                of.confidence * 100.0,
                of.blocks
            ));
        }
        notes.extend(self.noise.map(|noise| {
            format!(
                "noise: {} against itself differs by up to {:.1} %, and less does not count; a true difference \
                 of {:.1} % would be found four times in five",
                self.entries[0].sample.name,
                noise.floor * 100.0,
                noise.detectable * 100.0
            )
        }));
        notes.extend((self.resolution > 0.0).then(|| {
            let within = self.resolution * 100.0;
            format!("rates are searched for to within {within:.1} %, and less does not count")
        }));
        notes.extend(self.few_note());
        notes.extend(self.turned());
        notes.extend(self.outliers());
        notes.extend(self.entries.iter().filter_map(|entry| entry.steadiness.note(&entry.sample.name)));
        notes.extend(self.entries.iter().filter_map(|entry| {
            let name = &entry.sample.name;
            Some(format!("implausible: {name}: {}", self.implausible(name)?))
        }));
        notes.extend(self.unequal_memory());
        let mut doubts: Vec<String> =
            comparisons().filter_map(|comparison| comparison.doubt).map(|doubt| doubt.to_string()).collect();
        doubts.sort_unstable();
        doubts.dedup();
        let sentence = self.sentence();
        doubts.retain(|doubt| !sentence.contains(doubt));
        notes.extend(doubts.iter().map(|doubt| format!("inconclusive: {doubt}")));
        let no_rivals: Vec<&str> =
            self.ranked.iter().map(|other| &*other.name).filter(|name| !self.is_rival(name)).collect();
        if !no_rivals.is_empty() {
            let (near, names) = (self.prices.names().join(" nor near its "), no_rivals.join(", "));
            notes.push(format!("not near its {near}, so no rivals of the baseline: {names}"));
        }
        notes.extend(self.common_factors().map(|factors| format!("differs in {factors}")));
        notes.iter().fold(String::new(), |text, note| text + "  " + note + "\n")
    }

    /// The cells whose median lies on the other side of the baseline's than most of their trials do.
    fn turned(&self) -> Option<String> {
        let base = self.entries.first()?.sample.median()?;
        let is_turned = |ranked: &&Ranked| {
            let median = self.both(&ranked.name).and_then(|(_, entry)| entry.sample.median());
            let logs =
                ranked.comparison.ratio.zip(median).map(|(ratio, own)| (ratio.ln(), (own / base).ln()));
            logs.is_some_and(|(trials, medians)| {
                trials * medians < 0.0 && trials.abs().min(medians.abs()) > ranked.comparison.delta
            })
        };
        let turned: Vec<&str> = self.ranked.iter().filter(is_turned).map(|ranked| &*ranked.name).collect();
        (!turned.is_empty()).then(|| {
            format!(
                "of {} the medians say the opposite: a change is the median over trials that ran side by side, and those \
                 disagree; more trials would settle it",
                turned.join(", ")
            )
        })
    }

    /// The cells that held other memory than the baseline although they were to hold the same.
    fn unequal_memory(&self) -> Option<String> {
        let unequal = self.entries.iter().skip(1).filter_map(|entry| match self.has_equal_memory(entry)? {
            true => None,
            false => Some(entry.sample.name.as_str()),
        });
        let unequal: Vec<&str> = unequal.collect();
        (!unequal.is_empty()).then(|| {
            format!(
                "unequal memory: {} held more than {:.0} % more or less than {}, although memory = \"equal\"",
                unequal.join(", "),
                MOST_UNEQUAL * 100.0,
                self.entries[0].sample.name
            )
        })
    }

    /// Whether a cell held as much memory as the baseline, where all were to hold the same and it is known.
    pub(super) fn has_equal_memory(&self, entry: &Entry<'_>) -> Option<bool> {
        if !self.experiment.has_equal_memory() || !self.prices.are_memory() {
            return None;
        }
        let (base, own) = (*self.entries.first()?.prices.first()?, *entry.prices.first()?);
        let (base, own) = base.zip(own)?;
        Some((own - base).abs() <= MOST_UNEQUAL * base)
    }

    /// Trials far from the others of their cell; they are part of every number all the same.
    fn outliers(&self) -> Option<String> {
        let outliers = self.entries.iter().flat_map(|entry| {
            let name = &entry.sample.name;
            entry
                .sample
                .outliers()
                .into_iter()
                .map(move |(trial, _)| format!("{name} in trial {}", trial + 1))
        });
        let outliers: Vec<String> = outliers.collect();
        let (first, others) = outliers.split_first()?;
        let others = and_more(others.len());
        Some(format!("outliers, kept: {first}{others}"))
    }

    fn value(&self, value: f64) -> String {
        let is_count = self.column.unit() == Unit::Count && value.fract() == 0.0;
        if is_count && self.experiment.trials.mode == RunMode::Counted {
            return format!("{value:.0}");
        }
        plot::format_value(value, self.column.unit())
    }
}

/// Columns of even width: the first and the last two to the left, those with numbers to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match at > 0 && at + 2 < columns {
                true => write!(line, "  {cell:>width$}"),
                false => write!(line, "  {cell:<width$}"),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
