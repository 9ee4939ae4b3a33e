//! Who wins, by how much, and how sure that is.

use std::fmt::Write as _;

use measure::{Criteria, Ranked, Sample, Verdict, compare_exact, rank};
use results::{Better, Column, Schema, Table, Unit, Value, columns as c};

use super::report::ALL;
use crate::experiment::{Experiment, RunMode};
use crate::problem::Outcome;

/// The outcome of an experiment as a short text: the verdict first, then a table.
pub(super) fn describe(experiment: &Experiment, table: &Table) -> Outcome<String> {
    let judged = Judged::new(experiment, table)?;
    let mut text = String::new();
    let _ = writeln!(text, "{}", judged.sentence());
    if let Some(rows) = judged.table() {
        text.push_str(&rows);
    }
    Ok(text)
}

/// The samples of all cells for the metric that decides.
struct Judged {
    column: Column,
    phase: String,
    operation: String,
    mode: RunMode,
    baseline: Sample,
    candidates: Vec<Sample>,
    ranked: Vec<Ranked>,
    /// Cells that gave wrong answers, and so have no number.
    wrong: Vec<String>,
}

impl Judged {
    fn new(experiment: &Experiment, table: &Table) -> Outcome<Self> {
        let spec = &experiment.verdict;
        let operation = spec.operation.clone().unwrap_or_else(|| ALL.to_owned());
        let phase =
            spec.phase.clone().or_else(|| chart_phase(experiment)).unwrap_or_else(|| last_phase(experiment));
        let metric = spec.metric.clone().unwrap_or_else(|| default_metric(experiment, table.schema()));
        let column = table.column(&metric)?.clone();
        let rows = table.only(c::PHASE.name, &phase)?.only(c::OPERATION.name, &operation)?;
        let position = table.schema().find(&metric)?;
        let mut samples: Vec<Sample> = Vec::new();
        let mut wrong = Vec::new();
        for cell in &experiment.cells {
            let of_cell = rows.rows().iter().filter(|row| row.get(&c::CELL).integer() == Some(cell.number));
            let mut blocks = Vec::new();
            for row in of_cell {
                if row.get(&c::WRONG_ANSWERS).integer().is_some_and(|wrong| wrong > 0)
                    && !wrong.contains(&cell.label)
                {
                    wrong.push(cell.label.clone());
                }
                if let (Some(trial), Some(value)) =
                    (row.get(&c::TRIAL).integer(), row.cells()[position].number())
                {
                    blocks.push((trial, value));
                }
            }
            if !blocks.is_empty() {
                samples.push(Sample::new(&cell.label, blocks));
            }
        }
        let at =
            spec.baseline.as_ref().and_then(|label| samples.iter().position(|sample| sample.name == *label));
        let baseline = if samples.is_empty() { Sample::new("", []) } else { samples.remove(at.unwrap_or(0)) };
        let mode = experiment.trials.mode;
        let ranked = rank_all(&baseline, &samples, column.better(), mode);
        Ok(Self { column, phase, operation, mode, baseline, candidates: samples, ranked, wrong })
    }

    /// The verdict in one sentence.
    fn sentence(&self) -> String {
        if !self.wrong.is_empty() {
            return format!("Wrong answers: {} — these designs get no numbers.", self.wrong.join(", "));
        }
        let what = self.what();
        let value = |sample: &Sample| sample.median().map_or_else(String::new, |value| self.value(value));
        if self.candidates.is_empty() {
            return format!(
                "{what}: {} for {}; nothing to compare it with.",
                value(&self.baseline),
                self.baseline.name
            );
        }
        let best = self.ranked.first();
        match best {
            Some(best) if best.comparison.verdict == Verdict::Improved => {
                let ratio =
                    best.comparison.ratio.map_or_else(String::new, |ratio| format!(" {}", times(ratio)));
                format!(
                    "{} wins: {what} is{ratio} that of {} ({}).",
                    best.name, self.baseline.name, best.comparison
                )
            }
            Some(_) if self.ranked.iter().all(|other| other.comparison.verdict == Verdict::Regressed) => {
                format!("{} wins: {what} of every other design is worse.", self.baseline.name)
            }
            Some(best) => {
                format!(
                    "No winner over {}: {what}; the best of the others, {}, is {}.",
                    self.baseline.name, best.name, best.comparison
                )
            }
            None => format!("{what}: nothing was measured."),
        }
    }

