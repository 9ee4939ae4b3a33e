//! Collects the data for the details of configurations: the timelines of trials, and the levels of trees.

use results::columns::{ALL, OPERATION, PHASE, SECOND, TRIAL};
use results::levels::{BYTES_WRITTEN, LEVEL, TABLES};
use results::{Metric, Row, Table, columns as c};
use serde::Serialize;

use crate::opened::Opened;

/// The columns of `timeline.csv` that the page shows.
pub(crate) const TIMELINE: [Metric; 4] = [SECOND, c::OPS_PER_SECOND, c::P99_NS, c::RUNS];

/// The columns of `levels.csv` that the page shows.
pub(crate) const LEVELS: [Metric; 6] =
    [LEVEL, TABLES, c::TABLE_BYTES, BYTES_WRITTEN, c::WRITE_AMP, c::WRITE_AMP_SETTLED];

/// The maximum number of rows that a page contains from `timeline.csv`, and from `levels.csv`.
const MOST_ROWS: usize = 20_000;

/// The rows of `timeline.csv` or `levels.csv` for one configuration, one trial and one phase.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Course {
    /// The index of the configuration in the data of the page.
    pub(crate) cell: usize,
    /// The index of the phase in the data of the page.
    pub(crate) phase: usize,
    /// The number of the trial.
    pub(crate) trial: u64,
    /// The values of each row, in the order of the columns in [`TIMELINE`] or [`LEVELS`].
    pub(crate) rows: Vec<Vec<Option<f64>>>,
}

/// Returns the timelines of all trials of a run. If they have more than 20,000 rows, returns only the timelines of the
/// first trial of each configuration, with at most 20,000 rows in total. `phases` contains the names of the phases.
pub(crate) fn timelines(opened: &Opened, phases: &[String]) -> Vec<Course> {
    opened.timeline.as_ref().map_or_else(Vec::new, |table| courses(opened, phases, table, &TIMELINE))
}

/// Returns the rows of `levels.csv` in the first trial of each configuration. `phases` contains the names of the
/// phases.
pub(crate) fn levels(opened: &Opened, phases: &[String]) -> Vec<Course> {
    let first = |table: &Table| table.filter(|row| row.get(&TRIAL).integer() == Some(0));
    opened.levels.as_ref().map_or_else(Vec::new, |table| courses(opened, phases, &first(table), &LEVELS))
}

fn courses(opened: &Opened, phases: &[String], table: &Table, columns: &[Metric]) -> Vec<Course> {
    let is_shown = |row: &&Row| matches!(row.get(&OPERATION).to_string().as_str(), "" | ALL);
    let rows: Vec<&Row> = table.rows().iter().filter(is_shown).collect();
    let is_small = rows.len() <= MOST_ROWS;
    let mut courses: Vec<Course> = Vec::new();
    let kept = rows.into_iter().filter(|row| is_small || row.get(&TRIAL).integer() == Some(0));
    for row in kept.take(MOST_ROWS) {
        let phase = phases.iter().position(|phase| *phase == row.get(&PHASE).to_string());
        let (Some(cell), Some(phase), Some(trial)) = (opened.place_of(row), phase, row.get(&TRIAL).integer())
        else {
            continue;
        };
        let numbers = columns.iter().map(|column| row.get(column).number()).collect();
        match courses.last_mut() {
            Some(last) if (last.cell, last.phase, last.trial) == (cell, phase, trial) => {
                last.rows.push(numbers);
            }
            _ => courses.push(Course { cell, phase, trial, rows: vec![numbers] }),
        }
    }
    courses
}
