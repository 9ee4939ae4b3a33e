//! Reading an experiment file, with everything it refers to, into what will run.

use std::path::{Path, PathBuf};

use catalog::suggestion;
use plot::ChartSpec;
use results::Schema;
use serde::de::DeserializeOwned;
use toml::{Table, Value};
use tree::{AXES, Design, DesignError};
use workload::{Plan, PlanError, Workload};

use super::cell::{Cell, LeftOut};
use super::file::SourceFile;
use super::paths;
use super::sweep::{Base, Factor, Sweep, SweepError, read_factor};
use super::trials::{Trials, VerdictSpec};
use crate::problem::{Outcome, Problem};

/// The keys of an experiment file.
const KEYS: [&str; 12] = [
    "question", "extends", "workload", "key", "design", "phase", "set", "quick", "sweep", "trials",
    "verdict", "chart",
];

/// By how much `--quick` divides counts where the experiment does not say.
const QUICK_DIVISOR: u64 = 10;

/// What the command line changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overrides {
    /// Paths and values, as `design.bloom.bits_per_key=12`.
    pub(crate) set: Vec<String>,
    /// The number of trials.
    pub(crate) trials: Option<u64>,
    /// The seed.
    pub(crate) seed: Option<u64>,
    /// Run small: takes the experiment's `[quick]` table, or divides counts by ten.
    pub(crate) quick: bool,
    /// A design file to use in place of the experiment's.
    pub(crate) design: Option<PathBuf>,
}

/// An experiment, resolved: nothing is left to look up.
#[derive(Clone, Debug)]
pub(crate) struct Experiment {
    /// The name: that of the file.
    pub(crate) name: String,
    /// The question it asks.
    pub(crate) question: String,
    /// Where relative paths of the workload start.
    pub(crate) base: PathBuf,
    /// The design that the sweep starts from.
    pub(crate) design: Design,
    /// The workload that the sweep starts from.
    pub(crate) workload: Workload,
    /// The swept paths, in order.
    pub(crate) swept: Vec<String>,
    /// What runs.
    pub(crate) cells: Vec<Cell>,
    /// What does not, and why.
    pub(crate) left_out: Vec<LeftOut>,
    /// How often, from which seed.
    pub(crate) trials: Trials,
    /// What decides.
    pub(crate) verdict: VerdictSpec,
    /// The charts.
    pub(crate) charts: Vec<ChartSpec>,
}

impl Experiment {
    /// Reads an experiment and checks everything that can be checked before it runs.
    pub(crate) fn load(path: &Path, overrides: &Overrides) -> Outcome<Self> {
        Loader::new(path, overrides)?.load()
    }

    /// The plan of a cell's workload.
    pub(crate) fn plan(&self, cell: &Cell) -> Outcome<Plan> {
        Plan::new(&cell.workload, self.trials.seed, &self.base)
            .map_err(|error| Problem::new(error.to_string()))
    }

    /// The experiment as one TOML file that stands for itself.
    pub(crate) fn resolved(&self) -> String {
        let mut table = Table::new();
        table.insert("question".to_owned(), Value::String(self.question.clone()));
        table.insert("design".to_owned(), Value::Table(self.design.to_toml()));
        table.extend(self.workload.to_toml());
        let plain =
            |value: Result<Value, toml::ser::Error>| value.unwrap_or_else(|_| unreachable!("plain values"));
        table.insert("trials".to_owned(), plain(Value::try_from(&self.trials)));
        table.insert("verdict".to_owned(), plain(Value::try_from(&self.verdict)));
        if !self.charts.is_empty() {
            table.insert("chart".to_owned(), plain(Value::try_from(&self.charts)));
        }
        table.to_string()
    }
}

/// Reads one experiment.
struct Loader<'a> {
    file: SourceFile,
    overrides: &'a Overrides,
    /// The file that the workload stands in: the experiment's own, or another one.
    workload_file: Option<SourceFile>,
    /// Paths and values that are set on top, in order, with where they come from.
    sets: Vec<(String, Value, SetBy)>,
}

