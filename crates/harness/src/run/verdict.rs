//! Who wins, by how much, and how sure that is.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use measure::{Criteria, Ranked, Sample, Verdict, compare_exact, rank};
use results::{Better, Column, Metric, Schema, Table, Unit, columns as c};
use tree::axis;

use super::price::Prices;
use super::report::ALL;
use crate::experiment::{Cell, Experiment, RunMode, Task, differences};
use crate::problem::Outcome;

/// The most lines of all tables of an experiment on a component; with more, only the last one is shown.
const MOST_LINES: usize = 80;

/// The outcome of an experiment as a short text: the verdict first, then a table. Components are compared where
/// all else is the same, so that there is a verdict for each of the other swept values.
pub(super) fn describe(experiment: &Experiment, table: &Table) -> Outcome<String> {
    let groups = groups(experiment);
    let whole = experiment
        .task
        .component()
        .is_none_or(|_| groups.iter().map(|group| group.cells.len()).sum::<usize>() <= MOST_LINES);
    let (mut verdicts, mut tables) = (String::new(), String::new());
    for (number, group) in groups.iter().enumerate() {
        let judged = Judged::new(experiment, table, group)?;
        let _ = writeln!(verdicts, "{}{}", group.heading(": "), judged.sentence());
        if whole || number + 1 == groups.len() {
            if groups.len() > 1 {
                let _ = writeln!(tables, "  {}", group.heading(""));
            }
            tables += &(judged.table() + &judged.notes());
        }
    }
    if !whole {
        let _ = writeln!(tables, "  the other {} tables are in runs.csv", groups.len() - 1);
    }
    Ok(verdicts + &tables)
}

/// Cells that are compared with each other.
struct Group<'a> {
    /// What they agree in: titles of swept paths and their values.
    common: Vec<(String, String)>,
    cells: Vec<&'a Cell>,
}

impl Group<'_> {
    /// `entries = 1000, threads = 2`, with `end` behind it; nothing where there is only one group.
    fn heading(&self, end: &str) -> String {
        let parts: Vec<String> =
            self.common.iter().map(|(path, value)| format!("{path} = {value}")).collect();
        if parts.is_empty() { String::new() } else { parts.join(", ") + end }
    }
}

/// All cells of a workload; those of a component by all that is swept but its kind. A cell without a swept
/// parameter, such as `xor` where bits per key are swept, is in every group that it agrees with otherwise.
fn groups(experiment: &Experiment) -> Vec<Group<'_>> {
    let cells = || experiment.cells.iter();
    let Some(component) = experiment.task.component() else {
        return vec![Group { common: Vec::new(), cells: cells().collect() }];
    };
    let (paths, own) = (experiment.swept(), format!("design.{}", component.axis()));
    let others: Vec<usize> = (0..paths.len()).filter(|at| paths[*at] != own).collect();
    let key = |cell: &Cell| others.iter().map(|at| cell.swept[*at].clone()).collect::<Vec<String>>();
    let mut keys: Vec<Vec<String>> = Vec::new();
    let is_whole = |key: &Vec<String>| key.iter().all(|value| !value.is_empty());
    for key in cells().map(key).filter(is_whole) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    if keys.is_empty() {
        return vec![Group { common: Vec::new(), cells: cells().collect() }];
    }
    let agrees = |cell: &Cell, values: &[String]| {
        others.iter().zip(values).all(|(at, value)| cell.swept[*at].is_empty() || cell.swept[*at] == *value)
    };
    let title = |at: &usize| Column::Swept(paths[*at].clone()).title().to_owned();
    keys.into_iter()
        .map(|values| Group {
            cells: cells().filter(|cell| agrees(cell, &values)).collect(),
            common: others.iter().map(title).zip(values).collect(),
        })
        .collect()
}

/// The numbers of the cells that gave a wrong answer in any trial.
pub(crate) fn wrong_cells(table: &Table) -> BTreeSet<u64> {
    cells_with(table, &c::WRONG_ANSWERS)
}

