//! A parser for TOML tables. The parser reads one key at a time, so an error names the wrong key.

use catalog::{ChoiceError, Count, Time, alternatives, read_value, suggestion};
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// A TOML table from which the parser removes one key after the other. Keys that remain at the end are errors.
pub(crate) struct Spelling {
    table: Table,
    /// The keys that the parser has requested so far. At the end, these are the valid keys, which an error about an
    /// unknown key lists.
    known: Vec<&'static str>,
}

impl Spelling {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, known: Vec::new() }
    }

    /// Removes and returns the value of `key`, if the key is present.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.table.remove(key)
    }

    /// Removes the value of `key` and parses it as a `T`, if the key is present.
    pub(crate) fn read<T: DeserializeOwned>(&mut self, key: &'static str) -> Result<Option<T>, ChoiceError> {
        self.take(key).map(|value| read(key, &value)).transpose()
    }

    /// Returns whether the table has the key `key`. Errors about unknown keys do not list `key` as a valid key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Returns an error with the reason `reason` if the table has the key `key`. Errors about unknown keys do not list
    /// `key` as a valid key.
    pub(crate) fn forbid(&mut self, key: &'static str, reason: &str) -> Result<(), ChoiceError> {
        match self.table.contains_key(key) {
            false => Ok(()),
            true => Err(ChoiceError::at(key, format!("{key}: {reason}"))),
        }
    }

    /// Returns an error if the table contains a misspelled form of a key in `names`, and none of the keys in `names`.
    /// `place` names the table in the message.
    pub(crate) fn misspelt(&self, place: &str, names: &[&str]) -> Result<(), ChoiceError> {
        let mut keys = self.table.keys().map(|wrong| (wrong, suggestion(wrong, names.iter().copied())));
        match keys.find(|(_, hint)| !hint.is_empty()) {
            None => Ok(()),
            Some((wrong, hint)) => {
                let message = format!("{place} has no key \"{wrong}\"; {}", hint.trim_end());
                Err(ChoiceError::at(wrong.clone(), message))
            }
        }
    }

    /// Ends the parsing. Returns an error if the table contains a key that the parser has not read; `place` names the
    /// table in the message.
    pub(crate) fn finish(self, place: &str) -> Result<(), ChoiceError> {
        let Some(wrong) = self.table.keys().next() else {
            return Ok(());
        };
        let end = alternatives(wrong, self.known);
        Err(ChoiceError::at(wrong.clone(), format!("{place} has no key \"{wrong}\"{end}")))
    }
}

/// Parses the TOML value of the key `key` as a `T`.
pub(crate) fn read<T: DeserializeOwned>(key: &str, value: &Value) -> Result<T, ChoiceError> {
    read_value(value, Value::try_into).map_err(|message| ChoiceError::at(key, format!("{key}: {message}")))
}

/// Parses the TOML value of the key `key` as a finite number. The value may be an integer.
pub(crate) fn number(key: &str, value: &Value) -> Result<f64, ChoiceError> {
    let number = match value {
        Value::Integer(number) => *number as f64,
        Value::Float(number) => *number,
        other => {
            let message = format!("{key} is a {}; expected a number", other.type_str());
            return Err(ChoiceError::at(key, message));
        }
    };
    if number.is_finite() {
        Ok(number)
    } else {
        Err(ChoiceError::at(key, format!("{key} is {number}; expected a finite number")))
    }
}

/// Reads the TOML key `key` as a count from 1 to `most`, if the key is present.
pub(crate) fn bounded(
    spelling: &mut Spelling,
    key: &'static str,
    most: u64,
) -> Result<Option<u32>, ChoiceError> {
    let Some(Count(count)) = spelling.read(key)? else {
        return Ok(None);
    };
    if (1..=most).contains(&count) {
        Ok(Some(count as u32))
    } else {
        Err(ChoiceError::at(key, format!("{key} is {count}; it must be between 1 and {most}")))
    }
}

