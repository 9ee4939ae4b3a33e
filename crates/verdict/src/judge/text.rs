//! A verdict as people read it: one sentence first, then a table, then what holds for all of it.

use std::fmt::Write as _;

use measure::{Comparison, Doubt, Ranked, Sample, Terms, Verdict};
use results::columns::ALL;
use results::verdicts::NO_RIVAL;
use results::{Better, Column, RunMode, Unit};

use super::judged::{Entry, Judged, NOT_EQUAL, factors};
use crate::words::and_more;

/// The relative difference up to which two designs use the same memory.
const EQUAL_MEMORY: f64 = 0.02;

/// The most cells that a sentence names.
const MOST_NAMED: usize = 6;

/// The relative difference up to which two designs of one budget of memory hold the same of it.
const MOST_UNEQUAL: f64 = 0.05;

impl Judged<'_> {
    /// The verdict in one sentence or two.
    pub(super) fn sentence(&self) -> String {
        let mut text = String::new();
        if !self.wrong.is_empty() {
            let _ = write!(text, "Wrong answers by {}: they get no number. ", listed(&self.wrong));
        }
        if !self.dropping.is_empty() {
            let cells = listed(&self.dropping);
            let _ = write!(
                text,
                "Some of what {cells} was asked for had been dropped: it does less than others. "
            );
        }
        let Some(baseline) = self.entries.first() else {
            return text + &format!("Nothing was measured of {}.", self.what());
        };
        if let Some(words) = self.implausible(&baseline.sample.name) {
            let name = quoted(&baseline.sample.name);
            return text + &format!("No verdict: the numbers of {name} are implausible ({words}).");
        }
        let marked: Vec<&str> = self
            .ranked
            .iter()
            .map(|other| &*other.name)
            .filter(|name| self.implausible(name).is_some())
            .collect();
        if !marked.is_empty() {
            let _ = write!(text, "Implausible numbers of {}: no verdict goes by them. ", listed(&marked));
        }
        text + &self.winner(&baseline.sample)
    }

    fn winner(&self, sample: &Sample) -> String {
        let (what, baseline) = (self.what(), quoted(&sample.name));
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
        if best.comparison.verdict == Verdict::Improved {
            let better = |other: &&&Ranked| other.comparison.verdict == Verdict::Improved;
            let better: Vec<&str> = rivals.iter().skip(1).filter(better).map(|other| &*other.name).collect();
            let others = match &better[..] {
                [] => String::new(),
                [one] => format!(", as does {}", quoted(one)),
                some if some.len() < MOST_NAMED => format!(", as do {}", listed(some)),
                many => format!(", as do {} others", many.len()),
            };
            let change = self.change(best);
            return format!("{} beats {baseline}{others}: {what} {change}.", quoted(&best.name));
        }
        if all(Verdict::Regressed) {
            return self.worse(&baseline, &rivals);
        }
        if all(Verdict::Equivalent) {
            return format!("No difference that matters: every {what} is about that of {baseline}.");
        }
        let (change, why) = (self.change(best), self.no_winner(&best.comparison));
        if best.comparison.ratio.is_none() {
            return format!("No winner over {baseline} by {what}: {why}.");
        }
        let best = format!("The best of the others is {}: {change}.", quoted(&best.name));
        format!("No winner over {baseline} by {what}: {why}. {best}")
    }

    /// How much worse each of the others is.
    fn worse(&self, baseline: &str, others: &[&Ranked]) -> String {
        let changes = others.iter().take(MOST_NAMED).map(|other| {
            let change = other.comparison.short_change(self.terms());
            format!("{change} with {}{}", quoted(&other.name), self.few(&other.name))
        });
        let more = and_more(others.len().saturating_sub(MOST_NAMED));
        let sure =
            others.iter().map(|other| &other.comparison).find(|of| of.interval.is_some() && of.blocks > 1);
        let sure = sure.map_or_else(String::new, |of| {
            format!(" ({} % intervals, {} trials)", of.confidence * 100.0, of.blocks)
        });
        let (what, changes) = (self.what(), joined(&changes.collect::<Vec<String>>()));
        match others.len() {
            1 => format!("{baseline} beats the other: {what} is {changes}{sure}."),
            _ => format!("{baseline} beats every other: {what} is {changes}{more}{sure}."),
        }
    }

    /// The change of a cell, how sure it is, and what else is not as it is of the baseline.
    fn change(&self, of: &Ranked) -> String {
        let name = &of.name;
        let sides = self.both(name).filter(|_| matches!(self.terms(), Terms::Points { .. }));
        let sides = sides.and_then(|(base, own)| Some([own.sample.median()?, base.sample.median()?]));
        let sides = sides.map_or_else(String::new, |sides| {
            let [own, base] = sides.map(|side| self.value(side));
            format!(", {own} against {base}")
        });
        let change = of.comparison.change(self.terms());
        let beside = self.confounded(name) + &self.other_memory(name) + &self.other_prices(name);
        format!("{change}{sides}{}{beside}", self.few(name))
    }

    /// What changes are told in. Of a share of which more is better, such as a hit rate, a percentage could be taken for
    /// points of it.
    fn terms(&self) -> Terms {
        let share = self.column.unit() == Unit::Share && self.column.better() == Better::Higher;
        let baseline = self.entries.first().and_then(|baseline| baseline.sample.median());
        baseline.filter(|_| share).map_or(Terms::Ratio, |baseline| Terms::Points { baseline })
    }

    /// `Data blocks looked into per get in phase absent by bloom.bits_per_key: 1: 2.41; 2: 1.60.`: the medians of all cells,
    /// where they differ in one path.
    pub(super) fn values(&self) -> Option<String> {
        let swept = &self.experiment.swept;
        let [path] = &swept[..] else { return None };
        let title = Column::Swept(path.clone()).title().to_owned();
        let value = |entry: &Entry<'_>| {
            let own = entry.cell.swept.first()?;
            let name = if own.parse::<f64>().is_ok() { own.clone() } else { quoted(own) };
            Some(format!("{name}: {}", self.value(entry.sample.median()?)))
        };
        let in_order = self.experiment.cells.iter();
        let entries =
            in_order.filter_map(|cell| self.entries.iter().find(|of| of.cell.number == cell.number));
        let values: Vec<String> = entries.filter_map(value).collect();
        let what = self.what();
        let (first, rest) = what.split_at(what.chars().next()?.len_utf8());
        Some(format!("{}{rest} by {title}: {}.", first.to_uppercase(), values.join("; ")))
    }

    /// Why nothing beats the baseline, by how the best of the others compares with it.
    fn no_winner(&self, best: &Comparison) -> String {
        let delta = format!("{:.1} %", best.delta * 100.0);
        let why = match (best.doubt, best.interval) {
            (Some(Doubt::TooNoisy), Some(interval)) => format!(
                "the interval of the best, {}, holds no difference as well as one that counts, more than {delta}",
                interval.told(self.terms())
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
                listed(&aside),
                self.prices.names().join(" and ")
            ),
        }
    }

    /// What stands behind the change of a cell that differs from the baseline in more than one factor, or in terms that
    /// could not be made equal.
    fn confounded(&self, label: &str) -> String {
        let factors = self.both(label).map(|(_, entry)| factors(&entry.contrast));
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
        if self.entries.is_empty() {
            return String::new();
        }
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
                Some(ranked) if !self.is_rival(&ranked.name) => {
                    ranked.comparison.brief(NO_RIVAL, self.terms())
                }
                Some(ranked) => ranked.comparison.brief(ranked.comparison.verdict, self.terms()),
            });
            row.push(match ranked {
                Some(_) if !apart.is_empty() => factors(&entry.contrast),
                _ => String::new(),
            });
            rows.push(row);
        }
        aligned(&rows)
    }

    /// What every design differs in from the baseline, where it is the same.
    fn common_factors(&self) -> Option<String> {
        let (_, others) = self.entries.split_first()?;
        let mut factors = others.iter().map(|other| factors(&other.contrast));
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
                quoted(&self.entries[0].sample.name),
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
        notes.extend(
            self.entries.iter().filter_map(|entry| entry.steadiness.note(&quoted(&entry.sample.name))),
        );
        notes.extend(self.entries.iter().filter_map(|entry| {
            let name = &entry.sample.name;
            Some(format!("implausible: {}: {}", quoted(name), self.implausible(name)?))
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
            let (near, names) = (self.prices.names().join(" nor near its "), listed(&no_rivals));
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
                listed(&turned)
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
                listed(&unequal),
                MOST_UNEQUAL * 100.0,
                quoted(&self.entries[0].sample.name)
            )
        })
    }

    /// Whether a cell held as much memory as the baseline, where all were to hold the same and it is known.
    pub(super) fn has_equal_memory(&self, entry: &Entry<'_>) -> Option<bool> {
        if !self.experiment.has_equal_memory || !self.prices.are_memory() {
            return None;
        }
        let (base, own) = (*self.entries.first()?.prices.first()?, *entry.prices.first()?);
        let (base, own) = base.zip(own)?;
        Some((own - base).abs() <= MOST_UNEQUAL * base)
    }

    /// Trials far from the others of their cell; they are part of every number all the same.
    fn outliers(&self) -> Option<String> {
        let outliers = self.entries.iter().flat_map(|entry| {
            let name = quoted(&entry.sample.name);
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
        if is_count && self.experiment.mode == RunMode::Counted {
            return format!("{value:.0}");
        }
        plot::format_value(value, self.column.unit())
    }
}

/// A name as what it is: `none` is a variant, and not nobody.
pub(super) fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// Names as a sentence lists them.
fn listed(names: &[&str]) -> String {
    joined(&names.iter().map(|name| quoted(name)).collect::<Vec<String>>())
}

/// `a, b and c`.
fn joined(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        parts => parts.concat(),
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
