//! The settings of a replay of recorded operations, as written in an experiment file.

use std::path::PathBuf;

use catalog::{Choice, ChoiceError, Count, alternatives};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::spelling::{self, Spelling};
use crate::trace::{TRACES, TraceFile};

/// The TOML keys of a replay, in addition to the parameters of the trace format.
const OWN_KEYS: [&str; 4] = ["kind", "file", "miss", "speed"];

/// The settings of a replay, which executes the recorded operations of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplaySpec {
    /// The file and the format of the trace.
    pub trace: TraceFile,
    /// The effect of a get that finds nothing.
    pub miss: Miss,
    /// The speed of the replay, relative to the recorded times. With 2, the replay takes half of the recorded time.
    /// With `None`, the replay runs in a closed loop.
    pub speed: Option<f64>,
    /// The number of recorded operations to replay. With `None`, all operations are replayed.
    pub operations: Option<u64>,
}

/// Effect of a get that finds nothing: `miss = "fill"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Miss {
    /// A get that finds nothing has no effect, and the key stays absent.
    #[default]
    Absent,
    /// A put of the key follows a get that finds nothing. A cache that loads missing entries from a database behaves
    /// in this way.
    Fill,
}

impl Miss {
    /// Returns the value of the TOML key `miss` for this effect.
    fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Fill => "fill",
        }
    }
}

impl ReplaySpec {
    /// Parses the value of the TOML key `replay`. The second result is `miss` or `speed` if the table contains such a
    /// key. The caller must check that the phase replays recorded operations, because only then these two keys are
    /// valid.
    ///
    /// # Errors
    /// Returns an error that names the invalid key.
    pub(crate) fn from_toml(replay: Value) -> Result<(Self, Option<&'static str>), ChoiceError> {
        let Value::Table(table) = replay else {
            return Err(ChoiceError::whole(
                "replay must be a table, such as { kind = \"raw\", file = \"…\" }",
            ));
        };
        let mut spelling = Spelling::new(table.clone());
        let kind = match spelling.take("kind") {
            None => None,
            Some(Value::String(kind)) => Some(kind),
            Some(other) => {
                let message = format!(
                    "kind has the type {}; expected the name of a trace format, such as \"raw\"",
                    other.type_str()
                );
                return Err(ChoiceError::at("kind", message));
            }
        };
        kind.as_deref().map_or(Ok(()), check_kind)?;
        let file: Option<PathBuf> = spelling.read("file")?;
        let file = file.ok_or_else(|| {
            ChoiceError::at("file", "file is missing; name the file to replay, such as file = \"…\"")
        })?;
        let miss: Option<Miss> = spelling.read("miss")?;
        let speed = spelling.take("speed").map(|speed| read_speed(&speed)).transpose()?;
        let own = miss.map(|_| "miss").or(speed.map(|_| "speed"));
        let format = if kind.is_some() {
            Some(choose(table)?)
        } else {
            spelling.finish("a replay without a kind")?;
            None
        };
        let trace = TraceFile { file, format };
        Ok((Self { trace, miss: miss.unwrap_or_default(), speed, operations: None }, own))
    }

    /// Returns the settings as the value of the TOML key `replay`.
    pub(crate) fn to_toml(&self) -> Value {
        let mut table = self.trace.to_toml();
        // A trace with only keys needs its `kind` here. Otherwise it would be replayed as gets on a loaded store.
        if self.miss == Miss::Fill || self.trace.reader().is_some_and(|reader| reader.has_only_keys()) {
            table.insert("miss".to_owned(), self.miss.name().into());
        }
        table.extend(self.speed.map(|speed| ("speed".to_owned(), speed.into())));
        Value::Table(table)
    }

    /// Reads the TOML key `operations` of the phase, which limits the number of recorded operations to replay.
    pub(crate) fn read_operations(&mut self, spelling: &mut Spelling) -> Result<(), ChoiceError> {
        self.operations = spelling.read::<Count>("operations")?.map(|count| count.0);
        match self.operations {
            Some(0) => {
                Err(ChoiceError::at("operations", "operations is 0; a phase executes at least 1 operation"))
            }
            _ => Ok(()),
        }
    }
}

/// Checks that a trace format with the name `kind` exists.
fn check_kind(kind: &str) -> Result<(), ChoiceError> {
    if TRACES.kinds().any(|known| known == kind) {
        return Ok(());
    }
    let end = alternatives(kind, TRACES.kinds().collect::<Vec<_>>());
    let message = format!("unknown trace format \"{kind}\"{end}");
    Err(ChoiceError::at("kind", message))
}

/// Reads the trace format and its parameters from the table `replay`, and ignores the other keys of a replay.
fn choose(mut table: Table) -> Result<Choice, ChoiceError> {
    for key in OWN_KEYS.iter().filter(|key| **key != "kind") {
        table.remove(*key);
    }
    TRACES.choose_beside(&Value::Table(table), &OWN_KEYS[1..])
}

fn read_speed(speed: &Value) -> Result<f64, ChoiceError> {
    let speed = spelling::number("speed", speed)?;
    if speed > 0.0 {
        Ok(speed)
    } else {
        Err(ChoiceError::at(
            "speed",
            format!("speed is {speed}; it must be above 0, where 1 is the recorded speed"),
        ))
    }
}