/// Reads the duration of a phase from the key `seconds`, such as `30`, `0.5` or `"30s"`. Returns nanoseconds.
pub(crate) fn seconds(spelling: &mut Spelling) -> Result<Option<u64>, ChoiceError> {
    let nanoseconds = match spelling.take("seconds") {
        None => return Ok(None),
        Some(text @ Value::String(_)) => read::<Time>("seconds", &text)?.0,
        Some(seconds) => (number("seconds", &seconds)?.max(0.0) * 1e9) as u64,
    };
    if nanoseconds == 0 {
        return Err(ChoiceError::at("seconds", "seconds must be above 0"));
    }
    Ok(Some(nanoseconds))
}

/// Reads the required key `name` of a table. `of` is the name of the table, and `example` is a valid name. Names occur
/// in results, in paths such as `phase.load.threads`, and in file names.
pub(crate) fn read_name(spelling: &mut Spelling, of: &str, example: &str) -> Result<String, ChoiceError> {
    let Some(name) = spelling.read::<String>("name")? else {
        let message = format!("the key `name` is missing; name {of}, such as name = \"{example}\"");
        return Err(ChoiceError::at("name", message));
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(name);
    }
    let message = format!("name is \"{name}\"; the name of {of} may have only letters, digits, - and _");
    Err(ChoiceError::at("name", message))
}

/// Parses the TOML value of the key `key` as a number between 0 and 1.
pub(crate) fn share(key: &str, value: &Value) -> Result<f64, ChoiceError> {
    let share = number(key, value)?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(ChoiceError::at(key, format!("{key} is {share}; it must be a share between 0 and 1")))
    }
}

/// Puts the name of a TOML table, `key`, in front of the key that an error names. For example, `theta` in the table
/// `keys` becomes `keys.theta`.
pub(crate) fn inside(key: &str, error: ChoiceError) -> ChoiceError {
    let path = match error.key {
        Some(inner) => format!("{key}.{inner}"),
        None => key.to_owned(),
    };
    ChoiceError { key: Some(path), message: error.message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_refused_with_a_suggestion() {
        let mut spelling = Spelling::new(toml::from_str("tehta = 1\nshare = 0.5").unwrap());
        assert_eq!(spelling.read::<f64>("share"), Ok(Some(0.5)));
        assert_eq!(spelling.read::<f64>("theta"), Ok(None));
        let error = spelling.finish("the distribution").unwrap_err();
        assert_eq!(error.key.as_deref(), Some("tehta"));
        assert_eq!(
            error.message,
            "the distribution has no key \"tehta\"; did you mean \"theta\"? Valid: \"share\", \"theta\""
        );
    }

    #[test]
    fn what_is_forbidden_is_not_offered() {
        let mut spelling = Spelling::new(toml::from_str("size = 1").unwrap());
        assert_eq!(spelling.forbid("warm_up", "there is none"), Ok(()));
        assert_eq!(spelling.take("share"), None);
        assert_eq!(
            spelling.finish("a load").unwrap_err().message,
            "a load has no key \"size\". Valid: \"share\""
        );
        let mut spelling = Spelling::new(toml::from_str("warm_up = 1").unwrap());
        assert_eq!(
            spelling.forbid("warm_up", "there is none").unwrap_err().message,
            "warm_up: there is none"
        );
    }

    #[test]
    fn numbers_and_shares_are_checked() {
        assert_eq!(share("x", &Value::Integer(1)), Ok(1.0));
        for bad in [Value::Float(1.01), Value::Float(f64::NAN), Value::Integer(-1), Value::Boolean(true)] {
            assert!(share("x", &bad).is_err(), "{bad}");
        }
        let inner = ChoiceError::at("theta", "theta is wrong");
        assert_eq!(inside("keys", inner).key.as_deref(), Some("keys.theta"));
    }
}