/// Where an override comes from.
#[derive(Clone, Copy, PartialEq)]
enum SetBy {
    /// A table of the experiment file, by its name.
    File(&'static str),
    /// The command line.
    CommandLine,
}

impl<'a> Loader<'a> {
    fn new(path: &Path, overrides: &'a Overrides) -> Outcome<Self> {
        let file = SourceFile::read(path)?;
        if let Some(key) = file.table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let hint = suggestion(key, KEYS.into_iter());
            let message = format!("an experiment has no \"{key}\"; {hint}there are {}", KEYS.join(", "));
            return Err(file.problem(&[key], message));
        }
        let mut loader = Self { file, overrides, workload_file: None, sets: Vec::new() };
        loader.collect_sets()?;
        if let Some(Value::String(name)) = loader.file.table.get("workload") {
            loader.workload_file = Some(loader.referred("workload", &name.clone())?);
        }
        Ok(loader)
    }

    fn collect_sets(&mut self) -> Outcome<()> {
        for table in ["set", "quick"] {
            if table == "quick" && !self.overrides.quick {
                continue;
            }
            match self.file.table.get(table) {
                None => {}
                Some(Value::Table(entries)) => {
                    let entries =
                        entries.iter().map(|(path, value)| (path.clone(), value.clone(), SetBy::File(table)));
                    self.sets.extend(entries);
                }
                Some(_) => {
                    return Err(self
                        .file
                        .problem(&[table], format!("{table} is a table of paths and values")));
                }
            }
        }
        for text in &self.overrides.set {
            let (path, value) = text.split_once('=').ok_or_else(|| {
                Problem::new(format!("--set {text}: write it as path=value, as --set trials.count=5"))
            })?;
            self.sets.push((path.trim().to_owned(), paths::read_value(value.trim()), SetBy::CommandLine));
        }
        for (path, ..) in &self.sets {
            let first = paths::split(path)[0];
            if !["design", "key", "phase", "trials", "sweep", "verdict"].contains(&first) {
                let message = format!(
                    "\"{path}\" is no path; paths begin with design., phase., key., trials., sweep. or verdict."
                );
                return Err(self.set_problem(path, message));
            }
        }
        Ok(())
    }

    /// A problem with an override, where it came from.
    fn set_problem(&self, path: &str, message: impl Into<String>) -> Problem {
        match self.sets.iter().rev().find(|(set, ..)| set == path) {
            Some((_, _, SetBy::File(table))) => self.file.problem(&[*table, path], message),
            _ => Problem::new(format!("--set {path}: {}", message.into())),
        }
    }

    /// Another file that the experiment names: beside the experiment, or in a folder `configs` above it.
    fn referred(&self, key: &str, name: &str) -> Outcome<SourceFile> {
        match find(self.file.folder(), name) {
            Some(path) => SourceFile::read(&path),
            None => Err(self.file.problem(
                &[key],
                format!("there is no file {name}, neither beside this file nor in configs/"),
            )),
        }
    }

    fn load(mut self) -> Outcome<Experiment> {
        let question = match self.file.table.get("question") {
            Some(Value::String(question)) if !question.trim().is_empty() => question.clone(),
            _ => {
                return Err(self
                    .file
                    .problem(&["question"], "an experiment asks a question: question = \"Which …?\""));
            }
        };
        let (design, mut factors) = self.design()?;
        let workload = self.workload()?;
        let trials = self.trials()?;
        let name =
            self.file.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let mut sweep = self.sweep()?;
        factors.append(&mut sweep.factors);
        sweep.factors = factors;
        let base = Base { name: &name, design: &design, workload: &workload, mode: trials.mode };
        let (cells, left_out) = sweep.expand(&base).map_err(|error| self.sweep_problem(&error))?;
        if cells.is_empty() {
            let reasons: Vec<String> =
                left_out.iter().map(|left| format!("{}: {}", left.label, left.reason)).collect();
            return Err(self
                .file
                .problem(&["sweep"], format!("nothing is left to run:\n{}", reasons.join("\n"))));
        }
        let swept: Vec<String> = sweep.factors.iter().map(|factor| factor.path.clone()).collect();
        let charts = self.charts(&swept)?;
        let verdict = self.verdict(&swept)?;
        let base = self.workload_file.as_ref().unwrap_or(&self.file).folder().to_owned();
        let experiment = Experiment {
            name,
            question,
            base,
            design,
            workload,
            swept,
            cells,
            left_out,
            trials,
            verdict,
            charts,
        };
        self.check_plans(&experiment)?;
        Ok(experiment)
    }

