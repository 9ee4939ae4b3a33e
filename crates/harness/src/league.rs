//! A table of engines: how many times as fast as each of them our own tree is, column by column of what they did.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use measure::{Criteria, Sample, compare, median};
use peers::UNEQUAL;
use results::{CellInfo, Column, Folder, Manifest, Metric, Row, Table, Unit, columns as c};

use crate::experiment::ENGINE;
use crate::markdown::{self, plain};
use crate::problem::{Outcome, Problem};
use crate::run::{ALL, wrong_cells};

/// What stands beside the rates: the most of any phase, the medians over trials.
const COSTS: [&Metric; 4] =
    [&c::RSS_PEAK_BYTES, &c::DISK_BYTES, &c::OS_WRITE_AMP_SETTLED, &c::WRITE_AMP_SETTLED];

/// The results of one experiment that sweeps engines.
pub(crate) struct League {
    manifest: Manifest,
    table: Table,
    /// The label of the row that the others are held against.
    baseline: String,
    columns: Vec<Heading>,
    /// The label of each row, with the numbers of its cells.
    rows: Vec<(String, Vec<u64>)>,
    /// Per cell, titles and values of the swept paths of the workload.
    within: BTreeMap<u64, Vec<(String, String)>>,
    wrong: BTreeSet<u64>,
}

/// One column: what the engines did, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Heading {
    phase: String,
    /// Titles and values of the swept paths of the workload.
    within: Vec<(String, String)>,
}

impl League {
    /// Reads a folder of results; the others are held against the row called `baseline`.
    ///
    /// # Errors
    /// If the results are none, sweep no engines, or have no such row.
    pub(crate) fn read(path: &Path, baseline: &str) -> Outcome<Self> {
        let folder = Folder::new(path);
        let manifest = Manifest::read(&folder.manifest())?;
        manifest.check_rows(&folder)?;
        if !manifest.swept.iter().any(|path| path == ENGINE) {
            return Err(Problem::at(path, None, "it sweeps no engines, so there is no table of them"));
        }
        let table = Table::read(&folder.runs())?;
        let wrong = wrong_cells(&table);
        let mut league = Self {
            manifest,
            table,
            baseline: baseline.to_owned(),
            columns: Vec::new(),
            rows: Vec::new(),
            within: BTreeMap::new(),
            wrong,
        };
        league.lay_out();
        if !league.rows.iter().any(|(label, _)| label == baseline) {
            let known: Vec<&str> = league.rows.iter().map(|(label, _)| label.as_str()).collect();
            let message = format!("there is no row \"{baseline}\"; there are {}", known.join(", "));
            return Err(Problem::at(path, None, message));
        }
        Ok(league)
    }

    /// Finds the rows and the columns, in the order of the run.
    fn lay_out(&mut self) {
        for cell in &self.manifest.cells {
            let label = self.row_label(cell.cell).unwrap_or_else(|| cell.label.clone());
            match self.rows.iter_mut().find(|(known, _)| *known == label) {
                Some((_, cells)) => cells.push(cell.cell),
                None => self.rows.push((label, vec![cell.cell])),
            }
            self.within.insert(cell.cell, self.what_is_done(cell.cell));
        }
        for phase in &self.manifest.phases {
            for cell in &self.manifest.cells {
                let heading = Heading { phase: phase.clone(), within: self.within[&cell.cell].clone() };
                if !self.columns.contains(&heading) {
                    self.columns.push(heading);
                }
            }
        }
    }

    /// Some row of a cell.
    fn any_row(&self, cell: u64) -> Option<&Row> {
        self.table.rows().iter().find(|row| row.get(&c::CELL).integer() == Some(cell))
    }

    /// The swept values of a cell whose path is one that `keep` keeps, by their paths.
    fn swept(&self, cell: u64, keep: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        let Some(row) = self.any_row(cell) else { return Vec::new() };
        let paths = self.manifest.swept.iter().filter(|path| keep(path));
        let value = |path: &String| {
            let at = row.schema().position(path)?;
            Some((path.clone(), row.cells()[at].to_string())).filter(|(_, value)| !value.is_empty())
        };
        paths.filter_map(value).collect()
    }

    /// The engine of a cell, with what is swept of its design.
    fn row_label(&self, cell: u64) -> Option<String> {
        let parts = self.swept(cell, |path| path == ENGINE || path.starts_with("design."));
        let parts: Vec<String> = parts.into_iter().map(|(_, value)| value).collect();
        (!parts.is_empty()).then(|| parts.join(" + "))
    }

    /// What a cell does, as far as it is swept.
    fn what_is_done(&self, cell: u64) -> Vec<(String, String)> {
        let swept = self.swept(cell, |path| path != ENGINE && !path.starts_with("design."));
        swept.into_iter().map(|(path, value)| (short(&path), value)).collect()
    }

    /// The values of a column of `runs.csv` in the trials of a row under a heading.
    fn sample(&self, (label, cells): &(String, Vec<u64>), heading: &Heading, metric: &Metric) -> Sample {
        let is_of = |row: &&Row| {
            let cell = row.get(&c::CELL).integer();
            cell.is_some_and(|cell| cells.contains(&cell) && self.within.get(&cell) == Some(&heading.within))
                && row.get(&c::PHASE).to_string() == heading.phase
                && row.get(&c::OPERATION).to_string() == ALL
                && row.get(&c::IMPLAUSIBLE).is_empty()
        };
        let rows = self.table.rows().iter().filter(is_of);
        Sample::new(
            label,
            rows.filter_map(|row| Some((row.get(&c::TRIAL).integer()?, row.get(metric).number()?))),
        )
    }

