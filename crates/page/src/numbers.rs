//! The values of all trials, by phase, kind of operation and metric.

use std::collections::{BTreeMap, BTreeSet};

use measure::Sample;
use results::columns::{METRICS, OPERATION, PHASE, TRIAL};
use results::{Better, Metric, Row, Table, ValueType, columns as c};
use serde::Serialize;

use crate::opened::Opened;

/// The maximum number of values in a page. The values of metrics with verdicts do not count.
const MOST_NUMBERS: usize = 400_000;

/// The main metrics, which a page includes directly after the metrics with verdicts.
const MAIN: [Metric; 14] = [
    c::OPS_PER_SECOND,
    c::MEAN_NS,
    c::P50_NS,
    c::P99_NS,
    c::P999_NS,
    c::P50_SLICE_NS,
    c::WRITE_AMP_SETTLED,
    c::SPACE_AMP_SETTLED,
    c::BLOCKS_PER_GET,
    c::FPR,
    c::CACHE_HIT_RATE,
    c::WRITE_AMP,
    c::CPU_SECONDS,
    c::RSS_PEAK_BYTES,
];

/// Metrics that the page omits, because they only count answers that lsmbench has checked.
const HIDDEN: [Metric; 3] = [c::WRONG_ANSWERS, c::CHECKED_ANSWERS, c::DROPPED_ANSWERS];

/// The values of one metric, in one phase and one kind of operation, for all configurations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Matrix {
    /// The index of the phase in [`AllNumbers::phases`].
    pub(crate) phase: usize,
    /// The index of the kind of operation in [`AllNumbers::operations`].
    pub(crate) operation: usize,
    /// The index of the metric in [`AllNumbers::metrics`].
    pub(crate) metric: usize,
    /// The values of each configuration, in the order of the manifest.
    pub(crate) cells: Vec<Numbers>,
}

/// The values of one metric in one configuration, by round.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Numbers {
    /// No round has a value of the metric.
    None,
    /// The metric has this value in all rounds.
    All(f64),
    /// The value of each round; `None` for a round without a value.
    Each(Vec<Option<f64>>),
}

/// All values of a run, and the names to which their indexes refer.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllNumbers {
    pub(crate) phases: Vec<String>,
    pub(crate) operations: Vec<String>,
    pub(crate) metrics: Vec<&'static Metric>,
    /// The numbers of the rounds in ascending order, as in the column `trial`. The values of each configuration have
    /// the same order.
    pub(crate) rounds: Vec<u64>,
    pub(crate) matrices: Vec<Matrix>,
    /// The values of the second trials of baselines, which are the A/A runs.
    pub(crate) noise: Vec<Matrix>,
    /// The metrics that the page omits to stay small.
    pub(crate) left_out: Vec<&'static str>,
}

/// Rows of results, by the index of their phase and the index of their kind of operation. Each item consists of the
/// index of the configuration, the index of the round, and the row.
type Placed<'a> = BTreeMap<(usize, usize), Vec<(usize, usize, &'a Row)>>;

impl Numbers {
    /// Converts the values of all rounds to the smallest form that represents them.
    fn of(rounds: Vec<Option<f64>>) -> Self {
        match rounds.first() {
            _ if rounds.iter().all(Option::is_none) => Self::None,
            Some(Some(first)) if rounds.iter().all(|of| of.is_some_and(|of| of.total_cmp(first).is_eq())) => {
                Self::All(*first)
            }
            _ => Self::Each(rounds),
        }
    }

    /// Returns how many numbers a page contains for all rounds together.
    fn count(&self) -> usize {
        match self {
            Self::Each(rounds) => rounds.len(),
            _ => 1,
        }
    }

    /// Returns the values of the rounds `rounds` as a sample with the name `name`.
    pub(crate) fn sample(&self, name: &str, rounds: &[u64]) -> Sample {
        let of = |at: usize| match self {
            Self::None => None,
            Self::All(number) => Some(*number),
            Self::Each(numbers) => numbers.get(at).copied().flatten(),
        };
        let pairs = rounds.iter().enumerate().filter_map(|(at, round)| Some((*round, of(at)?)));
        Sample::new(name, pairs)
    }
}

impl AllNumbers {
    /// Reads the values of a run for the page. `judged` contains the metrics with verdicts, which the page always
    /// includes.
    pub(crate) fn of(opened: &Opened, judged: &[String]) -> Self {
        let text = |row: &Row, metric| row.get(metric).to_string();
        let phases = distinct(&opened.runs, &opened.manifest.phases, |row| text(row, &PHASE));
        let operations = distinct(&opened.runs, &[c::ALL.to_owned()], |row| text(row, &OPERATION));
        let rounds: BTreeSet<u64> =
            opened.runs.rows().iter().filter_map(|row| row.get(&TRIAL).integer()).collect();
        let mut numbers =
            Self { phases, operations, rounds: rounds.into_iter().collect(), ..Self::default() };
        let runs = numbers.placed(opened, &opened.runs);
        let noise = opened.noise.as_ref().map(|noise| numbers.placed(opened, noise)).unwrap_or_default();
        let mut count = 0;
        for metric in in_order(judged) {
            let is_judged = judged.iter().any(|name| name == metric.name);
            let cells = opened.manifest.cells.len();
            let found = numbers.matrices_of(metric, &runs, cells);
            let size: usize = found.iter().flat_map(|matrix| &matrix.cells).map(Numbers::count).sum();
            if found.is_empty() {
                continue;
            }
            if !is_judged && count + size > MOST_NUMBERS {
                numbers.left_out.push(metric.name);
                continue;
            }
            count += if is_judged { 0 } else { size };
            let again = numbers.matrices_of(metric, &noise, cells);
            numbers.matrices.extend(found);
            numbers.noise.extend(again);
            numbers.metrics.push(metric);
        }
        numbers
    }

