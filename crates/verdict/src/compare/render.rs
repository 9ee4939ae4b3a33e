//! A report for people (the verdict first), for the summary page of a CI run, and for programs.

use std::fmt::Write as _;

use clap::ValueEnum;
use measure::Verdict;
use serde_json::{Map, Value, json};

use super::report::{Difference, Report, is_smaller_better};
use crate::markdown::plain;

/// The most differences that are listed for people; programs get all.
const MOST_LISTED: usize = 40;

/// How a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal
    #[default]
    Text,
    /// For the summary of a GitHub step
    Markdown,
    /// Everything, for programs
    Json,
    /// What github-action-benchmark reads where smaller is better: rates are written as their inverse
    GithubActionBenchmark,
    /// What Bencher reads (Bencher Metric Format)
    Bencher,
}

impl Report {
    /// The whole report in a format.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::Markdown => self.markdown(),
            Format::Json => pretty(&self.json()),
            Format::GithubActionBenchmark => pretty(&self.github_action_benchmark()),
            Format::Bencher => pretty(&self.bencher()),
        }
    }

    /// The verdict in one sentence.
    fn headline(&self) -> String {
        let count = |verdict| self.with(verdict).count();
        let changed = self.differences.iter().filter(|difference| difference.is_changed()).count();
        let counts = [
            (count(Verdict::Regressed), "regressed"),
            (count(Verdict::Improved), "improved"),
            (count(Verdict::Equivalent), "equivalent"),
            (count(Verdict::Inconclusive) - changed, "inconclusive"),
            (changed, "changed where neither direction is better"),
        ];
        let told: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let wrong = match &self.wrong[..] {
            [] => String::new(),
            wrong => format!("wrong answers by {}; ", wrong.join(", ")),
        };
        let gone = match self.gone {
            0 => String::new(),
            gone => format!("{gone} numbers of the base are gone; "),
        };
        let verdict = match self.with(Verdict::Regressed).next() {
            _ if self.is_good() => "no regression",
            None if self.wrong.is_empty() && self.gone == 0 && self.has_implausible() => "IMPLAUSIBLE",
            None if self.wrong.is_empty() && self.gone == 0 => "CHANGED",
            None if self.wrong.is_empty() => "GONE",
            _ => "REGRESSION",
        };
        format!("{verdict}: {wrong}{gone}of {} numbers {}", self.differences.len(), told.join(", "))
    }

    /// What is worth a line, the worst first.
    fn listed(&self) -> Vec<&Difference> {
        let rank = |difference: &Difference| match difference.verdict() {
            Verdict::Regressed => Some(0),
            Verdict::Improved => Some(1),
            _ if difference.is_changed() => Some(2),
            Verdict::Inconclusive | Verdict::Equivalent => None,
        };
        let mut listed: Vec<&Difference> =
            self.differences.iter().filter(|difference| rank(difference).is_some()).collect();
        listed.sort_by_key(|difference| rank(difference));
        listed
    }

    fn text(&self) -> String {
        let mut text = self.headline() + "\n";
        let listed = self.listed();
        for difference in listed.iter().take(MOST_LISTED) {
            let [base, new] = difference.values();
            let _ = writeln!(
                text,
                "  {}: {} {} -> {}  {}",
                difference.name(),
                difference.metric.name,
                base,
                new,
                difference.comparison
            );
        }
        if listed.len() > MOST_LISTED {
            let _ = writeln!(text, "  and {} more; --format json has all", listed.len() - MOST_LISTED);
        }
        self.notes.iter().fold(text, |text, note| text + "  note: " + note + "\n")
    }

    fn markdown(&self) -> String {
        let mut text = format!("### lsmbench: {}\n\n", plain(&self.headline()));
        let listed = self.listed();
        if !listed.is_empty() {
            text.push_str("| number | metric | base | new | verdict |\n|---|---|--:|--:|---|\n");
        }
        for difference in listed.iter().take(MOST_LISTED) {
            let [base, new] = difference.values();
            let cells = [difference.name(), difference.metric.name.to_owned(), base, new];
            let cells = cells.map(|cell| plain(&cell)).join(" | ");
            let _ = writeln!(text, "| {cells} | {} |", difference.comparison);
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
                })
            })
            .collect();
        json!({
            "good": self.is_good(),
            "headline": self.headline(),
            "wrong_answers": self.wrong,
            "notes": self.notes,
            "differences": differences,
        })
    }

    /// The new side alone: that action keeps the history itself.
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
                "extra": difference.comparison.to_string(),
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
    /// `quickstart: leveled, phase mixed, get`.
    fn name(&self) -> String {
        let operation = match self.key.operation.as_str() {
            results::columns::ALL => String::new(),
            operation => format!(", {operation}"),
        };
        format!("{}: {}, phase {}{operation}", self.key.experiment, self.key.label, self.key.phase)
    }

    /// Both medians as people read them: exact numbers to the last digit.
    fn values(&self) -> [String; 2] {
        [self.base, self.new].map(|value| match self.comparison.blocks {
            1 => value.to_string(),
            _ => plot::format_value(value, self.metric.unit),
        })
    }

    /// Whether the number describes the run only.
    fn is_undirected(&self) -> bool {
        self.metric.better == results::Better::Neither
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("it is plain data") + "\n"
}
