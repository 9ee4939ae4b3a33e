//! Sweeps: from factors with their values to cells.

use catalog::Limit;
use toml::{Table, Value};
use tree::{Design, axis};
use workload::Workload;

use super::cell::{Cell, LeftOut};
use super::paths;
use super::trials::RunMode;

/// How the values of several factors are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Combine {
    /// Every value of one with every value of the others.
    #[default]
    Cartesian,
    /// The first values together, the second values together, and so on.
    Zip,
    /// The base, and every single change of it.
    Ablate,
}

/// A swept path with its values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Factor {
    /// The path, as `design.bloom.bits_per_key`.
    pub(super) path: String,
    /// The values, at least one.
    pub(super) values: Vec<Value>,
}

/// All factors and how they combine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sweep {
    pub(super) combine: Combine,
    pub(super) factors: Vec<Factor>,
}

/// A sweep that cannot be: the key inside `[sweep]` at fault, and why.
pub(super) struct SweepError {
    pub(super) key: String,
    pub(super) message: String,
}

impl SweepError {
    fn new(key: &str, message: impl Into<String>) -> Self {
        Self { key: key.to_owned(), message: message.into() }
    }
}

impl Sweep {
    /// Reads a `[sweep]` table; an axis swept over `"all"` takes its whole catalog.
    pub(super) fn read(table: &Table) -> Result<Self, SweepError> {
        let mut sweep = Self::default();
        for (key, value) in table {
            if key == "combine" {
                sweep.combine = read_combine(value)?;
            } else {
                sweep.factors.push(read_factor(key, value)?);
            }
        }
        if sweep.factors.is_empty() {
            let message = "the sweep is empty; name a path with its values: \"design.bloom\" = [\"none\", \"standard\"]";
            return Err(SweepError::new("", message));
        }
        sweep.check_lengths()?;
        Ok(sweep)
    }

    fn check_lengths(&self) -> Result<(), SweepError> {
        let length = self.factors[0].values.len();
        let other = self.factors.iter().find(|factor| factor.values.len() != length);
        match (self.combine, other) {
            (Combine::Zip, Some(factor)) => {
                let message = format!(
                    "zip takes lists of one length: {} has {length} values, {} has {}",
                    self.factors[0].path,
                    factor.path,
                    factor.values.len()
                );
                Err(SweepError::new(&factor.path, message))
            }
            _ => Ok(()),
        }
    }

    /// The combinations of values: for each factor its value, or `None` for that of the base.
    fn combinations(&self) -> Vec<Vec<Option<&Value>>> {
        let count = self.factors.len();
        match self.combine {
            Combine::Cartesian => {
                let mut all = vec![Vec::new()];
                for factor in &self.factors {
                    let extend = |head: Vec<_>| {
                        factor.values.iter().map(move |value| [head.clone(), vec![Some(value)]].concat())
                    };
                    all = all.into_iter().flat_map(extend).collect();
                }
                all
            }
            Combine::Zip => {
                let length = self.factors.first().map_or(1, |factor| factor.values.len());
                (0..length)
                    .map(|at| self.factors.iter().map(|factor| Some(&factor.values[at])).collect())
                    .collect()
            }
            Combine::Ablate => {
                let mut all = vec![vec![None; count]];
                for (at, factor) in self.factors.iter().enumerate() {
                    for value in &factor.values {
                        let mut one = vec![None; count];
                        one[at] = Some(value);
                        all.push(one);
                    }
                }
                all
            }
        }
    }

    /// The cells, and the combinations that are left out, each with its reason.
    pub(super) fn expand(&self, base: &Base<'_>) -> Result<(Vec<Cell>, Vec<LeftOut>), SweepError> {
        let (mut cells, mut left_out) = (Vec::<Cell>::new(), Vec::new());
        for combination in self.combinations() {
            let mut cell = self.assemble(base, &combination)?;
            let refused = base.refusal(&cell);
            let same =
                cells.iter().find(|other| other.design == cell.design && other.workload == cell.workload);
            let reason = refused.or_else(|| {
                same.map(|other| format!("it is the same as cell {}, {}", other.number, other.label))
            });
            if let Some(reason) = reason {
                left_out.push(LeftOut { label: self.describe(&combination), reason });
            } else {
                cell.number = cells.len() as u64;
                cells.push(cell);
            }
        }
        Ok((cells, left_out))
    }