    /// The base design, and the axes that the `[design]` table sweeps by giving a list or `"all"`.
    fn design(&self) -> Outcome<(Design, Vec<Factor>)> {
        let mut design = match (&self.overrides.design, self.file.table.get("extends")) {
            (Some(path), _) => design_file(&SourceFile::read(path)?, 0)?,
            (None, Some(Value::String(name))) => design_file(&self.referred("extends", name)?, 0)?,
            (None, Some(_)) => {
                return Err(self.file.problem(
                    &["extends"],
                    "extends names a design file: extends = \"designs/default.toml\"",
                ));
            }
            (None, None) => Design::default(),
        };
        let mut factors = Vec::new();
        match self.file.table.get("design") {
            None => {}
            Some(Value::Table(table)) => {
                let mut own = table.clone();
                for axis in AXES {
                    let is_swept = own
                        .get(axis.name())
                        .is_some_and(|value| value.is_array() || value.as_str() == Some("all"));
                    if let Some(values) = own.remove(axis.name()).filter(|_| is_swept) {
                        let factor = read_factor(&format!("design.{}", axis.name()), &values);
                        factors.push(
                            factor.map_err(|error| {
                                self.file.problem(&["design", axis.name()], error.message)
                            })?,
                        );
                    } else if let Some(value) = table.get(axis.name()) {
                        own.insert(axis.name().to_owned(), value.clone());
                    }
                }
                design = design.with(&own).map_err(|error| design_problem(&self.file, &error))?;
            }
            Some(_) => return Err(self.file.problem(&["design"], "design is a table: [design]")),
        }
        for (path, value, _) in &self.sets {
            if let Some((&"design", rest)) = paths::split(path).split_first() {
                if rest.is_empty() {
                    return Err(self.set_problem(path, "name a key of the design, as design.bloom"));
                }
                let changed = design.with(&paths::nested(rest, value.clone()));
                design = changed.map_err(|error| self.set_problem(path, error.message))?;
            }
        }
        Ok((design, factors))
    }

