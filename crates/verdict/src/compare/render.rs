//! Formats a comparison as text, as Markdown for the summary page of a CI run, and as JSON.

use std::fmt::Write as _;

use clap::ValueEnum;
use measure::{Comparison, Verdict};
use serde_json::{Map, Value, json};

use super::report::{ComparisonReport, Difference, is_smaller_better};
use crate::change::{Change, direction};
use crate::gate::GateOutcome;
use crate::markdown::{plain, row};
use crate::words::{on_one_line, quoted, shown};

/// The largest number of differences that a text or Markdown report lists. JSON contains all differences.
const MOST_LISTED: usize = 40;

/// The format of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Text for a terminal
    #[default]
    Text,
    /// Markdown for the summary of a GitHub step
    Markdown,
    /// JSON with all values
    Json,
    /// Input of github-action-benchmark; smaller is better, so rates are inverted
    GithubActionBenchmark,
    /// Bencher Metric Format
    Bencher,
}

impl ComparisonReport {
    /// Renders the report of a comparison in a format.
    pub fn render(&self, format: ReportFormat) -> String {
        match format {
            ReportFormat::Text => self.text(),
            ReportFormat::Markdown => self.markdown(),
            ReportFormat::Json => pretty(&self.json()),
            ReportFormat::GithubActionBenchmark => pretty(&self.github_action_benchmark()),
            ReportFormat::Bencher => pretty(&self.bencher()),
        }
    }

    /// Returns the first word of the report, such as `FAIL`, and the numbers of compared values by outcome, such as `2
    /// of 40 numbers regressed`.
    fn headline(&self) -> (&'static str, String) {
        let count = |verdict| self.with(verdict).count();
        let changed = self.differences.iter().filter(|difference| difference.is_changed()).count();
        let implausible = self.implausible();
        let (all, noun) = (self.differences.len(), self.noun());
        let result = self.word_of_result();
        let unchanged = count(Verdict::Equivalent);
        let wrong = match &self.wrong[..] {
            [] => String::new(),
            wrong => format!("wrong answers by {}; ", wrong.join(", ")),
        };
        if self.rule().tolerance.is_some() {
            let missing = if self.gone > 0 { format!(", {} missing", self.gone) } else { String::new() };
            return (result, format!("{wrong}{}{missing}", self.rule().counts(self.tally(), noun)));
        }
        if unchanged == all && self.gone == 0 && self.wrong.is_empty() {
            return (result, format!("{all} {noun} unchanged"));
        }
        let mut text = format!("{wrong}{count} of {all} {noun} regressed", count = count(Verdict::Regressed));
        for (count, outcome) in [
            (count(Verdict::Improved), "improved"),
            (changed, "changed"),
            (implausible, "implausible"),
            (count(Verdict::Inconclusive) - changed - implausible, "inconclusive"),
        ] {
            if count > 0 {
                let _ = write!(text, ", {count} {outcome}");
            }
        }
        let _ = write!(text, ", {} missing, {unchanged} unchanged", self.gone);
        (result, text)
    }

    /// Returns the differences that the text and Markdown reports show, worst difference first.
    fn listed(&self) -> Vec<&Difference> {
        let rank = |difference: &Difference| match difference.verdict() {
            Verdict::Regressed => Some(0),
            Verdict::Improved => Some(1),
            _ if difference.is_changed() => Some(2),
            _ if self.rule().is_strict() && self.outcome(difference) == Some(GateOutcome::Undecided) => {
                Some(3)
            }
            Verdict::Inconclusive | Verdict::Equivalent => None,
        };
        let mut listed: Vec<&Difference> =
            self.differences.iter().filter(|difference| rank(difference).is_some()).collect();
        listed.sort_by_key(|difference| rank(difference));
        listed
    }

