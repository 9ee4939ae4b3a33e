//! Reads tables of an experiment file key by key, so that an error message can name the wrong key.

use catalog::read_value;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::wording;

/// An error in a table of an experiment file: the reason, and the wrong key if it is known.
pub(super) struct ReadingError {
    pub(super) key: Option<String>,
    pub(super) message: String,
}

/// Parses a table as a `T`, key by key, so that the error names the wrong key. `keys` lists the valid keys. `needed`
/// lists the required keys, which the function reads first.
pub(super) fn read<T: DeserializeOwned>(
    name: &str,
    table: &Table,
    keys: &[&str],
    needed: &[&str],
) -> Result<T, ReadingError> {
    if let Some(key) = table.keys().find(|key| !keys.contains(&key.as_str())) {
        let message = wording::unknown("key", key, keys.iter().copied());
        return Err(ReadingError { key: Some(key.clone()), message });
    }
    let tried = |table: Table| Value::Table(table).try_into::<T>();
    let needed: Table = table.iter().filter(|(key, _)| needed.contains(&key.as_str())).map(pair).collect();
    // Required keys are read first, so that an error in a required key is reported before any other.
    let (first, rest): (Vec<_>, Vec<_>) = table.iter().partition(|(key, _)| needed.contains_key(*key));
    for (key, value) in first.into_iter().chain(rest) {
        let alone = |value| {
            let mut alone = needed.clone();
            alone.insert(key.clone(), value);
            tried(alone)
        };
        read_value(value, alone).map_err(|message| ReadingError {
            key: Some(key.clone()),
            message: format!("{name}.{key}: {message}"),
        })?;
    }
    tried(table.clone()).map_err(|error| ReadingError {
        key: None,
        message: format!("{name}: {}", error.message().replace('`', "\"")),
    })
}

fn pair((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}
