//! A complete workload: the key format, and the phases in order.

use catalog::{Choice, ChoiceError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use toml::{Table, Value};

use crate::format::FORMATS;
use crate::phase::{Phase, Work};
use crate::single_deletes;
use crate::spelling::{Spelling, inside};

/// The workload of an experiment file. The workload consists of the key `key` and the `[[phase]]` tables. A file in
/// `configs/workloads/` contains only these parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The key format, which is one of [`FORMATS`], such as `key = { format = "u64", bytes = 16 }`.
    pub key: Choice,
    /// The phases in the order in which they run. A workload has at least one phase.
    pub phases: Vec<Phase>,
}

impl Workload {
    /// Reads `key` and `phase` from a table. Any other key of the table is an error.
    ///
    /// # Errors
    /// Returns an error that names the invalid key, such as `phase.lookup.keys.theta`.
    pub fn from_toml(table: &Table) -> Result<Self, ChoiceError> {
        let mut spelling = Spelling::new(table.clone());
        let key = match spelling.take("key") {
            Some(value) => read_key(value).map_err(|error| inside("key", error))?,
            None => FORMATS.baseline(),
        };
        let phases = match spelling.take("phase") {
            Some(Value::Array(tables)) if !tables.is_empty() => read_phases(&tables)?,
            _ => {
                let message = "a workload has at least one [[phase]]; add a phase, such as a load with insert = 1_000_000";
                return Err(ChoiceError::at("phase", message));
            }
        };
        spelling.finish("a workload")?;
        let workload = Self { key, phases };
        workload.check_phases()?;
        Ok(workload)
    }

    /// Returns the workload as TOML with all defaults. Parsing this TOML gives an equal workload.
    pub fn to_toml(&self) -> Table {
        let mut table = Table::new();
        let mut key = self.key.to_toml();
        if let Value::Table(key) = &mut key {
            // In TOML, the parameter `format` comes first, like `kind` in other tables.
            let params = std::mem::take(key);
            let renamed = |name: String| if name == "kind" { "format".to_owned() } else { name };
            key.extend(params.into_iter().map(|(name, value)| (renamed(name), value)));
        }
        table.insert("key".to_owned(), key);
        let phases = self.phases.iter().map(|phase| Value::Table(phase.to_toml())).collect();
        table.insert("phase".to_owned(), Value::Array(phases));
        table
    }

    /// Returns the workload with default values for all settings that its phases do not use. The arguments of `is_kept`
    /// are the name of a phase and the name of a setting. A setting for which `is_kept` returns true keeps its value.
    #[must_use]
    pub fn without_unread(self, is_kept: impl Fn(&str, &str) -> bool) -> Self {
        let phases = self.phases.into_iter().map(|phase| {
            let name = phase.name.clone();
            phase.without_unread(|key| is_kept(&name, key))
        });
        Self { phases: phases.collect(), ..self }
    }

    /// Checks the rules that apply to all phases together, such as unique names.
    fn check_phases(&self) -> Result<(), ChoiceError> {
        let recorded = self.phases.iter().any(|phase| phase.trace().is_some());
        if self.key.kind() == "trace" && !recorded {
            let message = "the key format \"trace\" needs the keys of a raw trace, but no phase replays a raw \
                           trace; add such a phase, or choose another format";
            return Err(ChoiceError::at("key.format", message));
        }
        for (number, phase) in self.phases.iter().enumerate() {
            let at = |key: &str, message: String| ChoiceError::at(path(&phase.name, key), message);
            if self.phases[..number].iter().any(|earlier| earlier.name == phase.name) {
                return Err(at(
                    "name",
                    format!("two phases have the name \"{}\"; give each phase its own name", phase.name),
                ));
            }
            match &phase.work {
                Work::Load(load) if load.keys.is_none() && !recorded => {
                    let message = "insert = \"all\" needs the keys of a raw trace, but no phase replays a raw \
                                   trace; add such a phase, or write a number of keys";
                    return Err(at("insert", message.to_owned()));
                }
                _ => {}
            }
        }
        single_deletes::check_phases(&self.phases)
            .map_err(|breach| ChoiceError::at(path(&breach.phase.name, breach.key), breach.message))
    }
}

/// Reads a key format, such as `key = "u64"`, or a table in which `format` names the format.
fn read_key(value: Value) -> Result<Choice, ChoiceError> {
    let Value::Table(mut table) = value else {
        return FORMATS.choose(&value);
    };
    if let Some(kind) = table.remove("kind") {
        let message = format!(
            "the table `key` selects the format of keys by `format`, not by `kind`; \
             write {{ format = {kind}, … }}"
        );
        return Err(ChoiceError::at("kind", message));
    }
    let format = table.remove("format").unwrap_or_else(|| FORMATS.variants()[0].kind.into());
    table.insert("kind".to_owned(), format);
    FORMATS.choose(&Value::Table(table)).map_err(|error| {
        let renamed = error.key.as_deref() == Some("kind");
        if renamed { ChoiceError { key: Some("format".to_owned()), ..error } } else { error }
    })
}

fn read_phases(tables: &[Value]) -> Result<Vec<Phase>, ChoiceError> {
    let mut phases = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let name =
            table.get("name").and_then(Value::as_str).map_or_else(|| number.to_string(), str::to_owned);
        let Value::Table(table) = table else {
            return Err(ChoiceError::at("phase", "each phase must be a table; write [[phase]]"));
        };
        phases.push(Phase::from_toml(table).map_err(|error| {
            let key = error.key.unwrap_or_default();
            ChoiceError::at(path(&name, &key), format!("phase \"{name}\": {}", error.message))
        })?);
    }
    Ok(phases)
}

/// Returns the path of the key `key` of the phase with the name `phase`, such as `phase.lookup.keys.theta`.
pub(crate) fn path(phase: &str, key: &str) -> String {
    let dot = if key.is_empty() { "" } else { "." };
    format!("phase.{phase}{dot}{key}")
}

impl Serialize for Workload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_toml().serialize(serializer).map_err(ser::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_toml(&Table::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