    fn text(&self) -> String {
        let (result, counts) = self.headline();
        let mut text = format!("{result}  {counts}\n");
        let listed = self.listed();
        let rows: Vec<[String; 6]> =
            listed.iter().take(MOST_LISTED).map(|of| of.columns(&self.word(of))).collect();
        let widths: [usize; 6] =
            std::array::from_fn(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
        for row in &rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                let _ = write!(line, "  {cell:<width$}");
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        if listed.len() > MOST_LISTED {
            let _ = writeln!(
                text,
                "  and {count} more (--format json prints all)",
                count = listed.len() - MOST_LISTED
            );
        }
        self.notes.iter().fold(text, |text, note| text + "  note: " + note + "\n")
    }

    /// Returns a word for the outcome of a difference, such as `improved`. Returns an empty text for a regression,
    /// because most of the listed differences are regressions.
    fn word(&self, difference: &Difference) -> String {
        let is_gated = self.rule().tolerance.is_some() || self.rule().is_strict();
        match (self.outcome(difference), difference.comparison.doubt) {
            _ if difference.is_changed() => "  changed".to_owned(),
            (Some(GateOutcome::Undecided), Some(doubt)) if is_gated => format!("  undecided: {doubt}"),
            (Some(GateOutcome::Undecided), None) if is_gated => "  undecided".to_owned(),
            _ if difference.verdict() == Verdict::Improved => "  improved".to_owned(),
            (Some(GateOutcome::Passed), _) => "  passed".to_owned(),
            _ => String::new(),
        }
    }

    fn markdown(&self) -> String {
        let (result, counts) = self.headline();
        let mut text = format!("### lsmbench: {result}: {}\n\n", plain(&counts));
        let listed = self.listed();
        if !listed.is_empty() {
            text.push_str("| number | metric | base | new | change |\n|---|---|--:|--:|---|\n");
        }
        for difference in listed.iter().take(MOST_LISTED) {
            let [base, new] = difference.values();
            let cells = [
                difference.name(),
                difference.metric.name.to_owned(),
                base,
                new,
                format!("{}{}", difference.change(), self.word(difference)),
            ];
            text += &row(cells.iter().map(String::as_str));
        }
        if listed.len() > MOST_LISTED {
            let _ = writeln!(text, "\n{} more.", listed.len() - MOST_LISTED);
        }
        self.notes.iter().fold(text, |text, note| text + "\n" + &plain(note) + ".\n")
    }

    fn json(&self) -> Value {
        let differences: Vec<Value> = self
            .differences
            .iter()
            .map(|difference| {
                let (key, comparison) = (&difference.key, &difference.comparison);
                json!({
                    "experiment": key.experiment,
                    "label": key.label,
                    "phase": key.phase,
                    "operation": key.operation,
                    "metric": key.metric,
                    "unit": difference.metric.unit.symbol(),
                    "base": difference.base,
                    "new": difference.new,
                    "verdict": comparison.verdict.to_string(),
                    "doubt": comparison.doubt.map(|doubt| doubt.to_string()),
                    "ratio": comparison.ratio,
                    "ratio_low": comparison.interval.map(|interval| interval.low),
                    "ratio_high": comparison.interval.map(|interval| interval.high),
                    "p_value": comparison.p_value,
                    "trials": comparison.blocks,
                    "gate": self.outcome(difference).map(GateOutcome::name),
                })
            })
            .collect();
        let (result, counts) = self.headline();
        json!({
            "good": self.is_good(),
            "headline": format!("{result}: {counts}"),
            "wrong_answers": self.wrong,
            "notes": self.notes,
            "differences": differences,
        })
    }

    /// Renders the new results in the JSON format of github-action-benchmark. This action stores the history itself, so
    /// the base results are not included.
    fn github_action_benchmark(&self) -> Value {
        let entry = |difference: &Difference| {
            let (name, unit) = (difference.name(), difference.metric.unit.symbol());
            let smaller = is_smaller_better(difference.metric);
            let (value, unit) = match smaller {
                true => (difference.new, unit.to_owned()),
                false => (1.0 / difference.new, format!("1 / ({unit})")),
            };
            json!({
                "name": format!("{name}: {}", difference.metric.name),
                "unit": unit,
                "value": value,
                "extra": difference.statement(),
            })
        };
        let directed = self.differences.iter().filter(|difference| !difference.is_undirected());
        directed.map(entry).collect()
    }

    fn bencher(&self) -> Value {
        let mut benchmarks = Map::new();
        for difference in self.differences.iter().filter(|difference| !difference.is_undirected()) {
            let measure = json!({ "value": difference.new });
            let of_name = benchmarks.entry(difference.name()).or_insert_with(|| json!({}));
            of_name[difference.metric.name] = measure;
        }
        Value::Object(benchmarks)
    }
}

impl Difference {
    /// Formats the name of the value that is compared, such as `quickstart: leveled, phase mixed, get`.
    fn name(&self) -> String {
        let operation = match self.key.operation.as_str() {
            results::columns::ALL => String::new(),
            operation => format!(", {operation}"),
        };
        format!("{}: {}, phase {}{operation}", self.key.experiment, self.key.label, self.key.phase)
    }

