//! Dotted paths into an experiment, such as `design.bloom.bits_per_key` or `phase.load.insert`.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::wording;

/// Splits the path of a setting at its dots.
pub(super) fn split(path: &str) -> Vec<&str> {
    path.split('.').collect()
}

/// Removes the quotes that TOML allows around the parts of a path. For example, `sweep."design.bloom"` becomes
/// `sweep.design.bloom`. If the text is not a valid TOML key, returns it unchanged.
pub(super) fn unquoted(path: &str) -> String {
    let parsed = || format!("{path} = 0").parse::<Table>().ok();
    let Some(mut table) = parsed().filter(|_| path.contains(['"', '\''])) else { return path.to_owned() };
    let mut parts = Vec::new();
    while let Some((key, value)) = table.into_iter().next() {
        parts.push(key);
        table = match value {
            Value::Table(inner) => inner,
            _ => Table::new(),
        };
    }
    parts.join(".")
}

/// Returns a table that contains only the value `value`, at the path `path`.
pub(super) fn nested(path: &[&str], value: Value) -> Table {
    let (last, above) = path.split_last().expect("a path must have at least one part");
    let innermost = Table::from_iter([((*last).to_owned(), value)]);
    above
        .iter()
        .rev()
        .fold(innermost, |inner, key| Table::from_iter([((*key).to_owned(), Value::Table(inner))]))
}

/// Groups values by the length of their paths, shortest first, so that a design gets a variant before its parameters.
/// Each group becomes one table. If two values have the same path, the later value counts.
pub(super) fn by_length<'a>(values: impl Iterator<Item = (Vec<&'a str>, Value)>) -> Vec<Table> {
    let mut tables: BTreeMap<usize, Table> = BTreeMap::new();
    for (path, value) in values {
        let (last, above) = path.split_last().expect("a path must have at least one part");
        let innermost = above.iter().fold(tables.entry(path.len()).or_default(), |table, key| {
            let inner = table.entry((*key).to_owned()).or_insert_with(|| Value::Table(Table::new()));
            inner.as_table_mut().expect("a path that is the start of another path must be in another table")
        });
        innermost.insert((*last).to_owned(), value);
    }
    tables.into_values().collect()
}

/// Returns the value at the path `path` of a table. In a path below `phase`, the next part is the name of a phase.
pub(super) fn get<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| match value {
        Value::Array(items) => items.iter().find(|item| name_of(item) == Some(key)),
        other => other.get(key),
    })
}

/// Sets the value at `path`, and creates missing tables. In a path below `phase`, the next part is the name of a phase.
///
/// # Errors
/// The path is empty, names a whole phase or a phase that does not exist, or continues below a value that is no table.
/// The error is a sentence.
pub(super) fn set(table: &mut Table, path: &[&str], value: Value) -> Result<(), String> {
    let (first, rest) = path.split_first().ok_or("the path of a setting must not be empty")?;
    if rest.is_empty() {
        table.insert((*first).to_owned(), value);
        return Ok(());
    }
    match table.entry((*first).to_owned()).or_insert_with(|| Value::Table(Table::new())) {
        Value::Table(inner) => set(inner, rest, value),
        Value::Array(items) => {
            let known: Vec<String> = items.iter().filter_map(name_of).map(str::to_owned).collect();
            match items.iter_mut().find(|item| name_of(item) == Some(rest[0])) {
                Some(Value::Table(item)) if rest.len() > 1 => set(item, &rest[1..], value),
                Some(_) => Err(format!("\"{first}.{name}\" is a table; name a key in it", name = rest[0])),
                None => Err(wording::unknown(first, rest[0], known.iter().map(String::as_str))),
            }
        }
        _ => Err(format!("\"{first}\" is a value, so it has no key \"{key}\"", key = rest[0])),
    }
}

fn name_of(item: &Value) -> Option<&str> {
    item.get("name")?.as_str()
}

/// Parses the value after `=` on the command line as a TOML value. If the text is not a TOML value, the value is a
/// string.
///
/// # Errors
/// Returns an error if the text begins like a TOML value but is invalid, or if a number is too large.
pub(super) fn read_value(text: &str) -> Result<Value, String> {
    let parsed = format!("value = {text}").parse::<Table>().map(|mut table| table.remove("value"));
    match parsed {
        Ok(Some(value)) => Ok(value),
        Err(error) if text.starts_with(['"', '\'', '[', '{']) => Err(format!(
            "{text} is not a TOML value: {}; quote each string, and protect the quotes from the shell",
            error.message().lines().next().unwrap_or_default()
        )),
        _ if is_too_large(text) => {
            Err(format!("{text} exceeds the largest whole number in TOML, {}", i64::MAX))
        }
        Ok(None) | Err(_) => Ok(Value::String(text.to_owned())),
    }
}

/// Returns whether a text is an integer that is too large for TOML.
fn is_too_large(text: &str) -> bool {
    let digits = text.replace('_', "");
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<i64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_land_where_paths_lead() {
        let text = "[design]\nbloom = { kind = \"blocked\" }\n[[phase]]\nname = \"load\"\ninsert = 1\n";
        let mut table: Table = text.parse().unwrap();
        for (path, value) in
            [("design.bloom.bits_per_key", "12"), ("phase.load.insert", "5k"), ("trials.count", "2")]
        {
            let value = read_value(value).unwrap();
            set(&mut table, &split(path), value.clone()).unwrap();
            assert_eq!(get(&table, &split(path)), Some(&value), "{path}");
        }
        assert_eq!(table["design"]["bloom"]["kind"].as_str(), Some("blocked"));
        assert_eq!(table["phase"][0]["insert"].as_str(), Some("5k"));
        let error = set(&mut table, &split("phase.lode.insert"), Value::Integer(1)).unwrap_err();
        assert_eq!(error, "unknown phase \"lode\"; did you mean \"load\"? Valid: \"load\"");
        assert!(set(&mut table, &split("phase.load.insert.deep"), Value::Integer(1)).is_err());
        assert_eq!(get(&table, &["phase", "load", "order"]), None);
        for (quoted, path) in [
            ("sweep.\"design.bloom\"", "sweep.design.bloom"),
            ("'trials'.count", "trials.count"),
            ("\"phase.load.insert\"", "phase.load.insert"),
            ("phase.\"load", "phase.\"load"),
            ("trials.count", "trials.count"),
        ] {
            assert_eq!(unquoted(quoted), path);
        }
        for (text, expected) in [
            ("99999999999999999999", "exceeds the largest whole number in TOML, 9223372036854775807"),
            ("\"blocked", "is not a TOML value: "),
            ("[none, standard]", "is not a TOML value: "),
            ("{kind=\"blocked\"", "is not a TOML value: "),
        ] {
            assert!(read_value(text).unwrap_err().contains(expected), "{text}");
        }
        for text in ["10k", "007", "007x", "blocked(bits_per_key=12)", "--1"] {
            assert_eq!(read_value(text), Ok(Value::String(text.to_owned())));
        }
        assert_eq!(nested(&["a", "b"], Value::Integer(1)).to_string(), "[a]\nb = 1\n");
    }
}