    /// `throughput (phase mixed)`, or `fpr (phase lookup, get)`.
    fn what(&self) -> String {
        let operation = if self.operation == ALL { String::new() } else { format!(", {}", self.operation) };
        format!("{} (phase {}{operation})", self.column.title(), self.phase)
    }

    /// The table: every design with its median and how it compares with the baseline.
    fn table(&self) -> Option<String> {
        let median = |name: &str| {
            let sample =
                std::iter::once(&self.baseline).chain(&self.candidates).find(|sample| sample.name == name);
            sample.and_then(Sample::median)
        };
        let mut rows =
            vec![(self.baseline.name.clone(), median(&self.baseline.name)?, "baseline".to_owned())];
        for ranked in &self.ranked {
            rows.push((ranked.name.clone(), median(&ranked.name)?, ranked.comparison.to_string()));
        }
        if self.column.better() != Better::Neither {
            let sign = if self.column.better() == Better::Higher { -1.0 } else { 1.0 };
            rows.sort_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
        }
        let name_width = rows.iter().map(|row| row.0.chars().count()).max()?;
        let values: Vec<String> = rows.iter().map(|row| self.value(row.1)).collect();
        let value_width = values.iter().map(|value| value.chars().count()).max()?;
        let mut text = String::new();
        for (row, value) in rows.iter().zip(values) {
            let _ = writeln!(text, "  {:<name_width$}  {value:>value_width$}  {}", row.0, row.2);
        }
        Some(text)
    }

    fn value(&self, value: f64) -> String {
        if self.mode == RunMode::Counted && value.fract() == 0.0 && self.column.unit() == Unit::Count {
            return format!("{value:.0}");
        }
        plot::format_value(value, self.column.unit())
    }
}

/// In `counted` mode numbers are exact and need no interval.
fn rank_all(baseline: &Sample, candidates: &[Sample], better: Better, mode: RunMode) -> Vec<Ranked> {
    let criteria = Criteria::default();
    if mode == RunMode::Timed {
        return rank(baseline, candidates, better, &criteria);
    }
    let mut ranked: Vec<Ranked> = candidates
        .iter()
        .filter_map(|candidate| {
            let (base, value) = (baseline.median()?, candidate.median()?);
            Some(Ranked {
                name: candidate.name.clone(),
                comparison: compare_exact(base, value, better, criteria.delta),
            })
        })
        .collect();
    let sign = if better == Better::Higher { -1.0 } else { 1.0 };
    ranked.sort_by(|a, b| {
        let key = |ranked: &Ranked| sign * ranked.comparison.ratio.unwrap_or(1.0);
        key(a).total_cmp(&key(b))
    });
    ranked
}

fn times(ratio: f64) -> String {
    if ratio >= 10.0 { format!("{ratio:.0} times") } else { format!("{ratio:.2} times") }
}

fn last_phase(experiment: &Experiment) -> String {
    experiment.workload.phases.last().map_or_else(String::new, |phase| phase.name.clone())
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
/// measured, the blocks looked into or else the bytes written.
fn default_metric(experiment: &Experiment, schema: &Schema) -> String {
    let of_chart = experiment.charts.iter().find_map(|chart| chart.y.clone()).filter(|y| {
        let column = schema.find(y).ok().and_then(|position| schema.columns().get(position));
        column.is_some_and(|column| column.better() != Better::Neither)
    });
    let fallback = match experiment.trials.mode {
        RunMode::Timed => c::OPS_PER_SECOND.name,
        RunMode::Counted => c::WRITE_AMP.name,
    };
    of_chart.unwrap_or_else(|| fallback.to_owned())
}

/// Whether any row tells of a wrong answer.
pub(super) fn has_wrong_answers(table: &Table) -> bool {
    table.rows().iter().any(|row| matches!(row.get(&c::WRONG_ANSWERS), Value::Integer(wrong) if *wrong > 0))
}