/// The numbers of the cells of which some row counts more than 0 in a column.
fn cells_with(table: &Table, counted: &Metric) -> BTreeSet<u64> {
    let has_some = |row: &&results::Row| row.get(counted).integer().is_some_and(|count| count > 0);
    table.rows().iter().filter(has_some).filter_map(|row| row.get(&c::CELL).integer()).collect()
}

/// The samples of all cells for the metric that decides.
struct Judged<'a> {
    experiment: &'a Experiment,
    column: Column,
    prices: Prices,
    phase: String,
    operation: String,
    /// The first is the baseline.
    entries: Vec<Entry<'a>>,
    /// The others against the baseline, best first.
    ranked: Vec<Ranked>,
    /// Cells that gave wrong answers, and so have no number.
    wrong: Vec<&'a str>,
    /// Cells that dropped what they were asked for.
    dropping: Vec<&'a str>,
}

/// One cell with its numbers.
struct Entry<'a> {
    cell: &'a Cell,
    sample: Sample,
    /// What it costs besides, the medians over trials.
    prices: Vec<Option<f64>>,
}

impl<'a> Judged<'a> {
    fn new(experiment: &'a Experiment, table: &Table, group: &Group<'a>) -> Outcome<Self> {
        let spec = &experiment.verdict;
        let operation = spec.operation.clone().unwrap_or_else(|| ALL.to_owned());
        let phase = spec
            .phase
            .clone()
            .or_else(|| chart_phase(experiment))
            .unwrap_or_else(|| default_phase(experiment));
        let metric = spec.metric.clone().unwrap_or_else(|| default_metric(experiment, table.schema()));
        let column = table.column(&metric)?.clone();
        let prices = Prices::of(&experiment.task, &metric);
        let position = table.schema().find(&metric)?;
        let of_phase = table.only(c::PHASE.name, &phase)?;
        let (judged, whole) =
            (of_phase.only(c::OPERATION.name, &operation)?, of_phase.only(c::OPERATION.name, ALL)?);
        let wrong = wrong_cells(table);
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for cell in group.cells.iter().filter(|cell| !wrong.contains(&cell.number)) {
            let name = name_of(experiment, cell);
            let sample = sample(&judged, (cell, &name), |row| row.cells()[position].number());
            if !sample.blocks.is_empty() {
                let price = |at| self::sample(&whole, (cell, &name), |row| prices.value(at, row)).median();
                let prices = (0..prices.names().len()).map(price).collect();
                entries.push(Entry { cell, sample, prices });
            }
        }
        let is_baseline = |entry: &Entry<'_>| {
            spec.baseline.as_ref().is_some_and(|baseline| is_called(&experiment.task, entry.cell, baseline))
        };
        if let Some(at) = entries.iter().position(is_baseline) {
            entries[..=at].rotate_right(1);
        }
        let ranked = rank_all(&entries, column.better(), experiment.trials.mode);
        let labels = |numbers: BTreeSet<u64>| {
            let cells = group.cells.iter().filter(|cell| numbers.contains(&cell.number));
            cells.map(|cell| cell.label.as_str()).collect()
        };
        let (wrong, dropping) = (labels(wrong), labels(cells_with(table, &c::DROPPED_ANSWERS)));
        Ok(Self { experiment, column, prices, phase, operation, entries, ranked, wrong, dropping })
    }

    /// The verdict in one sentence or two.
    fn sentence(&self) -> String {
        let mut text = String::new();
        if !self.wrong.is_empty() {
            let _ = write!(text, "Wrong answers by {}: they get no number. ", self.wrong.join(", "));
        }
        if !self.dropping.is_empty() {
            let cells = self.dropping.join(", ");
            let _ = write!(
                text,
                "Some of what {cells} was asked for had been dropped: it does less than others. "
            );
        }
        let Some(baseline) = self.entries.first() else {
            return text + &format!("Nothing was measured of {}.", self.what());
        };
        text + &self.winner(&baseline.sample.name, &baseline.sample)
    }

    fn winner(&self, baseline: &str, sample: &Sample) -> String {
        let what = self.what();
        let is_rival = |other: &&Ranked| !self.is_oracle(&other.name) && self.is_rival(&other.name);
        let rivals: Vec<&Ranked> = self.ranked.iter().filter(is_rival).collect();
        let Some(best) = rivals.first() else {
            let value = sample.median().map_or_else(String::new, |value| self.value(value));
            let rivals = match self.ranked.iter().all(|other| self.is_oracle(&other.name)) {
                _ if self.ranked.is_empty() => "nothing",
                true => "nothing but oracles",
                false => "nothing of its like",
            };
            return format!("{baseline} has a {what} of {value}; there is {rivals} to compare it with.");
        };
        let all = |verdict| rivals.iter().all(|other| other.comparison.verdict == verdict);
        let better = rivals.iter().filter(|other| other.comparison.verdict == Verdict::Improved).count();
        if best.comparison.verdict == Verdict::Improved {
            let others = match better {
                1 => String::new(),
                2 => " (1 other does too)".to_owned(),
                _ => format!(" ({} others do too)", better - 1),
            };
            let (confounded, at) = (self.confounded(&best.name), self.at_other_prices(&best.name));
            let change = best.comparison.change();
            return format!("{} beats {baseline}{others}: {what} {change}{at}{confounded}.", best.name);
        }
        if all(Verdict::Regressed) {
            return format!("{baseline} beats every other: their {what} is worse.");
        }
        if all(Verdict::Equivalent) {
            return format!("No difference that matters: every {what} is about that of {baseline}.");
        }
        let change = best.comparison.change();
        let at = self.at_other_prices(&best.name);
        let best = format!(" The best of the others is {}: {what} {change}{at}.", best.name);
        format!("No winner over {baseline}.{}", if change.is_empty() { "" } else { &best })
    }

    fn entry(&self, name: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.sample.name == name)
    }

    /// The cell of this name, beside the baseline's.
    fn beside_baseline(&self, name: &str) -> Option<(&Cell, &Cell)> {
        Some((self.entries.first()?.cell, self.entry(name)?.cell))
    }

    /// Whether a cell can be compared with the baseline: a filter of twice the bits is no rival of another one.
    fn is_rival(&self, name: &str) -> bool {
        let both = self.entries.first().zip(self.entry(name));
        both.is_some_and(|(baseline, entry)| self.prices.are_rivals(&entry.prices, &baseline.prices))
    }

    /// In which prices a cell is not like the baseline.
    fn at_other_prices(&self, name: &str) -> String {
        let both = self.entries.first().zip(self.entry(name));
        both.map_or_else(String::new, |(baseline, entry)| {
            self.prices.differences(&entry.prices, &baseline.prices)
        })
    }

    /// Whether a cell has an oracle where the baseline has none: it bounds the others, and is no rival.
    fn is_oracle(&self, label: &str) -> bool {
        self.beside_baseline(label).is_some_and(|(baseline, cell)| {
            let choices = cell.design.choices().zip(baseline.design.choices());
            choices.filter(|(own, of_baseline)| own != of_baseline).any(|((name, choice), _)| {
                let variants = axis(name).map(catalog::Axis::variants).unwrap_or_default();
                variants.iter().any(|variant| variant.oracle && variant.kind == choice.kind())
            })
        })
    }

    /// What stands behind the change of a cell that differs from the baseline in more than one factor.
    fn confounded(&self, label: &str) -> String {
        let factors = self.beside_baseline(label).map(|(baseline, cell)| factors(baseline, cell));
        factors
            .filter(|factors| factors.starts_with("confounded"))
            .map_or_else(String::new, |factors| format!("; {factors}"))
    }

    /// `throughput in phase mixed`, or `p99 service time of get in phase lookup`.
    fn what(&self) -> String {
        let operation = if self.operation == ALL { String::new() } else { format!(" of {}", self.operation) };
        format!("{}{operation} in phase {}", self.column.title(), self.phase)
    }

    /// Every design with its median, its memory, and how it compares with the baseline.
    fn table(&self) -> String {
        let Some(baseline) = self.entries.first() else { return String::new() };
        let mut entries: Vec<&Entry<'_>> = self.entries.iter().collect();
        let median = |entry: &Entry<'_>| entry.sample.median().unwrap_or(f64::NAN);
        match self.column.better() {
            Better::Higher => entries.sort_by(|a, b| median(b).total_cmp(&median(a))),
            Better::Lower => entries.sort_by(|a, b| median(a).total_cmp(&median(b))),
            Better::Neither => {}
        }
        let apart = if self.common_factors().is_some() { "" } else { "differs in" };
        let head = [&["", self.column.name()][..], &self.prices.names(), &["against the baseline", apart]];
        let mut rows: Vec<Vec<String>> = vec![head.concat().into_iter().map(str::to_owned).collect()];
        for entry in entries {
            let ranked = self.ranked.iter().find(|ranked| ranked.name == entry.sample.name);
            let oracle = if self.is_oracle(&entry.sample.name) { " [oracle]" } else { "" };
            let mut row = vec![format!("{}{oracle}", entry.sample.name), self.value(median(entry))];
            row.extend(entry.prices.iter().enumerate().map(|(at, price)| self.prices.shown(at, *price)));
            row.push(ranked.map_or_else(|| "baseline".to_owned(), |ranked| ranked.comparison.brief()));
            row.push(match ranked {
                Some(_) if !apart.is_empty() => factors(baseline.cell, entry.cell),
                _ => String::new(),
            });
            rows.push(row);
        }
        aligned(&rows)
    }

    /// What every design differs in from the baseline, where it is the same.
    fn common_factors(&self) -> Option<String> {
        let (baseline, others) = self.entries.split_first()?;
        let mut factors = others.iter().map(|other| factors(baseline.cell, other.cell));
        let first = factors.next()?;
        factors.all(|factors| factors == first).then_some(first)
    }

    /// What holds for several rows of the table, each once.
    fn notes(&self) -> String {
        let mut notes = Vec::new();
        let comparisons = || self.ranked.iter().map(|ranked| &ranked.comparison);
        if let Some(of) =
            comparisons().find(|comparison| comparison.interval.is_some() && comparison.blocks > 1)
        {
            notes.push(format!(
                "in brackets: {} % intervals over {} trials",
                of.confidence * 100.0,
                of.blocks
            ));
        }
        let mut doubts: Vec<String> =
            comparisons().filter_map(|comparison| comparison.doubt).map(|doubt| doubt.to_string()).collect();
        doubts.sort_unstable();
        doubts.dedup();
        notes.extend(doubts.iter().map(|doubt| format!("inconclusive: {doubt}")));
        let no_rivals: Vec<&str> =
            self.ranked.iter().map(|other| &*other.name).filter(|name| !self.is_rival(name)).collect();
        if !no_rivals.is_empty() {
            let (near, names) = (self.prices.names().join(" nor near its "), no_rivals.join(", "));
            notes.push(format!("not near its {near}, so no rivals of the baseline: {names}"));
        }
        notes.extend(self.common_factors().map(|factors| format!("differs in {factors}")));
        notes.iter().fold(String::new(), |text, note| text + "  " + note + "\n")
    }

    fn value(&self, value: f64) -> String {
        let is_count = self.column.unit() == Unit::Count && value.fract() == 0.0;
        if is_count && self.experiment.trials.mode == RunMode::Counted {
            return format!("{value:.0}");
        }
        plot::format_value(value, self.column.unit())
    }
}

