//! The verdicts on the values of a chart: a sentence in the caption, and a sign at each bar. Some candidates cannot be
//! compared with their baseline, for example because a filter has other bits per key and another false-positive rate.
//! The sentence states only the number of these candidates.
//!
//! The verdicts come only from `verdicts.csv`, so a chart that is drawn again shows the verdicts of the run.

use std::collections::BTreeSet;

use results::columns::{LABEL, OPERATION, PHASE};
use results::{Column, Row, Table, Unit, verdicts as v};

use crate::format::{self, SPACE};
use crate::{ChartSpec, Form, SweptTexts};

/// The largest number of candidates that a sentence names.
const MOST_NAMED: usize = 6;

/// The smallest ratio that is printed as a factor, such as `2.28x faster`. A smaller ratio is printed in percent. A
/// ratio below 1 counts as its reciprocal, so 0.5 is also printed as a factor.
const LARGE: f64 = 2.0;

/// The sign at a bar for each verdict.
const SIGNS: [(&str, &str); 4] =
    [("improved", "▲"), ("regressed", "▼"), ("equivalent", "="), ("inconclusive", "?")];

/// The verdicts on the values of a chart.
pub(crate) struct Judged<'a> {
    rows: Vec<&'a Row>,
    /// The number of candidates that the verdicts cannot compare with their baselines.
    no_rivals: usize,
    /// The labels of the configurations in the chart.
    labels: BTreeSet<String>,
    /// The texts of swept values in the chart. Verdicts contain the texts of the experiment file.
    texts: &'a SweptTexts,
    /// Whether the bars show the signs of the verdicts.
    has_signs: bool,
    /// The phase of the verdicts, for the caption. `None` if the chart shows only rows of this phase.
    phase: Option<String>,
    /// The column that the verdicts compare, such as `ops_per_second`.
    column: Option<Column>,
}

