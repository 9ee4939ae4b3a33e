//! The designs of a search with their scores, for charts.

use plot::{Chart, ChartSpec, Context};
use results::{Folder, Row, Schema, Table, ValueType, columns as c};
use types::Outcome;

use crate::candidate::{Candidate, Layer};
use crate::goal::{GoalMetric, Objectives};

/// The ratio of the largest to the smallest objective above which a chart of designs has a logarithmic scale.
const WIDE: f64 = 20.0;

/// The designs of a search with their scores, as the input of charts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space<'a> {
    /// The name of the experiment.
    pub(crate) experiment: &'a str,
    /// All designs of the search.
    pub(crate) candidates: &'a [Candidate],
    /// The objective of the search, and the limits that a design must meet.
    pub(crate) objectives: &'a Objectives,
    /// The last layer of the search that has finished.
    pub(crate) layer: Layer,
}

/// The rows of a chart in which each point is a design.
pub(crate) struct ChartRows {
    schema: Schema,
    rows: Vec<Row>,
}

impl ChartRows {
    /// Creates an empty table with the columns of `runs.csv`, the swept columns `swept`, and the columns of `metrics`.
    ///
    /// # Errors
    /// Two columns have the same name.
    pub(crate) fn new(swept: &[&str], metrics: &[GoalMetric]) -> Outcome<Self> {
        // A metric that is not a column of `runs.csv` is stored in a swept column with its name.
        let others = metrics.iter().filter(|metric| !matches!(metric, GoalMetric::Column(_)));
        let mut swept = swept.to_vec();
        swept.extend(others.map(|metric| metric.name()));
        Ok(Self { schema: Schema::runs(&swept)?, rows: Vec::new() })
    }

    /// Appends a row for a design, with its label and the phase of the objective.
    pub(crate) fn add(&mut self, cell: u64, trial: u64, label: &str, phase: &str) -> &mut Row {
        let mut row = Row::new(&self.schema);
        row.set(&c::LABEL, label).set(&c::CELL, cell).set(&c::TRIAL, trial);
        row.set(&c::PHASE, phase).set(&c::OPERATION, c::ALL);
        self.rows.push(row);
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    /// Draws the rows as a chart. Returns `None` if the rows have too few values for a chart.
    pub(crate) fn chart(self, spec: &ChartSpec, context: &Context) -> Option<Chart> {
        Chart::of_table(&Table::new(self.schema, self.rows), &Folder::new(""), spec, context).ok()
    }
}

/// Sets the value of a metric in a row.
///
/// # Errors
/// The table of the row has no column for the metric.
pub(crate) fn set(row: &mut Row, metric: GoalMetric, value: f64) -> Outcome<()> {
    match metric {
        GoalMetric::Column(metric) => match metric.kind {
            ValueType::Integer => _ = row.set(metric, value.round() as u64),
            ValueType::Number | ValueType::Text => _ = row.set(metric, value),
        },
        GoalMetric::Memory => _ = row.set_swept(metric.name(), &format!("{value:.0}B"))?,
        GoalMetric::IoPerOp => _ = row.set_swept(metric.name(), &value.to_string())?,
    }
    Ok(())
}

/// Returns whether the objectives differ so much that their chart must have a logarithmic scale.
pub(crate) fn is_wide(objectives: impl Iterator<Item = f64>) -> bool {
    let (low, high) =
        objectives.map(f64::abs).fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    low > 0.0 && high / low > WIDE
}
