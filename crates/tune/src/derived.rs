//! Writes derived experiments. The configurations of a derived experiment are some candidates of the search. The layers
//! that run designs execute these experiments.

use std::path::{Path, PathBuf};

use catalog::KeyEntry;
use experiment::{ENGINE, Experiment, TIMED_TRIAL_KEYS};
use results::RunMode;
use results::targets::create_folder;
use toml::{Table, Value};
use tree::{AXES, Design, axis, own_key_entries, own_keys};
use types::{Outcome, Problem};

use crate::candidate::EngineDesign;

/// The tables and keys of the original experiment that a derived experiment replaces or omits.
const REPLACED: [&str; 9] =
    [ENGINE, "design", "sweep", "trials", "verdict", "gate", "chart", "tune", "quick"];

/// The settings of a derived experiment, which compares some candidates of the search.
pub(crate) struct Derived<'a> {
    /// The name of the derived experiment, which its file and its results folder also have.
    pub(crate) name: &'a str,
    /// The question of the derived experiment.
    pub(crate) question: String,
    /// The pairs of an engine and a design that the experiment compares. The first pair is the baseline.
    pub(crate) setups: &'a [EngineDesign],
    /// The keys of the table `[trials]` that the derived experiment changes.
    pub(crate) trials: Table,
    /// The table `[verdict]` of the derived experiment.
    pub(crate) verdict: Table,
}

impl Derived<'_> {
    /// Writes the file of the derived experiment into `folder`, and returns its path.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, experiment: &Experiment, folder: &Path) -> Outcome<PathBuf> {
        let read = |error: toml::de::Error| Problem::doing("read the resolved experiment", error);
        let resolved: Table = experiment.runnable().parse().map_err(read)?;
        let mut table: Table = resolved.clone();
        REPLACED.iter().for_each(|key| drop(table.remove(*key)));
        table.insert("question".to_owned(), Value::from(self.question.clone()));
        let base = &self.setups[0];
        table.insert(ENGINE.to_owned(), Value::from(base.engine.label()));
        let designs = designs(self.setups);
        table.insert("design".to_owned(), Value::Table(designs[0].clone()));
        let mut trials = match resolved.get("trials") {
            Some(Value::Table(trials)) => trials.clone(),
            _ => Table::new(),
        };
        trials.remove("precision");
        trials.extend(self.trials.clone());
        if trials.get("mode").and_then(Value::as_str) == Some(RunMode::Counted.name()) {
            trials.retain(|key, _| !TIMED_TRIAL_KEYS.contains(&key));
        }
        let sweep = zipped(self.setups, &designs);
        if !sweep.is_empty() {
            table.insert("sweep".to_owned(), Value::Table(sweep));
        }
        table.insert("trials".to_owned(), Value::Table(trials));
        table.insert("verdict".to_owned(), Value::Table(self.verdict.clone()));
        create_folder(folder)?;
        let path = folder.join(format!("{}.toml", self.name));
        std::fs::write(&path, plain_values_first(table).to_string())
            .map_err(|error| Problem::doing(format!("write {}", path.display()), error))?;
        Ok(path)
    }
}

/// Sorts the keys of a table so that all values come before the subtables, as TOML requires.
fn plain_values_first(table: Table) -> Table {
    let is_table = |value: &Value| match value {
        Value::Table(_) => true,
        Value::Array(items) => items.iter().any(Value::is_table),
        _ => false,
    };
    let (tables, plain): (Vec<_>, Vec<_>) = table.into_iter().partition(|(_, value)| is_table(value));
    plain.into_iter().chain(tables).collect()
}

/// Returns the design of each setup in the form of a `[design]` table.
fn designs(setups: &[EngineDesign]) -> Vec<Table> {
    let has_budget = setups.iter().any(|setup| setup.design.has_budget());
    let tables = setups.iter().map(|setup| with_own_keys(setup.design.to_toml()));
    tables.map(|table| if has_budget { Design::without_cache_capacity(table) } else { table }).collect()
}

/// Returns a design with all keys of the table `memtable`, including keys with their default value. A sweep can then
/// set each key in all designs.
fn with_own_keys(mut design: Table) -> Table {
    if let Some(Value::Table(memtable)) = design.get_mut("memtable") {
        for KeyEntry { key, default, .. } in own_key_entries() {
            let parsed = format!("value = {default}").parse::<Table>().ok();
            let default = parsed.and_then(|mut table| table.remove("value"));
            if let (false, Some(default)) = (memtable.contains_key(key), default) {
                memtable.insert(key.to_owned(), default);
            }
        }
    }
    design
}

/// Returns a `[sweep]` table whose configurations are the given engines and designs, in this order. Each key of the
/// table is a setting in which they differ. Returns an empty table if all are equal.
fn zipped(setups: &[EngineDesign], designs: &[Table]) -> Table {
    let flat: Vec<Vec<(String, Value)>> = designs.iter().map(paths).collect();
    // TOML requires plain values before arrays of tables.
    let mut sweep = Table::from_iter([("combine".to_owned(), Value::from("zip"))]);
    if setups.iter().any(|setup| setup.engine != setups[0].engine) {
        let engines = setups.iter().map(|setup| Value::from(setup.engine.label()));
        sweep.insert(ENGINE.to_owned(), Value::Array(engines.collect()));
    }
    let all: Vec<&String> = {
        let mut seen = Vec::new();
        flat.iter().flatten().map(|(path, _)| path).for_each(|path| {
            if !seen.contains(&path) {
                seen.push(path);
            }
        });
        seen
    };
    for path in all {
        let of = |design: &Vec<(String, Value)>| {
            design.iter().find(|(other, _)| other == path).map(|(_, value)| value.clone())
        };
        let values: Vec<Option<Value>> = flat.iter().map(of).collect();
        // A path that some designs do not have cannot be set in all configurations. These designs also differ in
        // another path.
        let Some(values) = values.into_iter().collect::<Option<Vec<Value>>>() else { continue };
        if values.iter().any(|value| *value != values[0]) {
            sweep.insert(format!("design.{path}"), Value::Array(values));
        }
    }
    if sweep.len() > 1 { sweep } else { Table::new() }
}

/// Returns the table of a variant of the axis `name` without the parameters that have their default value. The label of
/// a configuration contains all parameters that a sweep sets.
fn without_defaults(name: &str, mut variant: Table) -> Table {
    let variants = axis(name).map(catalog::Axis::variants).unwrap_or_default();
    let kind = variant.get("kind").and_then(Value::as_str);
    if let Some(info) = variants.into_iter().find(|info| Some(info.kind) == kind) {
        variant.retain(|key, value| info.defaults.get(key) != Some(value));
    }
    variant
}

/// Returns the settings of a design as pairs of a path and a value. The label of a configuration contains these paths.
pub(crate) fn paths(design: &Table) -> Vec<(String, Value)> {
    let mut paths = Vec::new();
    for (key, value) in design {
        let is_axis = AXES.iter().any(|axis| axis.name() == key);
        match value {
            Value::Table(choice) if is_axis => {
                let (own, variant): (Table, Table) =
                    choice.clone().into_iter().partition(|(name, _)| own_keys(key).any(|own| own == name));
                paths.push((key.clone(), Value::Table(without_defaults(key, variant))));
                paths.extend(own.into_iter().map(|(name, value)| (format!("{key}.{name}"), value)));
            }
            Value::Table(options) if !is_axis => {
                paths.extend(options.iter().map(|(name, value)| (format!("{key}.{name}"), value.clone())));
            }
            _ => paths.push((key.clone(), value.clone())),
        }
    }
    paths
}
