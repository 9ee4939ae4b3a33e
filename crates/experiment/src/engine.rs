//! The engines of experiments: this module parses them, constructs them, and returns their names for results.

use std::collections::BTreeSet;
use std::fmt;

use catalog::{Choice, ChoiceError, Limit};
use engines::{CATALOG, Engine, Missing};
use toml::Value;

pub use results::columns::ENGINE;

/// Reads an engine from TOML.
///
/// # Errors
/// Returns an error that names the parameter if a parameter of the engine is invalid.
pub fn read_engine(value: &Value) -> Result<Choice, ChoiceError> {
    CATALOG.choose(value)
}

/// Returns a copy of an engine in which the setting at `path` has the value `value`. If the path is empty, the value is
/// the whole new engine.
///
/// # Errors
/// Returns the same errors as [`read_engine`].
pub(super) fn with_engine(engine: &Choice, path: &[&str], value: Value) -> Result<Choice, ChoiceError> {
    let Some(parameter) = path.first() else { return read_engine(&value) };
    let mut table = engine.to_toml();
    if let Value::Table(table) = &mut table {
        table.insert((*parameter).to_owned(), value);
    }
    read_engine(&table)
}

/// Returns the engine of an experiment without the key `engine`, which is the tree of lsmbench.
pub(crate) fn default_engine() -> Choice {
    CATALOG.baseline()
}

/// Constructs an engine from its name and parameters.
///
/// # Panics
/// Panics if the engine was not parsed by [`read_engine`].
pub fn engine(choice: &Choice) -> Box<dyn Engine> {
    CATALOG
        .build(choice)
        .expect("the parameters of the engine must be valid, because `read_engine` has parsed them")
}

/// Returns whether an engine has the limitation `limit`, such as data that is not durable.
pub(crate) fn is_limited(choice: &Choice, limit: Limit) -> bool {
    CATALOG.variant(choice.kind()).is_ok_and(|variant| variant.limits.contains(&limit))
}

/// Returns the name of an engine in results: its key `label`, or its kind and its parameters if the engine has no
/// label.
pub fn engine_label(engine: &Choice) -> String {
    engine_label_with(engine, &BTreeSet::new())
}

/// Returns the name of an engine as [`engine_label`] does. A name of kind and parameters also contains the parameters
/// `kept` with their default values.
pub(super) fn engine_label_with(engine: &Choice, kept: &BTreeSet<String>) -> String {
    let given = engine.params().get("label").and_then(Value::as_str).filter(|label| !label.is_empty());
    given.map_or_else(|| engine.label_with(kept), str::to_owned)
}

/// The reason why an engine cannot run: it is not available on this machine, or it is not part of this build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absence {
    /// The name of the engine in results.
    pub engine: String,
    /// The library or program that the engine lacks, with the steps to install it.
    missing: Missing,
}

impl Absence {
    /// Returns the reason if the engine `choice` is not available. Returns `None` for an available engine.
    pub(crate) fn of(choice: &Choice) -> Option<Self> {
        let missing = engine(choice).identify().err()?;
        Some(Self { engine: engine_label(choice), missing })
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, missing } = self;
        write!(text, "engine \"{engine}\" is not installed: {missing}")
    }
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
