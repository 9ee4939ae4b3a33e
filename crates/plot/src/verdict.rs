//! What the verdicts of a run say of the numbers of a chart: a sentence below the title, and a sign at each bar. Cells
//! that are no rivals, such as filters of other sizes, are only counted.
//!
//! They are read from `verdicts.csv` alone, so that a chart that is drawn again says the same.

use std::collections::BTreeSet;

use results::columns::{LABEL, OPERATION, PHASE};
use results::{Column, Row, Table, Unit, verdicts as v};

use crate::format::{self, SPACE};
use crate::{ChartSpec, Form};

/// More candidates than this are not told one by one.
const MOST_TOLD: usize = 6;

/// What each sign says.
const SIGNS: [(&str, &str); 4] =
    [("improved", "▲"), ("regressed", "▼"), ("equivalent", "="), ("inconclusive", "?")];

/// The verdicts on the numbers of a chart.
pub(crate) struct Judged<'a> {
    rows: Vec<&'a Row>,
    /// How many candidates are no rivals of their baselines.
    no_rivals: usize,
    /// The labels of the cells in the chart.
    labels: BTreeSet<String>,
    /// Whether bars show their signs.
    has_signs: bool,
    /// The phase, where there are several on the chart.
    phase: Option<String>,
}

impl<'a> Judged<'a> {
    /// Those of `verdicts` that are about what a chart shows upwards, on rows that are in it.
    pub(crate) fn of(verdicts: &'a [Row], table: &Table, spec: &ChartSpec) -> Self {
        let shows_points = !matches!(spec.form(), Form::Cdf | Form::Timeline | Form::Heatmap);
        let has_signs = matches!(spec.form(), Form::Bar | Form::GroupedBar);
        let rows = table.rows();
        let labels: BTreeSet<String> = rows.iter().map(|row| row.get(&LABEL).to_string()).collect();
        let is_metric = |verdict: &&Row| Some(verdict.get(&v::METRIC).to_string()) == spec.y;
        let sides = |verdict: &Row| [&v::BASELINE, &v::CANDIDATE].map(|side| verdict.get(side).to_string());
        let is_about = |verdict: &&Row| {
            let is_shown = |row: &&Row| {
                row.get(&PHASE) == verdict.get(&v::PHASE) && row.get(&OPERATION) == verdict.get(&v::OPERATION)
            };
            let is_there = |name: &String| {
                rows.iter().filter(is_shown).any(|row| is_called(row, name, verdict, &labels))
            };
            sides(verdict).iter().all(is_there)
        };
        let judged = verdicts.iter().filter(|_| shows_points).filter(is_metric).filter(is_about);
        let (no_rivals, judged): (Vec<&Row>, Vec<&Row>) = judged.partition(|verdict| is_no_rival(verdict));
        let phase = judged.first().map(|verdict| verdict.get(&v::PHASE).to_string());
        let phase = phase.filter(|phase| rows.iter().any(|row| row.get(&PHASE).to_string() != *phase));
        Self { rows: judged, no_rivals: no_rivals.len(), labels, has_signs, phase }
    }

    /// `against leveled: tiered improved ×2.28 (2.18 to 2.65); 1 factor`, or how many there are of each kind where
    /// cells are compared in groups that agree in something.
    pub(crate) fn sentence(&self) -> Option<String> {
        let first = self.rows.first()?;
        let is_one = self.rows.iter().all(|row| row.get(&v::WITHIN) == first.get(&v::WITHIN));
        let told: Vec<String> = match is_one {
            true => self.rows.iter().take(MOST_TOLD).map(|row| words(row)).collect(),
            false => SIGNS.iter().filter_map(|(verdict, _)| self.counted(verdict)).collect(),
        };
        let more = match self.rows.len().saturating_sub(MOST_TOLD) {
            more if is_one && more > 0 => format!(", and {more} more in verdicts.csv"),
            _ => String::new(),
        };
        let no_rivals = match self.no_rivals {
            0 => String::new(),
            count => format!("; {count} not compared, as no rivals"),
        };
        let phase = self.phase.as_ref().map_or_else(String::new, |phase| format!("{phase}, "));
        let (baseline, told) = (self.baseline()?, told.join(", "));
        let agree = if is_one { String::new() } else { agreement(first) };
        Some(format!("{phase}{agree}against {baseline}: {told}{more}{}{no_rivals}", self.factors()))
    }

    /// What the others are compared with: in each group the same, or not.
    fn baseline(&self) -> Option<String> {
        let first = self.rows.first()?.get(&v::BASELINE);
        let is_same = self.rows.iter().all(|row| row.get(&v::BASELINE) == first);
        Some(if is_same { first.to_string() } else { "the baseline of each".to_owned() })
    }