/// What a cell is called among those it is compared with: a component as the sweep calls it, or by its choice.
fn name_of(experiment: &Experiment, cell: &Cell) -> String {
    let Some(component) = experiment.task.component() else { return cell.label.clone() };
    let own = format!("design.{}", component.axis());
    let swept = experiment.swept().iter().position(|path| *path == own).map(|at| cell.swept[at].clone());
    swept.unwrap_or_else(|| cell.design.choice(component.axis()).label())
}

/// Whether a baseline means this cell: by its label, or a component by its choice or its kind.
fn is_called(task: &Task, cell: &Cell, baseline: &str) -> bool {
    let choice = task.component().map(|component| cell.design.choice(component.axis()));
    cell.label == baseline
        || choice.is_some_and(|choice| choice.label() == baseline || choice.kind() == baseline)
}

/// The value of every trial of a cell, under a name.
fn sample(
    table: &Table,
    (cell, name): (&Cell, &str),
    value: impl Fn(&results::Row) -> Option<f64>,
) -> Sample {
    let rows = table.rows().iter().filter(|row| row.get(&c::CELL).integer() == Some(cell.number));
    Sample::new(name, rows.filter_map(|row| Some((row.get(&c::TRIAL).integer()?, value(row)?))))
}

/// In `counted` mode numbers are exact and need no interval.
fn rank_all(entries: &[Entry<'_>], better: Better, mode: RunMode) -> Vec<Ranked> {
    let Some((baseline, others)) = entries.split_first() else { return Vec::new() };
    let criteria = Criteria::default();
    if mode == RunMode::Timed {
        let candidates: Vec<Sample> = others.iter().map(|other| other.sample.clone()).collect();
        return rank(&baseline.sample, &candidates, better, &criteria);
    }
    let ranked = others.iter().filter_map(|other| {
        let (base, value) = (baseline.sample.median()?, other.sample.median()?);
        let comparison = compare_exact(base, value, better, criteria.delta);
        Some(Ranked { name: other.sample.name.clone(), comparison })
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    let sign = if better == Better::Higher { -1.0 } else { 1.0 };
    let badness = |ranked: &Ranked| sign * ranked.comparison.ratio.unwrap_or(1.0);
    ranked.sort_by(|a, b| badness(a).total_cmp(&badness(b)));
    ranked
}

/// `1 factor: bloom`, or `confounded: 2 factors`, which the labels tell.
fn factors(baseline: &Cell, cell: &Cell) -> String {
    let differences = differences(baseline, cell);
    match differences.len() {
        0 => "nothing".to_owned(),
        1 => format!("1 factor: {}", differences[0]),
        count => format!("confounded: {count} factors"),
    }
}

/// Columns of even width: the first and the last two to the left, those with numbers to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match at > 0 && at + 2 < columns {
                true => write!(line, "  {cell:>width$}"),
                false => write!(line, "  {cell:<width$}"),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The last phase of a workload, and of a component the one that it is judged by.
fn default_phase(experiment: &Experiment) -> String {
    match experiment.task.component() {
        Some(component) => component.subject().verdict().0.to_owned(),
        None => experiment.task.phases().pop().unwrap_or_default(),
    }
}

/// The phase that the first chart is about.
fn chart_phase(experiment: &Experiment) -> Option<String> {
    let filter = experiment.charts.first()?.filter.get(c::PHASE.name)?;
    match &filter.texts()[..] {
        [phase] => Some(phase.clone()),
        _ => None,
    }
}

/// The column of the first chart if one direction of it is better, else the throughput; where time is not
/// measured, the bytes written; of a component what it is judged by.
fn default_metric(experiment: &Experiment, schema: &Schema) -> String {
    let is_directed = |y: &&String| {
        let column = schema.find(y).ok().and_then(|position| schema.columns().get(position));
        column.is_some_and(|column| column.better() != Better::Neither)
    };
    let of_chart = experiment.charts.iter().filter_map(|chart| chart.y.as_ref()).find(is_directed);
    let fallback = match (experiment.task.component(), experiment.trials.mode) {
        (Some(component), _) => component.subject().verdict().1.name,
        (None, RunMode::Timed) => c::OPS_PER_SECOND.name,
        (None, RunMode::Counted) => c::WRITE_AMP.name,
    };
    of_chart.map_or_else(|| fallback.to_owned(), Clone::clone)
}