    /// The values of a combination, as `design.bloom=none, design.bloom.bits_per_key=8`.
    fn describe(&self, combination: &[Option<&Value>]) -> String {
        let parts = self.factors.iter().zip(combination).filter_map(|(factor, value)| {
            value.map(|value| format!("{}={}", factor.path, display(&factor.path, value)))
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    fn assemble(&self, base: &Base<'_>, combination: &[Option<&Value>]) -> Result<Cell, SweepError> {
        let (mut design, mut workload) = (base.design.clone(), base.workload.to_toml());
        let mut swept = vec![String::new(); self.factors.len()];
        // Kinds before their parameters, whatever their order in the file.
        let mut order: Vec<usize> = (0..self.factors.len()).collect();
        order.sort_by_key(|at| self.factors[*at].path.matches('.').count());
        for at in order {
            let path = &self.factors[at].path;
            let value = combination[at].cloned().or_else(|| base.value(path));
            let Some(value) = value else { continue };
            if !applies(&design, path) {
                continue;
            }
            swept[at] = display(path, &value);
            if combination[at].is_some() {
                apply(&mut design, &mut workload, path, value)?;
            }
        }
        let workload = Workload::from_toml(&workload)
            .map_err(|error| SweepError::new(&self.factors[0].path, error.message))?;
        let label = self.label(&design, &swept, base.name);
        Ok(Cell { number: 0, label, swept, design, workload })
    }

    /// What sets a cell apart: the choice on each swept axis, and the other swept values by name.
    fn label(&self, design: &Design, swept: &[String], name: &str) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (factor, value) in self.factors.iter().zip(swept) {
            let path = paths::split(&factor.path);
            let part = match path[..] {
                ["design", "memtable", "capacity"] => format!("memtable.capacity={value}"),
                ["design", axis_name, ..] if axis(axis_name).is_some() => design.choice(axis_name).label(),
                [.., last] if !value.is_empty() => format!("{last}={value}"),
                _ => continue,
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        if parts.is_empty() { name.to_owned() } else { parts.join(" + ") }
    }
}

/// What a sweep starts from.
pub(super) struct Base<'a> {
    /// The name of the experiment.
    pub(super) name: &'a str,
    pub(super) design: &'a Design,
    pub(super) workload: &'a Workload,
    pub(super) mode: RunMode,
}

impl Base<'_> {
    /// The base's own value at a path.
    fn value(&self, path: &str) -> Option<Value> {
        let parts = paths::split(path);
        let (first, rest) = parts.split_first()?;
        let table = match *first {
            "design" => self.design.to_toml(),
            _ => self.workload.to_toml(),
        };
        let rest: &[&str] = if *first == "design" { rest } else { &parts };
        let found = rest.iter().try_fold(Value::Table(table), |value, key| match &value {
            Value::Array(items) => {
                items.iter().find(|item| item.get("name").and_then(Value::as_str) == Some(key)).cloned()
            }
            other => other.get(key).cloned(),
        })?;
        match rest {
            [axis_name] => {
                axis(axis_name).map(|_| Value::String(self.design.choice(axis_name).label())).or(Some(found))
            }
            _ => Some(found),
        }
    }

    /// Why a cell cannot run in the experiment's mode, if it cannot.
    fn refusal(&self, cell: &Cell) -> Option<String> {
        if self.mode == RunMode::Timed {
            return None;
        }
        let limits = cell.design.limits();
        let limit = limits.iter().find(|(_, _, limit)| *limit == Limit::NotDeterministic);
        let threads = cell.workload.phases.iter().find(|phase| phase.threads > 1);
        match (limit, threads) {
            (Some((axis, choice, limit)), _) => Some(format!("counted mode: {axis} = {choice} {limit}")),
            (None, Some(phase)) => {
                Some(format!("counted mode has one thread, phase {} has {}", phase.name, phase.threads))
            }
            (None, None) => None,
        }
    }
}

/// Whether the design has a parameter at this path; `none` has no `bits_per_key`.
fn applies(design: &Design, path: &str) -> bool {
    match paths::split(path)[..] {
        ["design", "memtable", "capacity"] => true,
        ["design", axis_name, parameter] if axis(axis_name).is_some() => {
            design.choice(axis_name).params().contains_key(parameter)
        }
        _ => true,
    }
}

fn apply(design: &mut Design, workload: &mut Table, path: &str, value: Value) -> Result<(), SweepError> {
    let parts = paths::split(path);
    match parts.split_first() {
        Some((&"design", rest)) if !rest.is_empty() => {
            let changed = design.with(&paths::nested(rest, value));
            *design = changed.map_err(|error| SweepError::new(path, error.message))?;
            Ok(())
        }
        Some((&("phase" | "key"), _)) => {
            let missing = |message| SweepError::new(path, format!("\"{path}\" leads nowhere: {message}"));
            paths::set(workload, &parts, value).map_err(missing)?;
            Workload::from_toml(workload).map(|_| ()).map_err(|error| SweepError::new(path, error.message))
        }
        _ => Err(SweepError::new(
            path,
            format!("\"{path}\" is no path; paths begin with design., phase. or key."),
        )),
    }
}

/// A value as results show it: kinds and sizes as they were written, tables as labels.
fn display(path: &str, value: &Value) -> String {
    let choice = match paths::split(path)[..] {
        ["design", axis_name] => {
            axis(axis_name).filter(|_| value.is_table()).and_then(|axis| axis.choose(value).ok())
        }
        _ => None,
    };
    match (choice, value) {
        (Some(choice), _) => choice.label(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}

fn read_combine(value: &Value) -> Result<Combine, SweepError> {
    match value.as_str() {
        Some("cartesian") => Ok(Combine::Cartesian),
        Some("zip") => Ok(Combine::Zip),
        Some("ablate") => Ok(Combine::Ablate),
        _ => Err(SweepError::new(
            "combine",
            format!("combine is {value}; it is \"cartesian\", \"zip\" or \"ablate\""),
        )),
    }
}

/// Reads the values of one factor.
pub(super) fn read_factor(path: &str, value: &Value) -> Result<Factor, SweepError> {
    let swept_axis = match paths::split(path)[..] {
        ["design", name] => axis(name),
        _ => None,
    };
    let values = match (value, swept_axis) {
        (Value::String(all), Some(axis)) if all == "all" => {
            axis.variants().iter().map(|variant| Value::String(variant.kind.to_owned())).collect()
        }
        (Value::Array(values), _) => values.clone(),
        _ => {
            return Err(SweepError::new(
                path,
                format!("\"{path}\" takes a list of values: \"{path}\" = [ … ]"),
            ));
        }
    };
    if values.is_empty() {
        return Err(SweepError::new(path, format!("\"{path}\" has no values; a sweep needs at least one")));
    }
    Ok(Factor { path: path.to_owned(), values })
}