    /// What else differs between those that are compared, where it is more than one thing.
    fn factors(&self) -> String {
        let most = self.rows.iter().filter_map(|row| Some((row.get(&v::FACTORS).integer()?, row)));
        match most.max_by_key(|(count, _)| *count) {
            Some((most @ 2.., row)) => {
                let differing = row.get(&v::DIFFERS_IN);
                format!("; confounded: up to {most} factors ({differing})")
            }
            Some((1, _)) => format!("; 1{SPACE}factor"),
            _ => String::new(),
        }
    }

    /// How many comparisons came to a verdict: `3 improved`.
    fn counted(&self, verdict: &str) -> Option<String> {
        let count = self.rows.iter().filter(|row| row.get(&v::VERDICT).to_string() == verdict).count();
        (count > 0).then(|| format!("{count} {verdict}"))
    }

    /// What the signs mean, of those that there are; for charts that do show them.
    pub(crate) fn key(&self) -> Option<String> {
        let used = SIGNS.iter().filter(|(verdict, _)| self.has_signs && self.counted(verdict).is_some());
        let key: Vec<String> = used.map(|(verdict, sign)| format!("{sign}{SPACE}{verdict}")).collect();
        (!key.is_empty()).then(|| format!(" · {}", key.join(", ")))
    }

    /// The sign at the bar of a row; nothing where no verdict is about it.
    pub(crate) fn sign(&self, row: &Row) -> Option<&'static str> {
        let is_about = |verdict: &&&Row| {
            verdict.get(&v::PHASE) == row.get(&PHASE)
                && is_called(row, &verdict.get(&v::CANDIDATE).to_string(), verdict, &self.labels)
        };
        let verdict = self.rows.iter().filter(|_| self.has_signs).find(is_about)?;
        let word = verdict.get(&v::VERDICT).to_string();
        SIGNS.iter().find(|(verdict, _)| *verdict == word).map(|(_, sign)| *sign)
    }
}

/// Whether a verdict that names a cell means the cell of a row: by its label, or by what is swept, where all else is as the
/// verdict says. A name that is some cell's label, and stands for itself, is no one else's.
fn is_called(row: &Row, name: &str, verdict: &Row, labels: &BTreeSet<String>) -> bool {
    let within = verdict.get(&v::WITHIN).to_string();
    let mut is_named = row.get(&LABEL).to_string() == name;
    if within.is_empty() && labels.contains(name) {
        return is_named;
    }
    let columns = row.schema().columns().iter().zip(row.cells());
    let swept = columns.filter(|(column, _)| matches!(column, Column::Swept(_)));
    let mut agrees = true;
    for (column, value) in swept.map(|(column, value)| (column, value.to_string())) {
        is_named |= value == name;
        let said = format!("{} = ", column.title());
        let theirs = within.split(", ").find_map(|part| part.strip_prefix(&said));
        agrees &= value.is_empty() || theirs.is_none_or(|theirs| theirs == value);
    }
    is_named && agrees
}

/// Whether a candidate is named beside a baseline of which it is no rival.
fn is_no_rival(verdict: &Row) -> bool {
    verdict.get(&v::DOUBT).to_string().starts_with(v::NO_RIVAL)
}

/// `at equal bits_per_key, `: what cells that are compared agree in.
fn agreement(verdict: &Row) -> String {
    let within = verdict.get(&v::WITHIN).to_string();
    let titles: Vec<&str> = within.split(", ").filter_map(|part| Some(part.split_once(" = ")?.0)).collect();
    if titles.is_empty() { String::new() } else { format!("at equal {}, ", titles.join(" and ")) }
}

/// `tiered improved ×2.28 (2.18 to 2.65)`.
fn words(verdict: &Row) -> String {
    let ratio = |metric| verdict.get(metric).number().map(|ratio| format::alike(ratio, Unit::Ratio));
    let change = ratio(&v::RATIO).map_or_else(String::new, |ratio| format!(" ×{ratio}"));
    let interval = match (ratio(&v::RATIO_LOW), ratio(&v::RATIO_HIGH)) {
        (Some(low), Some(high)) if low != high => format!(" ({low}{SPACE}to{SPACE}{high})"),
        _ => String::new(),
    };
    let word = match verdict.get(&v::DOUBT).to_string().starts_with("implausible") {
        true => "implausible".to_owned(),
        false => verdict.get(&v::VERDICT).to_string(),
    };
    format!("{} {word}{change}{interval}", verdict.get(&v::CANDIDATE))
}
