//! Defines the configuration of a trial. The parent process writes the configuration as one TOML document, and the
//! trial process parses this document once.

use catalog::Choice;
use engines::CATALOG;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use subject::Task;
use toml::{Table, Value};
use tree::Design;

/// The key of the engine in the TOML document of a configuration.
const ENGINE: &str = results::columns::ENGINE;

/// The key of the design in the TOML document of a configuration.
const DESIGN: &str = "design";

/// The configuration of a trial: an engine, a design and a task. In JSON, a configuration is a string that contains one
/// TOML document.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The engine under test. Experiments that test a component without an engine ignore this field.
    pub engine: Choice,
    /// The design of the store, or of the component under test.
    pub design: Design,
    /// The task of the trial: a workload, or the parameters of a component under test.
    pub task: Task,
}

impl Configuration {
    fn to_toml(&self) -> Table {
        let mut table = self.task.to_toml();
        table.insert(ENGINE.to_owned(), self.engine.to_toml());
        table.insert(DESIGN.to_owned(), Value::Table(self.task.design_toml(&self.design)));
        table
    }

    fn read(text: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let mut table: Table = text.parse()?;
        let engine = table.remove(ENGINE).ok_or("the configuration of the trial has no key `engine`")?;
        let Some(Value::Table(design)) = table.remove(DESIGN) else {
            return Err("the configuration of the trial has no table `design`".into());
        };
        Ok(Self {
            engine: CATALOG.choose(&engine)?,
            design: Design::default().with(&design)?,
            task: Task::from_toml(&table)?,
        })
    }
}

impl Serialize for Configuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_toml().to_string())
    }
}

impl<'de> Deserialize<'de> for Configuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_reads_back() {
        let design = "bloom = \"none\"\nblock = { size = \"8KiB\" }";
        let task = "key = \"u64\"\n[[phase]]\nname = \"load\"\ninsert = 10\n";
        let configuration = Configuration {
            engine: CATALOG.baseline(),
            design: Design::default().with(&design.parse().unwrap()).unwrap(),
            task: Task::from_toml(&task.parse().unwrap()).unwrap(),
        };
        let json = serde_json::to_string(&configuration).unwrap();
        assert_eq!(serde_json::from_str::<Configuration>(&json).unwrap(), configuration);
        let error = serde_json::from_str::<Configuration>("\"engine = 1\"").unwrap_err();
        assert!(
            error.to_string().contains("the configuration of the trial has no table `design`"),
            "{error}"
        );
    }
}
