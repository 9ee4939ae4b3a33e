//! Creates tables that compare engines with lsmbench's own tree, phase by phase. The tables show the speedup of
//! lsmbench's tree over each engine, and the costs of each engine.

mod heading;
mod kept;
mod page;
mod place;
mod shortfall;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use heading::Heading;
use measure::{Comparison, Criteria, Sample, compare};
use results::columns::{ALL, ENGINE};
use results::{ConfigPath, EngineInfo, Folder, Manifest, Metric, Root, Row, Table, columns as c};
use types::{Outcome, Problem, valid_names};

use crate::trial_rows::TrialRows;

pub use kept::keep;
pub use place::MarkdownPage;
pub use shortfall::Targets;

/// The results of one experiment that sweeps engines.
pub struct EngineTables {
    manifest: Manifest,
    table: Table,
    /// The label of the table row with which all other rows are compared. A row is an engine with one combination of
    /// the swept design settings.
    baseline: String,
    /// The columns of the tables for phases with operations.
    columns: Vec<Heading>,
    /// The columns of the tables for steps on the store.
    steps: Vec<Heading>,
    lines: Vec<Line>,
    /// The swept workload settings of each configuration: their paths and values, by the number of the configuration.
    within: BTreeMap<u64, Vec<(String, String)>>,
    wrong: BTreeSet<u64>,
}

/// A row of the engine tables: one engine with one combination of the swept design settings.
struct Line {
    label: String,
    /// The name of the engine in the sweep, such as `rocksdb`. The label of the row can be different.
    engine_name: String,
    cells: Vec<u64>,
    /// The engine; `None` for lsmbench's own tree.
    engine: Option<EngineInfo>,
    /// The writes that survive `kill -9`. `None` if a server or the memory of the process holds the store, or if the
    /// results are of an earlier version of lsmbench.
    survives_kill: Option<String>,
}

impl EngineTables {
    /// Reads a results folder. `baseline` selects the row with which all other rows are compared: it is the label of
    /// this row, or the name of an engine. The name of an engine selects the first row of the engine.
    ///
    /// # Errors
    /// A folder without results; results that sweep no engines; results without a row that has this label or engine.
    pub fn read(path: &Path, baseline: &str) -> Outcome<Self> {
        let folder = Folder::new(path);
        let manifest = Manifest::read(&folder.manifest())?;
        manifest.check_rows(&folder)?;
        if !manifest.swept.iter().any(|path| path == ENGINE) {
            return Err(Problem::at(
                path,
                None,
                "the experiment does not sweep engines, so there is nothing to compare",
            ));
        }
        let table = Table::read(&folder.runs())?;
        let wrong = TrialRows::of(&table).wrong_cells();
        let mut tables = Self {
            manifest,
            table,
            baseline: baseline.to_owned(),
            columns: Vec::new(),
            steps: Vec::new(),
            lines: Vec::new(),
            within: BTreeMap::new(),
            wrong,
        };
        tables.lay_out();
        if tables.base().is_none() {
            // An engine with swept design settings has several rows. Its name selects the first of them.
            if let Some(first) = tables.lines.iter().find(|line| line.engine_name == baseline) {
                tables.baseline.clone_from(&first.label);
                return Ok(tables);
            }
            let valid = valid_names(tables.lines.iter().map(|line| &line.label));
            let message = format!("there is no row \"{baseline}\". {valid}");
            return Err(Problem::at(path, None, message));
        }
        Ok(tables)
    }

    /// Returns the name of the experiment.
    pub fn name(&self) -> &str {
        &self.manifest.experiment
    }

    /// Sets the rows and the columns of the engine tables, in the order of the run.
    fn lay_out(&mut self) {
        for cell in &self.manifest.cells {
            let label = self.line_label(cell.cell).unwrap_or_else(|| cell.label.clone());
            match self.lines.iter_mut().find(|line| line.label == label) {
                Some(line) => line.cells.push(cell.cell),
                None => {
                    self.lines.push(Line {
                        label,
                        engine_name: self.engine_name(cell.cell),
                        cells: vec![cell.cell],
                        engine: cell.engine.clone(),
                        survives_kill: cell.survives_kill.clone(),
                    });
                }
            }
            self.within.insert(cell.cell, self.workload_of(cell.cell));
        }
        for phase in &self.manifest.phases {
            for cell in &self.manifest.cells {
                let within = &self.within[&cell.cell];
                if self.columns.iter().chain(&self.steps).any(|column| column.is(phase, within)) {
                    continue;
                }
                let heading = self.heading(phase, within);
                if heading.is_step { self.steps.push(heading) } else { self.columns.push(heading) }
            }
        }
    }