    /// Groups the rows of a table by phase and kind of operation.
    fn placed<'a>(&self, opened: &Opened, table: &'a Table) -> Placed<'a> {
        let mut placed = Placed::new();
        for row in table.rows() {
            let phase = place(&self.phases, &row.get(&PHASE).to_string());
            let operation = place(&self.operations, &row.get(&OPERATION).to_string());
            let round = row.get(&TRIAL).integer().and_then(|round| self.rounds.binary_search(&round).ok());
            let cell = opened.place_of(row);
            if let (Some(phase), Some(operation), Some(cell), Some(round)) = (phase, operation, cell, round) {
                placed.entry((phase, operation)).or_default().push((cell, round, row));
            }
        }
        placed
    }

    /// Returns the values of a metric, one matrix for each phase and kind of operation with values. The index of the
    /// metric in a matrix is the length of `metrics`, so the caller must then append the metric to `metrics`.
    fn matrices_of(&self, metric: &Metric, placed: &Placed<'_>, cells: usize) -> Vec<Matrix> {
        let place = self.metrics.len();
        let matrices = placed.iter().filter_map(|((phase, operation), rows)| {
            let mut rounds = vec![vec![None; self.rounds.len()]; cells];
            let mut has_any = false;
            for (cell, round, row) in rows {
                if let Some(number) = row.get(metric).number() {
                    rounds[*cell][*round] = Some(number);
                    has_any = true;
                }
            }
            let cells = rounds.into_iter().map(Numbers::of).collect();
            has_any.then_some(Matrix { phase: *phase, operation: *operation, metric: place, cells })
        });
        matrices.collect()
    }

    /// Returns the values for the index of a phase, the index of a kind of operation and the index of a metric.
    pub(crate) fn find(&self, (phase, operation, metric): (usize, usize, usize)) -> Option<&Matrix> {
        let is_it = |of: &&Matrix| (of.phase, of.operation, of.metric) == (phase, operation, metric);
        self.matrices.iter().find(is_it)
    }
}

/// Returns the numeric metrics in the order in which a page includes them. Metrics with verdicts are first, and metrics
/// of which neither higher nor lower values are better are last.
fn in_order(judged: &[String]) -> Vec<&'static Metric> {
    let rank = |metric: &Metric| {
        let judged = judged.iter().position(|name| name == metric.name);
        let main = MAIN.iter().position(|of| of.name == metric.name).map(|at| at + judged_ranks());
        let rest = if metric.better == Better::Neither { usize::MAX } else { usize::MAX - 1 };
        judged.or(main).unwrap_or(rest)
    };
    let is_number =
        |metric: &&Metric| metric.kind != ValueType::Text && HIDDEN.iter().all(|of| of.name != metric.name);
    let mut metrics: Vec<&Metric> = METRICS.iter().filter(is_number).collect();
    metrics.sort_by_key(|metric| rank(metric));
    metrics
}

/// Returns the sort key of the first main metric. Metrics with verdicts have smaller keys, so they come first.
fn judged_ranks() -> usize {
    METRICS.len()
}

fn place(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|of| of == name)
}

/// Returns the distinct results of `text` for the rows of a table: first the texts in `first`, then the others in the
/// order of the table.
fn distinct(table: &Table, first: &[String], text: impl Fn(&Row) -> String) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for row in table.rows() {
        let text = text(row);
        if !found.contains(&text) {
            found.push(text);
        }
    }
    let rank = |text: &String| first.iter().position(|of| of == text).unwrap_or(first.len());
    found.sort_by_key(rank);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_stored_once() {
        assert_eq!(Numbers::of(vec![Some(2.0), Some(2.0)]), Numbers::All(2.0));
        assert_eq!(Numbers::of(vec![None, None]), Numbers::None);
        let each = Numbers::of(vec![Some(2.0), None]);
        assert_eq!(each, Numbers::Each(vec![Some(2.0), None]));
        assert_eq!(each.sample("a", &[3, 5]).blocks, [(3, 2.0)]);
        assert_eq!(Numbers::All(2.0).sample("a", &[3, 5]).blocks, [(3, 2.0), (5, 2.0)]);
        assert_eq!(
            serde_json::to_string(&[Numbers::None, Numbers::All(1.5), each]).unwrap(),
            "[null,1.5,[2.0,null]]"
        );
    }

    #[test]
    fn metrics_of_verdicts_come_first() {
        let names: Vec<&str> = in_order(&["fpr".to_owned()]).iter().map(|metric| metric.name).collect();
        assert_eq!(names[..3], ["fpr", "ops_per_second", "mean_ns"]);
        assert!(!names.contains(&"implausible") && names.contains(&"ops"));
    }
}