    /// The whole of it as Markdown: a heading, the table, what has no number and why, and the engines.
    pub(crate) fn markdown(&self) -> String {
        let Manifest { experiment, question, trials, machine, quick, .. } = &self.manifest;
        let quick = if *quick { " The quick form: smaller than it means, and no answer." } else { "" };
        let mut text = format!(
            "### {}: {}\n\nMedians of operations per second, of which a batch is one, over {trials} interleaved trials; in \
             brackets how many times as fast {} is{}.{}{quick}\n\n",
            plain(experiment),
            plain(question),
            plain(&self.baseline),
            if *trials > 1 { ", with its 95 % interval" } else { "" },
            machine.cpu.as_ref().map_or_else(String::new, |cpu| format!(" {}.", plain(cpu)))
        );
        text += &self.table_of_rates();
        // An engine that is not there is left out of every column.
        let left_out = self.manifest.left_out.iter().map(|left| {
            let label = left.label.split_once(", ").map_or(&*left.label, |(first, _)| first);
            format!("* left out: {}: {}\n", plain(label), plain(&left.reason))
        });
        left_out.collect::<BTreeSet<String>>().iter().for_each(|line| text.push_str(line));
        let mut told: Vec<&str> = Vec::new();
        for CellInfo { engine, .. } in &self.manifest.cells {
            let Some(engine) = engine.as_ref().filter(|engine| !told.contains(&engine.name.as_str())) else {
                continue;
            };
            told.push(&engine.name);
            let version = engine.version.as_deref().unwrap_or("version not told");
            let unequal = engine.mapping.iter().filter(|line| line.starts_with(UNEQUAL));
            let known: Vec<&str> = [version]
                .into_iter()
                .chain(engine.doubts.iter().chain(unequal).map(String::as_str))
                .collect();
            let _ = writeln!(text, "* {} {}", plain(&engine.name), plain(&known.join("; ")));
        }
        text
    }

    fn table_of_rates(&self) -> String {
        let costs: Vec<(&Metric, Vec<String>)> = COSTS
            .into_iter()
            .map(|metric| (metric, self.rows.iter().map(|row| self.cost(row, metric)).collect()))
            .filter(|(_, values): &(_, Vec<String>)| values.iter().any(|value| !value.is_empty()))
            .collect();
        let heads =
            self.columns.iter().map(Heading::title).chain(costs.iter().map(|(metric, _)| cost_title(metric)));
        let heads: Vec<String> = heads.collect();
        let heads = ["engine"].into_iter().chain(heads.iter().map(String::as_str));
        let mut text = markdown::row(heads.clone()) + "|---|" + &"--:|".repeat(heads.count() - 1) + "\n";
        for (at, row) in self.rows.iter().enumerate() {
            let rates = self.columns.iter().map(|heading| self.rate(row, heading));
            let cells: Vec<String> =
                rates.chain(costs.iter().map(|(_, values)| values[at].clone())).collect();
            let _ = writeln!(text, "| {} | {} |", plain(&row.0), cells.join(" | "));
        }
        text + "\n"
    }

    /// A rate beside that of the baseline.
    fn rate(&self, row: &(String, Vec<u64>), heading: &Heading) -> String {
        if row.1.iter().any(|cell| self.wrong.contains(cell)) {
            return "wrong answers".to_owned();
        }
        let own = self.sample(row, heading, &c::OPS_PER_SECOND);
        let Some(rate) = own.median() else { return String::new() };
        let rate = plot::format_value(rate, c::OPS_PER_SECOND.unit);
        let rate = rate.trim_end_matches("/s").trim_end().to_owned();
        let Some(base) =
            self.rows.iter().find(|(label, _)| *label == self.baseline && row.0 != self.baseline)
        else {
            return format!("**{rate}**");
        };
        let base = self.sample(base, heading, &c::OPS_PER_SECOND);
        let comparison = compare(&own, &base, c::OPS_PER_SECOND.better, &Criteria::default());
        match (comparison.ratio, comparison.interval) {
            (Some(ratio), Some(interval)) => {
                format!("{rate} ({ratio:.2}× [{:.2}, {:.2}])", interval.low, interval.high)
            }
            (Some(ratio), None) => format!("{rate} ({ratio:.2}×)"),
            (None, _) => rate,
        }
    }

    /// The most of a cost in any column.
    fn cost(&self, row: &(String, Vec<u64>), metric: &Metric) -> String {
        let medians = self.columns.iter().filter_map(|heading| {
            let sample = self.sample(row, heading, metric);
            median(sample.blocks.iter().map(|(_, value)| *value))
        });
        medians.reduce(f64::max).map_or_else(String::new, |value| plot::format_value(value, metric.unit))
    }
}

/// What of a path tells it apart: `order` of `phase.load.order`.
fn short(path: &str) -> String {
    let inside = path.strip_prefix("phase.").and_then(|path| path.split_once('.'));
    let title = || Column::Swept(path.to_owned()).title().to_owned();
    inside.map_or_else(title, |(_, inside)| inside.to_owned())
}

/// What a cost is called.
fn cost_title(metric: &Metric) -> String {
    match metric.unit {
        Unit::Bytes => format!("most {}", metric.title),
        _ => format!("worst {}", metric.title),
    }
}

impl Heading {
    /// `load: order sequential, threads 2`.
    fn title(&self) -> String {
        let within: Vec<String> =
            self.within.iter().map(|(title, value)| format!("{title} {value}")).collect();
        match within.is_empty() {
            true => self.phase.clone(),
            false => format!("{}: {}", self.phase, within.join(", ")),
        }
    }
}