    /// The base workload.
    fn workload(&self) -> Outcome<Workload> {
        let mut table = Table::new();
        let source = self.workload_file.as_ref().unwrap_or(&self.file);
        for key in ["key", "phase"] {
            table.extend(source.table.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        if let Some(file) = &self.workload_file {
            if let Some(key) = file.table.keys().find(|key| !["key", "phase"].contains(&key.as_str())) {
                return Err(file
                    .problem(&[key], format!("a workload file has no \"{key}\"; it has key and [[phase]]")));
            }
            if self.file.table.contains_key("phase") || self.file.table.contains_key("key") {
                let message = "the workload comes from a file; change single values of it in [set], as \"phase.load.insert\" = 1000";
                let own = if self.file.table.contains_key("phase") { "phase" } else { "key" };
                return Err(self.file.problem(&[own], message));
            }
        }
        for (path, value, _) in &self.sets {
            let parts = paths::split(path);
            if parts[0] == "phase" || parts[0] == "key" {
                paths::set(&mut table, &parts, value.clone())
                    .map_err(|message| self.set_problem(path, message))?;
            }
        }
        let mut workload = self.read_workload(source, &table)?;
        if self.overrides.quick && !self.file.table.contains_key("quick") {
            workload = self.read_workload(source, &divide_counts(workload.to_toml()))?;
        }
        Ok(workload)
    }

    fn read_workload(&self, source: &SourceFile, table: &Table) -> Outcome<Workload> {
        Workload::from_toml(table).map_err(|error| {
            let key = error.key.clone().unwrap_or_default();
            let set = self
                .sets
                .iter()
                .rev()
                .find(|(path, ..)| key == *path || key.starts_with(&format!("{path}.")));
            match set {
                Some((path, ..)) => self.set_problem(path, error.message),
                None => source.problem(&paths::split(&key), error.message),
            }
        })
    }

    fn trials(&mut self) -> Outcome<Trials> {
        let mut trials: Trials = self.table("trials")?;
        if self.overrides.quick && !self.sets.iter().any(|(path, ..)| path == "trials.count") {
            trials.count = trials.count.min(2);
        }
        trials.count = self.overrides.trials.unwrap_or(trials.count);
        trials.seed = self.overrides.seed.unwrap_or(trials.seed);
        trials.check().map_err(|(key, message)| {
            self.file.problem(&["trials", key], format!("trials.{key}: {message}"))
        })?;
        Ok(trials)
    }

    /// A plain table of the experiment with its overrides.
    fn table<T: DeserializeOwned>(&self, name: &str) -> Outcome<T> {
        let mut table = match self.file.table.get(name) {
            None => Table::new(),
            Some(Value::Table(table)) => table.clone(),
            Some(_) => return Err(self.file.problem(&[name], format!("{name} is a table: [{name}]"))),
        };
        for (path, value, _) in &self.sets {
            if let Some((first, rest)) = path.split_once('.').filter(|(first, _)| *first == name) {
                debug_assert_eq!(first, name);
                table.insert(rest.to_owned(), value.clone());
            }
        }
        // Key by key first, so that an error can name the line.
        for (key, value) in &table {
            let alone = Table::from_iter([(key.clone(), value.clone())]);
            if let Err(error) = Value::Table(alone).try_into::<T>() {
                return Err(self
                    .file
                    .problem(&[name, key], format!("{name}.{key}: {}", error.message().replace('`', "\""))));
            }
        }
        Value::Table(table)
            .try_into()
            .map_err(|error: toml::de::Error| self.file.problem(&[name], error.message()))
    }

    fn sweep(&self) -> Outcome<Sweep> {
        let mut table = match self.file.table.get("sweep") {
            None => Table::new(),
            Some(Value::Table(table)) => table.clone(),
            Some(_) => return Err(self.file.problem(&["sweep"], "sweep is a table: [sweep]")),
        };
        let was_there = self.file.table.contains_key("sweep");
        for (path, value, _) in &self.sets {
            if let Some(swept) = path.strip_prefix("sweep.") {
                table.insert(swept.to_owned(), value.clone());
            }
        }
        if table.is_empty() && !was_there {
            return Ok(Sweep::default());
        }
        Sweep::read(&table).map_err(|error| self.sweep_problem(&error))
    }

    fn sweep_problem(&self, error: &SweepError) -> Problem {
        self.file.problem(&["sweep", &error.key], error.message.clone())
    }

    fn charts(&self, swept: &[String]) -> Outcome<Vec<ChartSpec>> {
        let tables = match self.file.table.get("chart") {
            None => return Ok(Vec::new()),
            Some(Value::Array(tables)) => tables,
            Some(_) => return Err(self.file.problem(&["chart"], "every chart is a table: [[chart]]")),
        };
        let schema = Schema::runs(swept).map_err(|error| self.file.problem(&["sweep"], error.to_string()))?;
        let mut charts: Vec<ChartSpec> = Vec::new();
        for table in tables {
            let chart: ChartSpec = table.clone().try_into().map_err(|error: toml::de::Error| {
                self.file.problem(&["chart"], format!("chart: {}", error.message().replace('`', "\"")))
            })?;
            if charts.iter().any(|other| other.file_stem() == chart.file_stem()) {
                let message = format!("two charts would be called {}; give one a name", chart.file_stem());
                return Err(self.file.problem(&["chart"], message));
            }
            let columns =
                [&chart.x, &chart.y, &chart.series].into_iter().flatten().chain(chart.filter.keys());
            for column in
                columns.filter(|_| !matches!(chart.kind, plot::ChartKind::Timeline | plot::ChartKind::Cdf))
            {
                schema
                    .find(column)
                    .map_err(|error| self.file.problem(&["chart"], format!("chart: {error}")))?;
            }
            charts.push(chart);
        }
        Ok(charts)
    }

    fn verdict(&self, swept: &[String]) -> Outcome<VerdictSpec> {
        let verdict: VerdictSpec = self.table("verdict")?;
        let schema = Schema::runs(swept).map_err(|error| self.file.problem(&["sweep"], error.to_string()))?;
        if let Some(metric) = &verdict.metric {
            schema
                .find(metric)
                .map_err(|error| self.file.problem(&["verdict", "metric"], error.to_string()))?;
        }
        Ok(verdict)
    }

    /// Makes every cell's workload ready once, so that missing traces and impossible phases come to light.
    fn check_plans(&self, experiment: &Experiment) -> Outcome<()> {
        let mut checked: Vec<&Workload> = Vec::new();
        for cell in &experiment.cells {
            if !checked.contains(&&cell.workload) {
                checked.push(&cell.workload);
                Plan::new(&cell.workload, experiment.trials.seed, &experiment.base)
                    .map_err(|error| self.plan_problem(&error))?;
            }
        }
        Ok(())
    }

    fn plan_problem(&self, error: &PlanError) -> Problem {
        let source = self.workload_file.as_ref().unwrap_or(&self.file);
        match error {
            PlanError::Choice(choice) => source
                .problem(&paths::split(choice.key.as_deref().unwrap_or_default()), choice.message.clone()),
            PlanError::Trace(trace) => source.problem(&["phase"], trace.to_string()),
        }
    }
}

/// A file by the name that another one gives it: beside that file, or in a folder `configs` at or above it,
/// or below the current folder.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let beside = folder.join(name);
    let above = folder.ancestors().map(|ancestor| match ancestor.ends_with("configs") {
        true => ancestor.join(name),
        false => ancestor.join("configs").join(name),
    });
    std::iter::once(beside).chain(above).chain([Path::new("configs").join(name)]).find(|path| path.is_file())
}

/// The most design files that extend each other: more is a circle.
const MOST_EXTENDS: usize = 16;

/// The design of a design file: a `[design]` table, and what it extends.
pub(crate) fn design_file(file: &SourceFile, depth: usize) -> Outcome<Design> {
    if let Some(key) = file.table.keys().find(|key| !["extends", "design", "about"].contains(&key.as_str())) {
        return Err(file
            .problem(&[key], format!("a design file has no \"{key}\"; it has about, extends and [design]")));
    }
    if depth > MOST_EXTENDS {
        return Err(file.problem(&["extends"], "these design files extend each other in a circle"));
    }
    let base = match file.table.get("extends") {
        None => Design::default(),
        Some(Value::String(name)) => {
            let missing = || {
                file.problem(
                    &["extends"],
                    format!("there is no file {name}, neither beside this file nor in configs/"),
                )
            };
            design_file(&SourceFile::read(&find(file.folder(), name).ok_or_else(missing)?)?, depth + 1)?
        }
        Some(_) => return Err(file.problem(&["extends"], "extends names a design file")),
    };
    match file.table.get("design") {
        Some(Value::Table(design)) => base.with(design).map_err(|error| design_problem(file, &error)),
        _ => Err(file.problem(&["design"], "a design file has a [design] table")),
    }
}

fn design_problem(file: &SourceFile, error: &DesignError) -> Problem {
    let mut key = vec!["design"];
    key.extend(error.path.iter().map(String::as_str));
    file.problem(&key, error.message.clone())
}

/// The workload with a tenth of its keys and operations.
fn divide_counts(mut table: Table) -> Table {
    if let Some(Value::Array(phases)) = table.get_mut("phase") {
        for phase in phases.iter_mut().filter_map(Value::as_table_mut) {
            for key in ["insert", "operations"] {
                if let Some(Value::Integer(count)) = phase.get_mut(key) {
                    *count = (*count / QUICK_DIVISOR.cast_signed()).max(1);
                }
            }
        }
    }
    table
}

/// A design with one value changed, given as `bloom.bits_per_key=12`.
pub(crate) fn set_design(design: &Design, text: &str) -> Outcome<Design> {
    let (path, value) = text
        .split_once('=')
        .ok_or_else(|| Problem::new(format!("--set {text}: write it as path=value, as --set wal=sync")))?;
    let path = path.trim();
    let path = path.strip_prefix("design.").unwrap_or(path);
    let overrides = paths::nested(&paths::split(path), paths::read_value(value.trim()));
    design.with(&overrides).map_err(|error| Problem::new(format!("--set {text}: {}", error.message)))
}