impl<'a> Judged<'a> {
    /// Selects the verdicts on the column `y` whose baseline and candidate are in the chart.
    pub(crate) fn of(verdicts: &'a [Row], table: &Table, spec: &ChartSpec, texts: &'a SweptTexts) -> Self {
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
                rows.iter().filter(is_shown).any(|row| is_called(row, name, verdict, (&labels, texts)))
            };
            sides(verdict).iter().all(is_there)
        };
        let judged = verdicts.iter().filter(|_| shows_points).filter(is_metric).filter(is_about);
        let (no_rivals, judged): (Vec<&Row>, Vec<&Row>) = judged.partition(|verdict| is_no_rival(verdict));
        let phase = judged.first().map(|verdict| verdict.get(&v::PHASE).to_string());
        let phase = phase.filter(|phase| rows.iter().any(|row| row.get(&PHASE).to_string() != *phase));
        let column = spec.y.as_deref().and_then(|y| table.schema().position(y));
        let column = column.map(|at| table.schema().columns()[at].clone());
        Self { rows: judged, no_rivals: no_rivals.len(), labels, texts, has_signs, phase, column }
    }

    /// Returns the verdicts on candidates that can be compared with their baseline, in the order of `verdicts.csv`.
    pub(crate) fn comparisons(&self) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().copied()
    }

    /// Returns the pairs of configurations that verdicts on any metric compare: one verdict for each pair, in the order
    /// of `verdicts.csv`. For a pair with a verdict on the column `y`, this is the verdict on `y`. Omits candidates
    /// that cannot be compared with their baseline.
    pub(crate) fn pairs(&self, verdicts: &'a [Row]) -> Vec<&'a Row> {
        let column = self.column.as_ref().map_or("", Column::name);
        let is_of_column = |row: &&Row| row.get(&v::METRIC).to_string() == column;
        let names = |row: &Row| [&v::WITHIN, &v::BASELINE, &v::CANDIDATE].map(|of| row.get(of).to_string());
        let (own, others): (Vec<&Row>, Vec<&Row>) = verdicts.iter().partition(is_of_column);
        let mut pairs: Vec<&Row> = Vec::new();
        for row in own.into_iter().chain(others) {
            if pairs.iter().all(|pair| names(pair) != names(row)) {
                pairs.push(row);
            }
        }
        pairs.retain(|row| !is_no_rival(row));
        pairs
    }

    /// Returns whether a row contains values of the configuration that `verdict` calls `name`.
    pub(crate) fn is_called(&self, row: &Row, name: &str, verdict: &Row) -> bool {
        is_called(row, name, verdict, (&self.labels, self.texts))
    }

    /// Returns a sentence such as `Verdict against leveled: tiered is 2.28x faster (95 % CI 2.18x to 2.65x).` If the
    /// verdicts come from several groups of configurations, the sentence states only the number of verdicts of each
    /// kind.
    pub(crate) fn sentence(&self) -> Option<String> {
        let first = self.rows.first()?;
        let column = self.column.as_ref()?;
        let is_one = self.rows.iter().all(|row| row.get(&v::WITHIN) == first.get(&v::WITHIN));
        let named: Vec<String> = match is_one {
            true => self.rows.iter().take(MOST_NAMED).map(|row| words(row, column)).collect(),
            false => SIGNS.iter().filter_map(|(verdict, _)| self.counted(verdict)).collect(),
        };
        let more = match self.rows.len().saturating_sub(MOST_NAMED) {
            more if is_one && more > 0 => format!("; {more} more in verdicts.csv"),
            _ => String::new(),
        };
        let no_rivals = match self.no_rivals {
            0 => String::new(),
            1 => " 1 configuration cannot be compared with the baseline.".to_owned(),
            count => format!(" {count} configurations cannot be compared with the baseline."),
        };
        let phase = self.phase.as_ref().map_or_else(String::new, |phase| format!(" in phase {phase}"));
        let (baseline, candidates) = (self.baseline()?, named.join("; "));
        let at_equal_settings = if is_one { String::new() } else { agreement(first) };
        let confounded = self.factors();
        Some(format!(
            "Verdict against {baseline}{at_equal_settings}{phase}: {candidates}{more}.{confounded}{no_rivals}"
        ))
    }

    /// Returns the name of the common baseline of all verdicts, or a text for several baselines. Returns `None` if
    /// there are no verdicts.
    fn baseline(&self) -> Option<String> {
        let first = self.rows.first()?.get(&v::BASELINE);
        let is_same = self.rows.iter().all(|row| row.get(&v::BASELINE) == first);
        Some(if is_same { name(&first.to_string()) } else { "the baseline of each group".to_owned() })
    }

    /// Returns a warning for the caption if the compared configurations differ in two or more settings, else an empty
    /// text.
    fn factors(&self) -> String {
        let most = self.rows.iter().filter_map(|row| Some((row.get(&v::FACTORS).integer()?, row)));
        match most.max_by_key(|(count, _)| *count) {
            Some((most @ 2.., row)) => {
                let differing = row.get(&v::DIFFERS_IN);
                format!(" Confounded: up to {most} factors differ ({differing}).")
            }
            _ => String::new(),
        }
    }

    /// Counts the comparisons with the given verdict, and formats the count, such as `3 improved`.
    fn counted(&self, verdict: &str) -> Option<String> {
        let count = self.rows.iter().filter(|row| row.get(&v::VERDICT).to_string() == verdict).count();
        (count > 0).then(|| format!("{count} {verdict}"))
    }

    /// Returns the explanation of the signs at the bars, such as `▲ improved`. Returns `None` if the chart shows no
    /// signs.
    pub(crate) fn key(&self) -> Option<String> {
        let used = SIGNS.iter().filter(|(verdict, _)| self.has_signs && self.counted(verdict).is_some());
        let key: Vec<String> = used.map(|(verdict, sign)| format!("{sign}{SPACE}{verdict}")).collect();
        (!key.is_empty()).then(|| format!(" {}.", key.join(", ")))
    }

    /// Returns the verdict sign for the bar of a row; `None` if no verdict is about this row.
    pub(crate) fn sign(&self, row: &Row) -> Option<&'static str> {
        let is_about = |verdict: &&&Row| {
            verdict.get(&v::PHASE) == row.get(&PHASE)
                && is_called(
                    row,
                    &verdict.get(&v::CANDIDATE).to_string(),
                    verdict,
                    (&self.labels, self.texts),
                )
        };
        let verdict = self.rows.iter().filter(|_| self.has_signs).find(is_about)?;
        let word = verdict.get(&v::VERDICT).to_string();
        SIGNS.iter().find(|(verdict, _)| *verdict == word).map(|(_, sign)| *sign)
    }
}