    /// Returns the heading of one column: the column of a phase, with the values `within` of the swept workload
    /// settings.
    fn heading(&self, phase: &str, within: &[(String, String)]) -> Heading {
        let is_of = |row: &&Row| {
            let cell = row.get(&c::CELL).integer().and_then(|cell| self.within.get(&cell));
            row.get(&c::PHASE).to_string() == phase && cell.is_some_and(|found| found == within)
        };
        let rows = || self.table.rows().iter().filter(is_of);
        let threads = rows().find_map(|row| row.get(&c::THREADS).integer());
        let states = rows().map(|row| row.get(&c::STATE_AT_START).to_string());
        let operations: BTreeSet<String> =
            rows().map(|row| row.get(&c::OPERATION).to_string()).filter(|kind| kind != ALL).collect();
        Heading {
            phase: phase.to_owned(),
            within: within.to_vec(),
            threads: threads.unwrap_or(1),
            is_step: threads.is_none() && !operations.is_empty(),
            state: states.into_iter().find(|state| !state.is_empty()),
            writes: rows()
                .any(|row| row.get(&c::USER_BYTES_WRITTEN).number().is_some_and(|bytes| bytes > 0.0)),
            operations,
        }
    }

    /// Returns one of the rows of a configuration. Any row is suitable to read the label and the swept values, because
    /// they are equal in all rows of a configuration.
    fn any_row(&self, cell: u64) -> Option<&Row> {
        self.table.rows().iter().find(|row| row.get(&c::CELL).integer() == Some(cell))
    }

    /// Returns the swept paths for which `keep` returns true, with their values in the configuration `cell`.
    fn swept(&self, cell: u64, keep: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        let Some(row) = self.any_row(cell) else { return Vec::new() };
        let paths = self.manifest.swept.iter().filter(|path| keep(path));
        let value = |path: &String| {
            let at = row.schema().position(path)?;
            Some((path.clone(), row.cells()[at].to_string())).filter(|(_, value)| !value.is_empty())
        };
        paths.filter_map(value).collect()
    }

    /// Returns the label of the table row of a configuration: its engine, with the swept values of its design. Returns
    /// `None` if no setting of the workload is swept. Each configuration then has its own row, with the label of the
    /// configuration.
    fn line_label(&self, cell: u64) -> Option<String> {
        if self.manifest.swept.iter().all(|path| is_of_store(path)) {
            return None;
        }
        let parts = self.swept(cell, is_of_store);
        let parts: Vec<String> = parts.into_iter().map(|(_, value)| value).collect();
        (!parts.is_empty()).then(|| parts.join(" + "))
    }

    /// Returns the name of the engine of a configuration, as the sweep names it.
    fn engine_name(&self, cell: u64) -> String {
        let swept = self.swept(cell, |path| path == ENGINE);
        swept.into_iter().next().map_or_else(String::new, |(_, name)| name)
    }

    /// Returns the swept paths of the workload, with their values in the configuration `cell`.
    fn workload_of(&self, cell: u64) -> Vec<(String, String)> {
        self.swept(cell, |path| !is_of_store(path))
    }

    /// Returns the table row of the baseline, with which all other engines are compared.
    fn base(&self) -> Option<&Line> {
        self.lines.iter().find(|line| line.label == self.baseline)
    }

    /// Returns the rows of `runs.csv` for a field of the engine tables, without implausible rows. `line` is the engine,
    /// and `heading` is the phase.
    fn rows(&self, line: &Line, heading: &Heading) -> TrialRows<'_> {
        let is_of = |cell: u64| line.cells.contains(&cell) && self.within.get(&cell) == Some(&heading.within);
        TrialRows::of(&self.table).of_all_operations().of_phase(&heading.phase).of_cells(is_of).plausible()
    }

    /// Returns one value per trial for a field of the engine tables. `line` is the engine, `heading` is the phase, and
    /// `value` computes the value from a row.
    fn sample(&self, line: &Line, heading: &Heading, value: impl Fn(&Row) -> Option<f64>) -> Sample {
        self.rows(line, heading).sample(&line.label, value)
    }

    /// Returns one value of a metric per trial, for a field of the engine tables. `line` is the engine, and `heading`
    /// is the phase.
    fn measured(&self, line: &Line, heading: &Heading, metric: &Metric) -> Sample {
        self.rows(line, heading).measured(&line.label, metric)
    }

    /// Returns whether an engine gave a wrong answer in any trial. The tables show no values of such an engine.
    fn is_wrong(&self, line: &Line) -> bool {
        line.cells.iter().any(|cell| self.wrong.contains(cell))
    }

    /// Compares the throughput `metric` of the baseline with that of another engine in one phase. The ratio is the
    /// speedup of the baseline. Returns `None` if one of the two engines gave wrong answers.
    fn lead(&self, line: &Line, heading: &Heading, metric: &Metric) -> Option<Comparison> {
        let base = self.base().filter(|base| !self.is_wrong(base) && !self.is_wrong(line))?;
        let [own, base] = [line, base].map(|line| self.measured(line, heading, metric));
        Some(compare(&own, &base, metric.better, &Criteria::default()))
    }
}

/// Formats a ratio with its confidence interval, if the interval exists, such as `1.74 (1.03 to 2.77)`.
fn ratio(comparison: &Comparison) -> Option<String> {
    let ratio = comparison.ratio?;
    Some(match comparison.interval {
        Some(interval) => format!("{ratio:.2} ({:.2} to {:.2})", interval.low, interval.high),
        None => format!("{ratio:.2}"),
    })
}

/// Returns whether a swept path belongs to the engine or the design, and not to the workload.
fn is_of_store(path: &str) -> bool {
    matches!(ConfigPath::new(path).root(), Root::Engine | Root::Design)
}
