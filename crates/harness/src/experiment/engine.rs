//! Which engine a cell runs, and which engines cannot run it.

use std::fmt;

use catalog::{Choice, ChoiceError, Limit};
use engines::{CATALOG, Engine, EngineOptions, Missing, UNEQUAL};
use results::RunMode;
use toml::Value;
use workload::Rate;

use super::cell::Cell;

pub(crate) use results::columns::ENGINE;

/// Reads an engine from TOML.
///
/// # Errors
/// Names the parameter at fault.
pub(crate) fn read_engine(value: &Value) -> Result<Choice, ChoiceError> {
    CATALOG.choose(value)
}

/// An engine with another value at a path inside it; the empty path stands for the whole of it.
///
/// # Errors
/// As [`read_engine`].
pub(super) fn with_engine(engine: &Choice, path: &[&str], value: Value) -> Result<Choice, ChoiceError> {
    let Some(parameter) = path.first() else { return read_engine(&value) };
    let mut table = engine.to_toml();
    if let Value::Table(table) = &mut table {
        table.insert((*parameter).to_owned(), value);
    }
    read_engine(&table)
}

/// The engine of an experiment that names none.
pub(crate) fn default_engine() -> Choice {
    CATALOG.baseline()
}

/// The engine that a choice names.
pub(crate) fn engine(choice: &Choice) -> Box<dyn Engine> {
    CATALOG.build(choice).expect("a choice that exists can be built")
}

/// Whether the engine that a choice names has this limit.
fn is_limited(choice: &Choice, limit: Limit) -> bool {
    CATALOG.variant(choice.kind()).is_ok_and(|variant| variant.limits.contains(&limit))
}

/// What an engine is called in results: the label that it was given, or its choice.
pub(crate) fn engine_label(engine: &Choice) -> String {
    let given = engine.params().get("label").and_then(Value::as_str).filter(|label| !label.is_empty());
    given.map_or_else(|| engine.label(), str::to_owned)
}

/// The number of terms of the design that cannot be made equal in the engine of a cell.
pub(super) fn unequal_terms(cell: &Cell) -> usize {
    let lines = engine(&cell.engine).mapping(&EngineOptions::of(&cell.design));
    lines.iter().filter(|line| line.starts_with(UNEQUAL)).count()
}

/// Why an experiment that names the engine of this cell is rejected as a whole: counted mode needs an engine whose counters
/// are the same in every run. `None` where it is not.
pub(super) fn hindrance(mode: RunMode, cell: &Cell) -> Option<String> {
    let name = engine_label(&cell.engine);
    (mode == RunMode::Counted && is_limited(&cell.engine, Limit::NotDeterministic)).then(|| {
        format!(
            "trials.mode = \"counted\" runs our own tree alone: {name} {}; say mode = \"timed\", or engine = \
             \"lsmbench\"",
            Limit::NotDeterministic
        )
    })
}

/// The engine of a cell that is not here, with how to get it.
pub(super) fn absence(cell: &Cell) -> Option<Absence> {
    let missing = engine(&cell.engine).identify().err()?;
    Some(Absence { engine: engine_label(&cell.engine), missing })
}

/// An engine that is not on this machine or not in this build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Absence {
    /// What it is called in results.
    pub(crate) engine: String,
    /// How to get it.
    missing: Missing,
}

impl fmt::Display for Absence {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "engine {} is not here: {}", self.engine, self.missing)
    }
}

/// Why the engine of a cell cannot run it. `None` where it can.
pub(super) fn refusal(mode: RunMode, cell: &Cell) -> Option<String> {
    let (built, engine) = (engine(&cell.engine), engine_label(&cell.engine));
    if mode == RunMode::Counted && is_limited(&cell.engine, Limit::NotDeterministic) {
        return Some(format!("counted mode: engine = {engine} {}", Limit::NotDeterministic));
    }
    if !built.reads_whole_design() {
        let limits = cell.design.limits();
        if let Some((axis, choice, _)) = limits.into_iter().find(|(_, _, limit)| *limit == Limit::NotDurable)
        {
            return Some(format!(
                "engine {engine} keeps files, and {axis} = {choice} none: give both real storage"
            ));
        }
        if cell.design.to_toml().contains_key("memory") {
            return Some(format!(
                "engine {engine} has no terms for design.memory: give memtable.capacity and cache.capacity"
            ));
        }
    }
    let asks_more = |rate: &Rate| {
        matches!(rate, Rate::Sustained(search)
            if search.objective.stalls_ns.is_some() || search.objective.level0_runs.is_some())
    };
    let phases = cell.task.workload().map_or(&[][..], |workload| &workload.phases);
    let asking = phases.iter().find(|phase| asks_more(&phase.rate));
    if let Some(phase) = asking.filter(|_| !built.reports_levels_and_stalls()) {
        let name = &phase.name;
        return Some(format!(
            "engine {engine}: the objective of phase {name} is about stalls or runs, which only our own tree tells"
        ));
    }
    built.identify().err().map(|missing| missing.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_that_were_given() {
        let choice = |text: &str| read_engine(&Value::String(text.to_owned())).unwrap();
        assert_eq!(engine_label(&choice("rocksdb")), "rocksdb");
        assert_eq!(engine_label(&choice("rocksdb(library=x.so, label=speedb)")), "speedb");
        assert!(engine(&default_engine()).reads_whole_design());
        assert!(!engine(&choice("rocksdb")).reads_whole_design());
        assert!(!is_limited(&default_engine(), Limit::NotDeterministic));
    }
}
