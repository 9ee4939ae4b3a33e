//! Formats the comparisons of a results folder as texts, for tables that contain many experiments.

use std::collections::BTreeMap;

use results::{RunMode, Table, Unit, columns as c};
use verdict::PhaseCounters;

use crate::data::RunData;
use crate::opened::Opened;
use crate::rows::rows;
use crate::selection::Selection;

/// The maximum number of counters that the reason of a verdict names.
const MOST_COUNTERS: usize = 2;

/// The comparison of a configuration with its baseline in one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedConfiguration {
    /// The phase and the kind of operation, such as `mixed` or `mixed, get`.
    pub phase: String,
    /// The title of the metric.
    pub metric: &'static str,
    /// The name of the metric, which is a column of `runs.csv`.
    pub column: &'static str,
    /// The parameter values that the candidate and the baseline share. Empty if the run has only one group of
    /// configurations.
    pub within: String,
    /// The label of the baseline.
    pub baseline: String,
    /// The label of the candidate.
    pub candidate: String,
    /// The swept parameters and their values in the candidate. A value is empty if the candidate has no such setting.
    pub swept: Vec<(String, String)>,
    /// The ratio candidate / baseline. `None` if a median is 0 or missing.
    pub ratio: Option<f64>,
    /// The ratio as text, such as `2.28x` or `+3.1%`.
    pub change: String,
    /// The 95 % confidence interval of the ratio, such as `2.18 .. 2.65`. Empty in `counted` mode.
    pub interval: String,
    /// The verdict: `improved`, `regressed`, `equivalent` or `inconclusive`.
    pub verdict: String,
    /// The reason why the verdict is inconclusive, or the counters with the largest difference.
    pub reason: String,
    /// The memory of the candidate in bytes: memtables, filters, fence pointers and cache. `None` if the candidate does
    /// not report its memory.
    pub memory_bytes: Option<f64>,
}

/// Returns the comparisons of a run: the comparisons in `verdicts.csv`, or those of the throughput in each phase if a
/// timed run has no verdicts.
pub(crate) fn compared(opened: &Opened, run: &RunData) -> Vec<ComparedConfiguration> {
    let mut all = Vec::new();
    let mut phases: BTreeMap<usize, (PhaseCounters, BTreeMap<u64, f64>)> = BTreeMap::new();
    for of in selections(opened, run) {
        let metric = &run.metrics[of.metric];
        let phase = &run.phases[of.phase];
        let read = || (PhaseCounters::of(&opened.runs, phase), memory(&opened.runs, phase));
        let (counters, memory) = &*phases.entry(of.phase).or_insert_with(read);
        for row in rows(run, of) {
            if row.comparison.is_none() || (!run.verdicts.is_empty() && row.verdict.is_none()) {
                continue;
            }
            let [own, baseline] = [row.cell, row.baseline_cell].map(|at| run.cells[at].number);
            let (change, interval) = row.change(metric);
            let doubt = row.doubt();
            let counters = counters.differing(own, baseline);
            let paths = run.swept.iter().map(|swept| swept.path.clone());
            let values = paths.zip(run.cells[row.cell].swept.iter().cloned());
            all.push(ComparedConfiguration {
                phase: match run.operations[of.operation].as_str() {
                    results::columns::ALL => phase.clone(),
                    operation => format!("{phase}, {operation}"),
                },
                metric: metric.title,
                column: metric.name,
                within: row.heading.to_owned(),
                baseline: run.cells[row.baseline_cell].label.clone(),
                candidate: row.label.to_owned(),
                swept: values.collect(),
                ratio: row.comparison.as_ref().and_then(|comparison| comparison.ratio),
                change,
                interval: if run.is_counted { String::new() } else { interval },
                verdict: row.verdict_word(),
                reason: match doubt.is_empty() {
                    true => counters[..counters.len().min(MOST_COUNTERS)].join(", "),
                    false => doubt,
                },
                memory_bytes: memory.get(&own).copied(),
            });
        }
    }
    all
}

/// Returns the phases, operations and metrics of the comparisons: those of the verdicts, or the throughput of each
/// phase if a timed run has no verdicts.
fn selections(opened: &Opened, run: &RunData) -> Vec<Selection> {
    let mut selections: Vec<Selection> = Vec::new();
    for verdict in &run.verdicts {
        if !selections.contains(&verdict.of) {
            selections.push(verdict.of);
        }
    }
    if !selections.is_empty() || opened.manifest.mode != RunMode::Timed.name() {
        return selections;
    }
    let metric = run.metrics.iter().position(|metric| metric.name == c::OPS_PER_SECOND.name);
    let operation = run.operations.iter().position(|operation| operation == results::columns::ALL);
    let Some((metric, operation)) = metric.zip(operation) else { return selections };
    let phases = (0..run.phases.len()).map(|phase| Selection { phase, operation, metric });
    phases.filter(|of| run.matrix(*of).is_some()).collect()
}

/// Returns the memory of each configuration in bytes, by the number of the configuration. The value comes from the
/// first row of the phase that contains it.
fn memory(runs: &Table, phase: &str) -> BTreeMap<u64, f64> {
    let parts = [&c::MEMTABLE_BYTES, &c::FILTER_BYTES, &c::FENCE_BYTES, &c::CACHE_BYTES];
    let mut memory = BTreeMap::new();
    for row in runs.rows() {
        let is_of = row.get(&c::PHASE).text() == Some(phase)
            && row.get(&c::OPERATION).text() == Some(results::columns::ALL);
        let Some(cell) = row.get(&c::CELL).integer().filter(|cell| is_of && !memory.contains_key(cell))
        else {
            continue;
        };
        let bytes = parts.iter().filter_map(|part| row.get(part).number()).reduce(|a, b| a + b);
        if let Some(bytes) = bytes.filter(|bytes| *bytes > 0.0) {
            memory.insert(cell, bytes);
        }
    }
    memory
}

/// Formats a number of bytes, such as `1.5 MiB`.
pub fn bytes_text(bytes: f64) -> String {
    plot::format_value(bytes, Unit::Bytes)
}
