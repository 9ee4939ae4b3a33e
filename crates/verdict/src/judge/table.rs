//! The table of a verdict. The table has one line per configuration and one column per fact.

use std::fmt::Write as _;

use measure::{Ranked, Verdict};
use results::{Better, Column, Interleaving, RunMode, Unit};

use super::judged::{Entry, Judged, factors};
use super::sentence::p_value;
use crate::words::counted;

/// The maximum length of a baseline name in the title of a table column.
const LONGEST_NAME: usize = 16;

/// The maximum length of a metric title in the title of a table column.
const LONGEST_TITLE: usize = 18;

/// The head of a table column: its title, and whether the column is right-aligned.
type Head = (String, bool);

impl Judged<'_> {
    /// Returns the caption:
    /// `phase mixed, throughput (ops/s, higher is better), 6 paired trials, ± standard deviation`.
    pub(super) fn caption(&self) -> String {
        let unit = match self.column.unit() {
            Unit::OperationsPerSecond => Some("ops/s"),
            Unit::MegabytesPerSecond => Some("MB/s"),
            _ => None,
        };
        let better = self.column.better().phrase().unwrap_or("neither higher nor lower is better");
        let how = unit.map_or_else(|| better.to_owned(), |unit| format!("{unit}, {better}"));
        let trials = self.trials();
        let trials = match trials {
            _ if self.is_of_one_seed() => "counted (one seed)".to_owned(),
            _ if self.is_exact() => "counted (exact)".to_owned(),
            _ if self.experiment.mode == RunMode::Counted => {
                format!("counted, {}, ± standard deviation", counted(self.seeds, "seed"))
            }
            0 | 1 => counted(trials, "trial"),
            _ => {
                let how = match self.experiment.interleaving {
                    Interleaving::Rounds => "",
                    Interleaving::Slices => " in slices",
                    Interleaving::Duet => " as duets",
                };
                format!("{trials} paired trials{how}, ± standard deviation")
            }
        };
        let within = if self.within.is_empty() { String::new() } else { format!("{}: ", self.within) };
        let (phase, title) = (&self.phase, self.title());
        format!("{within}phase {phase}, {title} ({how}), {trials}")
    }

    /// Renders a table of all configurations, each with its median, its costs such as the memory, and its comparison
    /// with the baseline.
    pub(super) fn table(&self) -> String {
        let Some(baseline) = self.entries.first() else { return String::new() };
        let mut entries: Vec<&Entry<'_>> = self.entries.iter().collect();
        let median = |entry: &Entry<'_>| entry.sample.median().unwrap_or(f64::NAN);
        match self.column.better() {
            Better::Higher => entries.sort_by(|a, b| median(b).total_cmp(&median(a))),
            Better::Lower => entries.sort_by(|a, b| median(a).total_cmp(&median(b))),
            Better::Neither => {}
        }
        let rows: Vec<Vec<String>> = entries.into_iter().map(|entry| self.line(entry)).collect();
        let heads = self.heads(&shown_name(&baseline.sample.name));
        let is_used = |at: usize| at == 0 || rows.iter().any(|row| !row[at].is_empty());
        let used: Vec<usize> = (0..heads.len()).filter(|at| is_used(*at)).collect();
        let mut text = String::new();
        let head: Vec<String> = heads.iter().map(|(head, _)| head.clone()).collect();
        for row in [&head].into_iter().chain(&rows) {
            let mut line = String::new();
            for at in &used {
                let width = rows.iter().chain([&head]).map(|row| row[*at].chars().count()).max().unwrap_or(0);
                let _ = match heads[*at].1 {
                    true => write!(line, "  {:>width$}", row[*at]),
                    false => write!(line, "  {:<width$}", row[*at]),
                };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }

    fn heads(&self, baseline: &str) -> Vec<Head> {
        let baseline = if baseline.chars().count() > LONGEST_NAME { "baseline" } else { baseline };
        let value = match (self.column.unit(), self.column.title()) {
            (Unit::OperationsPerSecond, _) => "ops/s",
            (_, title) if title.len() <= LONGEST_TITLE => title,
            _ => "value",
        };
        let right = |head: &str| (head.to_owned(), true);
        let left = |head: &str| (head.to_owned(), false);
        let mut heads = vec![left(&self.compared()), right(value)];
        heads.extend([right(&format!("vs {baseline}")), right("95% CI"), right("p")]);
        heads.extend(self.prices.names().iter().map(|name| right(name)));
        heads.extend([left("verdict"), left("differs in")]);
        heads
    }

    /// Returns the title of the column with the names of the configurations. If they differ in exactly one swept path,
    /// this is the title of the path. Otherwise it is `configuration`.
    fn compared(&self) -> String {
        let swept = self.experiment.swept.iter().enumerate();
        let mut compared = swept.filter(|(at, _)| !self.experiment.within.contains(at)).map(|(_, path)| path);
        match (compared.next(), compared.next()) {
            (Some(path), None) => Column::Swept(path.clone()).title().to_owned(),
            _ => "configuration".to_owned(),
        }
    }

    fn line(&self, entry: &Entry<'_>) -> Vec<String> {
        let name = &entry.sample.name;
        let ranked = self.ranked.iter().find(|ranked| ranked.name == *name);
        let change = ranked.and_then(|ranked| self.change_of(ranked));
        let value = entry.sample.median().map_or_else(String::new, |value| self.value(value));
        let is_timed = !self.is_exact();
        let mut line = vec![shown_name(name), format!("{value}{}", self.spread(entry))];
        line.push(match ranked {
            None => "(baseline)".to_owned(),
            Some(_) => change.map_or_else(String::new, |change| change.short()),
        });
        line.push(change.filter(|_| is_timed).and_then(|change| change.range()).unwrap_or_default());
        let p = ranked.filter(|_| is_timed).and_then(|ranked| ranked.comparison.p_value);
        line.push(p.map_or_else(String::new, p_value));
        line.extend(entry.prices.iter().enumerate().map(|(at, price)| self.prices.shown(at, *price)));
        line.push(ranked.map_or_else(String::new, |ranked| self.word(ranked)));
        line.push(match ranked {
            Some(_) if self.common_factors().is_none() => factors(&entry.contrast),
            _ => String::new(),
        });
        line
    }

    /// Returns the verdict on a candidate in one or two words.
    pub(super) fn word(&self, ranked: &Ranked) -> String {
        let is_up = ranked.comparison.ratio.is_some_and(|ratio| ratio > 1.0);
        match ranked.comparison.verdict {
            _ if self.is_bound(&ranked.name) => "ideal bound",
            _ if self.implausible(&ranked.name).is_some() => "implausible",
            _ if !self.is_comparable(&ranked.name) => "not comparable",
            Verdict::Improved | Verdict::Regressed => self.direction(is_up),
            Verdict::Equivalent => "no difference",
            Verdict::Inconclusive => "inconclusive",
        }
        .to_owned()
    }

    /// Formats the standard deviation over trials in percent of the mean: ` ±  4%`.
    fn spread(&self, entry: &Entry<'_>) -> String {
        let values: Vec<f64> = entry.sample.blocks.iter().map(|(_, value)| *value).collect();
        let count = values.len() as f64;
        if values.len() < 2 || self.is_exact() {
            return String::new();
        }
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let share = variance.sqrt() / mean.abs() * 100.0;
        match share {
            share if !share.is_finite() => String::new(),
            share if share > 0.0 && share < 0.5 => " ± <1%".to_owned(),
            share => format!(" ± {share:>2.0}%"),
        }
    }

    /// Returns the settings in which all candidates differ from the baseline, as text. Returns `None` if these settings
    /// are not the same for all candidates. Ignores parameters of a variant that no other variant has.
    pub(super) fn common_factors(&self) -> Option<String> {
        let (_, others) = self.entries.split_first()?;
        let mut all = others.iter().map(|other| factors(&other.contrast));
        let shared = |factors: String| factors.split(" (own ").next().unwrap_or_default().to_owned();
        let first = shared(all.next()?);
        all.all(|factors| shared(factors) == first).then_some(first)
    }
}

/// Formats a name for a table. The name `none` is quoted.
fn shown_name(name: &str) -> String {
    if name == "none" { format!("\"{name}\"") } else { name.to_owned() }
}
