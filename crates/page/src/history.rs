//! The history part of a page: the runs of each experiment, the values of each series, and the change points with their
//! commits.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use types::{Outcome, Problem};
use verdict::{Series, add_command, counted, entries, series};

use crate::data::MetricData;
use crate::escape::escape;
use crate::rows::unit;

/// The maximum number of series in the table for browsers without scripts.
const MOST_SERIES: usize = 400;

/// The number of characters of a commit hash that a page shows.
const COMMIT: usize = 10;

/// The history of metrics over past runs, for the page.
#[derive(Serialize)]
pub(crate) struct HistoryData {
    metrics: Vec<MetricData>,
    experiments: Vec<ExperimentHistory>,
}

/// The runs of an experiment, from the oldest to the newest.
#[derive(Serialize)]
struct ExperimentHistory {
    name: String,
    runs: Vec<PastRun>,
    series: Vec<SeriesData>,
}

/// A past run of an experiment: its start time, and the commit of the program.
#[derive(Serialize)]
struct PastRun {
    started: String,
    commit: String,
}

/// The values of one metric of one configuration in all past runs.
#[derive(Serialize)]
struct SeriesData {
    label: String,
    /// The number of the series among all series with the same name, starting at 1. Each change of the configuration in
    /// the experiment file starts another series.
    version: usize,
    phase: String,
    operation: String,
    /// The index of the metric in the list of metrics.
    metric: usize,
    /// The machine that measured the values. Empty for counters, which are equal on all machines.
    machine: String,
    /// The values, each with the index of its past run.
    values: Vec<(usize, f64)>,
    changes: Vec<ChangePoint>,
    /// The parts of the series between two change points, each with the index of its first run, the index of its last
    /// run, and the median of its values.
    levels: Vec<(usize, usize, f64)>,
}

/// A lasting change of a metric.
#[derive(Serialize)]
struct ChangePoint {
    /// The index of the first past run after the change.
    run: usize,
    before: f64,
    after: f64,
    /// The verdict on the change: `improved`, `regressed` or `changed`.
    verdict: &'static str,
}

impl HistoryData {
    /// Reads a history file.
    ///
    /// # Errors
    /// A file that does not exist, has no runs or cannot be read.
    pub(crate) fn read(store: &Path) -> Outcome<Self> {
        let all = series(&entries(store)?);
        if all.is_empty() {
            let message = format!("the history has no runs; add a run with: {}", add_command(store));
            return Err(Problem::at(store, None, message));
        }
        let names: BTreeSet<&str> = all.iter().map(|one| one.place[0].as_str()).collect();
        let mut metrics = Vec::new();
        let experiments = names.iter().map(|name| {
            let own: Vec<&Series> = all.iter().filter(|one| one.place[0] == *name).collect();
            ExperimentHistory::of(name, &own, &mut metrics)
        });
        Ok(Self { experiments: experiments.collect(), metrics })
    }

    /// Renders the history as HTML: a table of the change points (newest change first), and all series. The script of
    /// the page adds the charts.
    pub(crate) fn html(&self) -> String {
        let mut text =
            "<article class=\"history\" id=\"history-page\">\n<header>\n<h1>History</h1>\n".to_owned();
        let runs: usize = self.experiments.iter().map(|of| of.runs.len()).sum();
        let series: usize = self.experiments.iter().map(|of| of.series.len()).sum();
        let changes = self.changes();
        let longest = self.experiments.iter().flat_map(|of| &of.series).map(|one| one.values.len()).max();
        let _ = write!(
            text,
            "<p class=\"facts\">{} of {series} series in {runs} runs. A value is the median over the trials of a run. A \
             change point is the first run after a lasting change of the values.</p>\n</header>\n",
            counted(changes.len(), "change point"),
        );
        text += "<section class=\"verdicts\" aria-label=\"Change points\">\n<h2>Change points</h2>\n";
        if changes.is_empty() {
            let longest = longest.unwrap_or(0);
            let _ = writeln!(
                text,
                "<p>No metric has a change point. A change point needs about nine runs with equal settings, and the longest \
                 series has {}.</p>",
                counted(longest, "run")
            );
        } else {
            text += "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">since</th><th scope=\"col\">commit</th>\
                     <th scope=\"col\">series</th><th scope=\"col\">metric</th><th scope=\"col\">change</th>\
                     <th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n";
            text += &changes.concat();
            text += "</tbody>\n</table></div>\n";
        }
        text += "</section>\n<div class=\"live\"></div>\n";
        text + &self.runs() + &self.plain() + "</article>\n"
    }

