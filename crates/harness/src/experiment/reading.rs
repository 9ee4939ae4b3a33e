//! Plain tables of an experiment file, read key by key, so that an error can say which key is at fault.

use catalog::suggestion;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// A table that cannot be read: the key at fault where it is one, and why.
pub(super) struct ReadingError {
    pub(super) key: Option<String>,
    pub(super) message: String,
}

/// Reads `table` as a `T` that has `keys`. `needed` are those without which no other one can be read.
pub(super) fn read<T: DeserializeOwned>(
    name: &str,
    table: &Table,
    keys: &[&str],
    needed: &[&str],
) -> Result<T, ReadingError> {
    if let Some(key) = table.keys().find(|key| !keys.contains(&key.as_str())) {
        let hint = suggestion(key, keys.iter().copied());
        let message = format!("{name} has no \"{key}\"; {hint}it has {}", keys.join(", "));
        return Err(ReadingError { key: Some(key.clone()), message });
    }
    let tried = |table: Table| Value::Table(table).try_into::<T>();
    let needed: Table = table.iter().filter(|(key, _)| needed.contains(&key.as_str())).map(pair).collect();
    for (key, value) in table {
        let mut alone = needed.clone();
        alone.insert(key.clone(), value.clone());
        tried(alone).map_err(|error| ReadingError {
            key: Some(key.clone()),
            message: format!("{name}.{key}: {}", said(&error)),
        })?;
    }
    tried(table.clone())
        .map_err(|error| ReadingError { key: None, message: format!("{name}: {}", said(&error)) })
}

/// What a reader of TOML says of a value, in the words of its user.
fn said(error: &toml::de::Error) -> String {
    let message = error.message().replace('`', "\"");
    match message.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", expected ")) {
        None => message.replace("expected u64", "expected a whole number from 0 up"),
        Some((given, expected)) => {
            let names: Vec<&str> = expected.split('"').skip(1).step_by(2).collect();
            let hint = suggestion(given.trim_matches('"'), names.iter().copied());
            format!("there is no {given}; {hint}there are {}", names.join(", "))
        }
    }
}

fn pair((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}