    /// Returns the fields of a line of the report: experiment, label, phase, metric, both values, and the change.
    fn columns(&self, outcome: &str) -> [String; 6] {
        let [base, new] = self.values();
        let operation = match self.key.operation.as_str() {
            results::columns::ALL => String::new(),
            operation => format!(", {operation}"),
        };
        [
            self.key.experiment.clone(),
            on_one_line(&quoted(&self.key.label)),
            format!("phase {}{operation}", self.key.phase),
            self.metric.name.to_owned(),
            format!("{base} -> {new}"),
            format!("{}{outcome}", self.change()),
        ]
    }

    /// Formats a difference briefly: `ops_per_second of leveled, phase mixed (+12.0%)`.
    pub(super) fn in_short(&self) -> String {
        let change = Change::of(&self.comparison, None).map_or_else(String::new, |change| change.short());
        format!("{} of {}, phase {} ({change})", self.metric.name, quoted(&self.key.label), self.key.phase)
    }

    /// Formats the base median and the new median. Exact values are printed to the last digit, and other values with
    /// three digits.
    fn values(&self) -> [String; 2] {
        [self.base, self.new].map(|value| match self.is_exact {
            true => value.to_string(),
            false => shown(value, self.metric.unit),
        })
    }

    /// Formats the change from the base value to the new value: `+1 (+0.005%)` for exact values, and `7.1% slower (95%
    /// CI 5.0% to 9.1%, p = 0.010, n = 10)` for other values.
    fn change(&self) -> String {
        let Some(change) = Change::of(&self.comparison, None) else { return String::new() };
        if self.is_exact || change.is_of_zero() {
            return exact_change(self.base, self.new);
        }
        let (unit, better) = (self.metric.unit, self.metric.better);
        let word = direction(self.metric.title, (unit, better), change.is_up());
        let p = self.comparison.p_value.map(|p| format!("p = {p:.3}"));
        let interval = change.interval().map(|ends| format!("95% CI {ends}"));
        let trials = Some(format!("n = {}", self.comparison.blocks));
        let evidence: Vec<String> = [interval, p, trials].into_iter().flatten().collect();
        format!("{} {word} ({})", change.size(), evidence.join(", "))
    }

    /// Formats the verdict with the change and the reason for doubt:
    /// `regressed, 7.1% slower (95% CI 5.0% to 9.1%, n = 10)`.
    fn statement(&self) -> String {
        let Comparison { verdict, doubt, .. } = self.comparison;
        let change = Some(self.change()).filter(|change| !change.is_empty());
        let doubt = doubt.map_or_else(String::new, |doubt| format!(": {doubt}"));
        format!("{verdict}{}{doubt}", change.map_or_else(String::new, |change| format!(", {change}")))
    }

    /// Returns true if neither higher nor lower is better.
    fn is_undirected(&self) -> bool {
        self.metric.better == results::Better::Neither
    }
}

/// Formats the difference of two exact values, such as `+1 (+0.005%)`, with enough digits to show the difference.
fn exact_change(base: f64, new: f64) -> String {
    let difference = new - base;
    let sign = if difference < 0.0 { "-" } else { "+" };
    let size = digits(difference.abs(), 0);
    match (difference / base).abs() * 100.0 {
        percent if percent.is_finite() => format!("{sign}{size} ({sign}{}%)", digits(percent, 1)),
        _ => format!("{sign}{size}"),
    }
}

/// Formats a number with at least `least` digits after the decimal point, and with at least one digit that is not
/// zero.
fn digits(number: f64, least: usize) -> String {
    if number.fract() == 0.0 && least == 0 {
        return format!("{number:.0}");
    }
    let places = if number > 0.0 { (-number.log10()).ceil().max(0.0) as usize } else { 0 };
    format!("{number:.0$}", places.clamp(least.max(1), 12))
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a JSON value must serialize to text") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_change_of_an_exact_number_is_seen() {
        assert_eq!(exact_change(21034.0, 21035.0), "+1 (+0.005%)");
        assert_eq!(exact_change(4.0, 3.0), "-1 (-25.0%)");
        assert_eq!(exact_change(0.0, 3.0), "+3");
        assert_eq!(exact_change(2.0, 2.0001), "+0.0001 (+0.005%)");
    }
}