/// Returns whether a row contains values of the configuration that a verdict calls `name`.
///
/// `name` is the label of a configuration, or the value of one swept parameter. In the second case, all other swept
/// parameters of the row must equal the values that the verdict names in its column `within`. Swept values in the row
/// are written as in the chart, for example `2MiB`.
fn is_called(
    row: &Row,
    name: &str,
    verdict: &Row,
    (labels, texts): (&BTreeSet<String>, &SweptTexts),
) -> bool {
    let within = verdict.get(&v::WITHIN).to_string();
    let mut is_named = row.get(&LABEL).to_string() == name;
    if within.is_empty() && labels.contains(name) {
        return is_named;
    }
    let columns = row.schema().columns().iter().zip(row.cells());
    let swept = columns.filter(|(column, _)| matches!(column, Column::Swept(_)));
    let mut agrees = true;
    for (column, value) in swept.map(|(column, value)| (column, value.to_string())) {
        is_named |= value == texts.shown(column.name(), name);
        let said = format!("{} = ", column.title());
        let theirs = within.split(", ").find_map(|part| part.strip_prefix(&said));
        agrees &= value.is_empty() || theirs.is_none_or(|theirs| texts.shown(column.name(), theirs) == value);
    }
    is_named && agrees
}

/// Returns whether a verdict cannot compare the candidate with its baseline. Its column `doubt` then begins with
/// `no rival`.
fn is_no_rival(verdict: &Row) -> bool {
    verdict.get(&v::DOUBT).to_string().starts_with(v::NO_RIVAL)
}

/// Formats the settings that the compared configurations share, such as ` at equal bits_per_key`.
fn agreement(verdict: &Row) -> String {
    let within = verdict.get(&v::WITHIN).to_string();
    let titles: Vec<&str> = within.split(", ").filter_map(|part| Some(part.split_once(" = ")?.0)).collect();
    if titles.is_empty() { String::new() } else { format!(" at equal {}", titles.join(" and ")) }
}

/// Formats a label for a sentence: `none` in quotes, and all spaces as non-breaking spaces.
pub(crate) fn name(label: &str) -> String {
    let label = if label == "none" { "\"none\"" } else { label };
    label.replace(' ', &SPACE.to_string())
}

/// Formats one verdict as a part of a sentence, such as `tiered is 2.28x faster (95 % CI 2.18x to 2.65x)`.
fn words(verdict: &Row, column: &Column) -> String {
    let number = |metric| verdict.get(metric).number().filter(|ratio| *ratio > 0.0);
    let ratio = number(&v::RATIO);
    let interval = match (ratio, number(&v::RATIO_LOW), number(&v::RATIO_HIGH)) {
        (Some(ratio), Some(low), Some(high)) if low < high => {
            let (low, high) = sides(ratio, low, high);
            format!(" (95{SPACE}%{SPACE}CI{SPACE}{low}{SPACE}to{SPACE}{high})")
        }
        _ => String::new(),
    };
    let candidate = name(&verdict.get(&v::CANDIDATE).to_string());
    let word = verdict.get(&v::VERDICT).to_string();
    let said = match (ratio, word.as_str()) {
        _ if verdict.get(&v::DOUBT).to_string().starts_with("implausible") => "implausible".to_owned(),
        (Some(ratio), "improved" | "regressed") => change(ratio, column),
        (_, "improved") => "better".to_owned(),
        (_, "regressed") => "worse".to_owned(),
        (Some(ratio), "equivalent" | "inconclusive") => format!("{word}: {}", change(ratio, column)),
        _ => word,
    };
    format!("{candidate} is {}{interval}", said.replace(' ', &SPACE.to_string()))
}