    /// Returns a collapsed table of all runs of each experiment with their commits, oldest run first.
    fn runs(&self) -> String {
        let mut text = "<details class=\"notes\" id=\"all-runs\">\n<summary>All runs with their commits</summary>\n\
                        <div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">experiment</th><th scope=\"col\">run</th>\
                        <th scope=\"col\">started</th><th scope=\"col\">commit</th></tr></thead>\n<tbody>\n"
            .to_owned();
        for experiment in &self.experiments {
            for (number, run) in experiment.runs.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td>{}</td><td><code>{}</code></td></tr>",
                    escape(&experiment.name),
                    number + 1,
                    escape(&run.started.replace('T', " ").replace('Z', "")),
                    escape(short(&run.commit)),
                );
            }
        }
        text + "</tbody>\n</table></div>\n</details>\n"
    }

    /// Returns the table rows of the change points, newest change first.
    fn changes(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for experiment in &self.experiments {
            for one in &experiment.series {
                let metric = &self.metrics[one.metric];
                let value = |number| escape(&plot::format_value(number, unit(metric)));
                for change in &one.changes {
                    let run = &experiment.runs[change.run];
                    let row = format!(
                        "<tr class=\"{}\"><td>{}</td><td><code>{}</code></td><td>{}</td><td>{}</td><td>{} → {}{}</td><td>{}</td></tr>\n",
                        change.verdict,
                        escape(run.started.split('T').next().unwrap_or_default()),
                        escape(short(&run.commit)),
                        escape(&one.name(&experiment.name)),
                        escape(metric.title),
                        value(change.before),
                        value(change.after),
                        percent(change.before, change.after),
                        change.verdict,
                    );
                    rows.push((run.started.clone(), row));
                }
            }
        }
        rows.sort_by(|a, b| b.cmp(a));
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Renders the first and the last value of each series as a table, for browsers without scripts.
    fn plain(&self) -> String {
        let mut text = "<div class=\"plain\">\n<table>\n<caption>First and last value of each series</caption>\n<thead><tr>\
                        <th scope=\"col\">series</th><th scope=\"col\">metric</th><th scope=\"col\">runs</th><th scope=\"col\">\
                        first</th><th scope=\"col\">last</th></tr></thead>\n<tbody>\n"
            .to_owned();
        let all = self.experiments.iter().flat_map(|of| of.series.iter().map(move |one| (of, one)));
        for (experiment, one) in all.take(MOST_SERIES) {
            let metric = &self.metrics[one.metric];
            let value = |at: Option<&(usize, f64)>| {
                at.map_or_else(String::new, |(_, number)| plot::format_value(*number, unit(metric)))
            };
            let _ = writeln!(
                text,
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(&one.name(&experiment.name)),
                escape(metric.title),
                one.values.len(),
                escape(&value(one.values.first())),
                escape(&value(one.values.last())),
            );
        }
        text + "</tbody>\n</table>\n</div>\n"
    }
}

impl ExperimentHistory {
    /// Collects the history of one experiment, and adds its metrics to `metrics`.
    fn of(name: &str, all: &[&Series], metrics: &mut Vec<MetricData>) -> Self {
        let key = |run: &verdict::HistoryRun| (run.started.clone(), run.commit.clone());
        let runs: BTreeSet<(String, String)> = all.iter().flat_map(|one| &one.runs).map(key).collect();
        let runs: Vec<(String, String)> = runs.into_iter().collect();
        let place = |run: &verdict::HistoryRun| runs.binary_search(&key(run)).unwrap_or_default();
        let mut found: Vec<SeriesData> = Vec::new();
        let mut all = all.to_vec();
        // Sorts the series by time, because their versions are numbered in this order.
        all.sort_by_key(|one| one.runs.first().map(|run| run.started.clone()));
        for one in &all {
            let [_, label, phase, operation] = &one.place;
            let metric = metrics.iter().position(|of| of.name == one.metric.name).unwrap_or_else(|| {
                metrics.push(MetricData::of(one.metric));
                metrics.len() - 1
            });
            let changes = one.changes();
            let at = |index: usize| place(&one.runs[index]);
            let mut data = SeriesData {
                label: label.clone(),
                version: 1,
                phase: phase.clone(),
                operation: operation.clone(),
                metric,
                machine: one.machine.clone(),
                values: one.runs.iter().map(|run| (place(run), run.value)).collect(),
                changes: changes
                    .iter()
                    .map(|change| ChangePoint {
                        run: place(change.run),
                        before: change.before,
                        after: change.after,
                        verdict: change.verdict(one.metric.better),
                    })
                    .collect(),
                levels: one
                    .levels()
                    .into_iter()
                    .map(|(of, level)| (at(of.start), at(of.end - 1), level))
                    .collect(),
            };
            data.version += found.iter().filter(|of| of.is_like(&data)).count();
            found.push(data);
        }
        let runs = runs.into_iter().map(|(started, commit)| PastRun { started, commit });
        Self { name: name.to_owned(), runs: runs.collect(), series: found }
    }
}

impl SeriesData {
    /// Returns whether two series have the same name, so that they are versions of one series. The configurations of
    /// such series have the same label, but different settings.
    fn is_like(&self, other: &Self) -> bool {
        let key = |of: &Self| {
            (of.label.clone(), of.phase.clone(), of.operation.clone(), of.metric, of.machine.clone())
        };
        key(self) == key(other)
    }

    /// Returns the name of the series for readers, such as `ycsb: leveled, phase a, get`.
    fn name(&self, experiment: &str) -> String {
        let operation = match self.operation.as_str() {
            results::columns::ALL => String::new(),
            operation => format!(", {operation}"),
        };
        let machine = if self.machine.is_empty() { String::new() } else { format!(" on {}", self.machine) };
        let version = if self.version > 1 { format!(" (version {})", self.version) } else { String::new() };
        format!("{experiment}: {}{version}, phase {}{operation}{machine}", self.label, self.phase)
    }
}

fn short(commit: &str) -> &str {
    commit.get(..COMMIT).unwrap_or(commit)
}

/// Returns the change in percent as text, such as ` (+3.1 %)`. Empty if the old value is 0.
fn percent(before: f64, after: f64) -> String {
    if before == 0.0 { String::new() } else { format!(" ({:+.1} %)", (after / before - 1.0) * 100.0) }
}
