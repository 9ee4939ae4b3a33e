//! `lsmbench history` records metrics of many runs, and finds change points.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use plot::{Chart, ChartSpec, Context, Form, PlotError};
use results::targets::{check_file, check_folder, check_name};
use results::{Folder, Row, Schema, Table, ValueType, columns as c};
use types::{Outcome, Problem, valid_names};
use verdict::{Series, add, entries, series};

use crate::cli::HistoryArguments;
use crate::output::{line, print};

/// The name of the column with the number of a run in the history. This column is the horizontal axis of the charts.
const RUN: &str = "run";

/// A chart has a logarithmic scale if its largest value is more than this many times its smallest value.
const FAR_APART: f64 = 20.0;

/// Adds the results that the user names to the history, and prints the change points of each [`Series`], newest last. A
/// series is one metric of one configuration over all runs. With `--plots`, draws the series as charts.
pub(crate) fn history(arguments: &HistoryArguments) -> Outcome<()> {
    let HistoryArguments { store, add: results, metric, experiment, plots } = arguments;
    for name in metric {
        if results::reference::metric(name).is_none() {
            return Err(Problem::new(format!(
                "unknown column \"{name}\"; list all columns with: lsmbench list --columns"
            )));
        }
    }
    plots.as_deref().map_or(Ok(()), check_folder)?;
    if !results.is_empty() {
        check_file(store)?;
        add(store, results, metric, line)?;
    }
    let is_shown = |series: &Series| {
        let [of, ..] = &series.place;
        experiment.as_ref().is_none_or(|experiment| experiment == of)
            && (metric.is_empty() || metric.iter().any(|name| name == series.metric.name))
    };
    let all = series(&entries(store)?);
    if let Some(name) = experiment.as_ref().filter(|name| all.iter().all(|series| series.place[0] != **name))
    {
        let mut names: Vec<&str> = all.iter().map(|series| &*series.place[0]).collect();
        names.dedup();
        return Err(Problem::new(format!(
            "the history has no experiment \"{name}\". {valid}",
            valid = valid_names(names)
        )));
    }
    let series: Vec<Series> = all.into_iter().filter(is_shown).collect();
    print(&report(&series))?;
    plots.as_ref().map_or(Ok(()), |folder| draw(&series, folder))
}

/// Returns a text with the change points of all series, and with the numbers of series and runs.
fn report(series: &[Series]) -> String {
    let mut text = String::new();
    let mut changes = 0;
    for series in series {
        for change in series.changes() {
            changes += 1;
            let verdict = change.verdict(series.metric.better);
            let value = |number| plot::format_value(number, series.metric.unit).replace('\u{a0}', " ");
            let _ = writeln!(
                text,
                "{}: {} {verdict}, {} -> {}{}, since {}{}",
                series.name(),
                series.metric.name,
                value(change.before),
                value(change.after),
                percent(change.before, change.after),
                change.run.started,
                if change.run.commit.is_empty() {
                    String::new()
                } else {
                    format!(", commit {}", short(&change.run.commit))
                },
            );
        }
    }
    let most = series.iter().map(|series| series.runs.len()).max().unwrap_or(0);
    let _ = writeln!(
        text,
        "{changes} change points in {metrics} metrics over up to {most} runs",
        metrics = series.len()
    );
    if most < 9 {
        let _ = writeln!(
            text,
            "lsmbench can detect a change point only in about nine or more runs; add runs with --add RESULTS"
        );
    }
    text
}

/// Formats the relative change from `before` to `after`, such as ` (+5.0%)`. Returns an empty text if `before` is 0.
fn percent(before: f64, after: f64) -> String {
    if before == 0.0 { String::new() } else { format!(" ({:+.1}%)", (after / before - 1.0) * 100.0) }
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// Draws one chart for each experiment, phase, operation, metric and machine. A chart has two lines for each
/// configuration: the values of the runs, and the means between the change points.
fn draw(series: &[Series], folder: &Path) -> Outcome<()> {
    let mut groups: BTreeMap<[&str; 5], Vec<&Series>> = BTreeMap::new();
    // A single run has no trend.
    for one in series.iter().filter(|one| one.runs.len() > 1) {
        let [experiment, _, phase, operation] = &one.place;
        let key = [experiment, phase, operation, one.metric.name, &one.machine];
        groups.entry(key).or_default().push(one);
    }
    for ([experiment, phase, operation, metric, machine], group) in groups {
        check_name(experiment)?;
        let stem = file_name(&format!("{phase}-{operation}-{metric}"));
        let title = format!("{metric} of {experiment} across runs");
        match chart(&group, metric, title) {
            Ok(chart) => {
                let folder = folder.join(experiment).join(file_name(machine));
                for path in chart.write(&folder, &stem)?.iter().skip(1) {
                    line(&format!("Chart: {}", path.display()));
                }
            }
            Err(error @ PlotError::Write { .. }) => return Err(error.into()),
            Err(error) => line(&format!("  no chart {stem}: {error}")),
        }
    }
    Ok(())
}

/// Replaces characters of a name that are not valid in a file name.
fn file_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Returns whether a chart needs a logarithmic scale, because its largest value is more than [`FAR_APART`] times its
/// smallest value. Returns false if a value is not above 0.
fn is_far_apart(group: &[&Series]) -> bool {
    let numbers = || group.iter().flat_map(|series| &series.runs).map(|run| run.value);
    let (least, most) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(0.0, f64::max));
    least > 0.0 && most > FAR_APART * least
}

fn chart(group: &[&Series], metric: &str, title: String) -> Result<Chart, PlotError> {
    let schema = Schema::runs(&[RUN])
        .expect("runs.csv must have no column \"run\", because the history adds a column with this name");
    let mut rows = Vec::new();
    let mut push = |label: String, run: usize, series: &Series, value: f64| {
        let mut row = Row::new(&schema);
        row.set(&c::LABEL, label)
            .set(&c::TRIAL, 0_u64)
            .set(&c::PHASE, series.place[2].as_str())
            .set(&c::OPERATION, results::columns::ALL);
        row.set_swept(RUN, &(run + 1).to_string())
            .expect("the column \"run\" of the history must be a swept column");
        match series.metric.kind {
            ValueType::Integer => row.set(series.metric, value.round() as u64),
            _ => row.set(series.metric, value),
        };
        rows.push(row);
    };
    for series in group {
        let label = &series.place[1];
        for (at, run) in series.runs.iter().enumerate() {
            push(label.clone(), at, series, run.value);
        }
        let levels = series.levels().into_iter().filter(|_| !series.change_points.is_empty());
        for (at, level) in levels.flat_map(|(runs, level)| runs.map(move |at| (at, level))) {
            push(format!("{label}, level"), at, series, level);
        }
    }
    let spec = ChartSpec {
        log_y: Some(is_far_apart(group)),
        x: Some(RUN.to_owned()),
        y: Some(metric.to_owned()),
        series: Some(c::LABEL.name.to_owned()),
        title: Some(title),
        ..ChartSpec::new(Form::Line)
    };
    let context = Context {
        points: Some("each point is the median of the trials of a run".to_owned()),
        ..Context::default()
    };
    Chart::of_table(&Table::new(schema, rows), &Folder::new(""), &spec, &context)
}