/// Formats a ratio as a change with its direction, such as `2.28x faster` or `12 % higher`. A ratio of 1 becomes
/// `no change`.
pub(crate) fn change(ratio: f64, column: &Column) -> String {
    let (is_rate, is_time) = (
        matches!(column.unit(), Unit::OperationsPerSecond | Unit::MegabytesPerSecond),
        column.unit() == Unit::Nanoseconds,
    );
    let factor = ratio.max(1.0 / ratio);
    // For percentages, a time is called higher or lower instead of slower or faster, because a time that is 20 % lower
    // is not a speed that is 20 % higher.
    let word = match (ratio > 1.0, factor >= LARGE) {
        (true, _) if is_rate => "faster",
        (false, _) if is_rate => "slower",
        (true, true) if is_time => "slower",
        (false, true) if is_time => "faster",
        (true, _) => "higher",
        (false, _) => "lower",
    };
    match factor {
        factor if factor >= LARGE => format!("{}x {word}", format::alike(factor, Unit::Ratio)),
        factor if factor <= 1.0 => "no change".to_owned(),
        _ => format!("{}{SPACE}% {word}", format::digits((ratio - 1.0).abs() * 100.0)),
    }
}

/// Formats the ends of the confidence interval of a ratio, such as `2.18x` and `2.65x`. If the ratio is below 2, the
/// ends are percentages of the baseline.
fn sides(ratio: f64, low: f64, high: f64) -> (String, String) {
    let is_down = ratio < 1.0;
    let side = |end: f64| {
        if ratio.max(1.0 / ratio) >= LARGE {
            return format!("{}x", format::alike(if is_down { 1.0 / end } else { end }, Unit::Ratio));
        }
        let percent = (end - 1.0) * 100.0;
        format!("{}{SPACE}%", format::digits(if is_down { -percent } else { percent }))
    };
    if is_down { (side(high), side(low)) } else { (side(low), side(high)) }
}

#[cfg(test)]
mod tests {
    use results::columns::{MEAN_NS, OPS_PER_SECOND, WRITE_AMP};

    use super::*;

    #[test]
    fn changes_are_factors_of_at_least_one_with_a_direction() {
        let said = |ratio, metric| change(ratio, &Column::Fixed(metric)).replace(SPACE, " ");
        assert_eq!(said(2.28, OPS_PER_SECOND), "2.28x faster");
        assert_eq!(said(0.25, MEAN_NS), "4.00x faster");
        assert_eq!(said(1.12, MEAN_NS), "12 % higher");
        assert_eq!(said(0.8, OPS_PER_SECOND), "20 % slower");
        assert_eq!(said(0.8, WRITE_AMP), "20 % lower");
        assert_eq!(said(1.0, WRITE_AMP), "no change");
        let ends = |ratio, low, high| {
            let (low, high) = sides(ratio, low, high);
            format!("{low} to {high}").replace(SPACE, " ")
        };
        assert_eq!(ends(0.25, 0.2, 0.5), "2.00x to 5.00x");
        assert_eq!(ends(1.063, 0.964, 1.222), "−3.6 % to 22.2 %");
        assert_eq!(ends(0.8, 0.7, 0.9), "10 % to 30 %");
    }
}
