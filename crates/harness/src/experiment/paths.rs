//! Dotted paths into an experiment: `design.bloom.bits_per_key`, `phase.load.insert`.

use toml::{Table, Value};

/// Splits a path at its dots.
pub(super) fn split(path: &str) -> Vec<&str> {
    path.split('.').collect()
}

/// A path without the quotes that TOML allows around its parts: `sweep."design.bloom"` becomes `sweep.design.bloom`. What
/// TOML does not take for a key stays as it is.
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

/// A table that holds nothing but `value` at `path`.
pub(super) fn nested(path: &[&str], value: Value) -> Table {
    let (last, above) = path.split_last().expect("a path has at least one part");
    let innermost = Table::from_iter([((*last).to_owned(), value)]);
    above
        .iter()
        .rev()
        .fold(innermost, |inner, key| Table::from_iter([((*key).to_owned(), Value::Table(inner))]))
}

/// The value at `path`; phases are found by their names.
pub(super) fn get<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| match value {
        Value::Array(items) => items.iter().find(|item| name_of(item) == Some(key)),
        other => other.get(key),
    })
}

/// Puts `value` at `path`, creating tables on the way; phases are found by their names.
///
/// # Errors
/// The part of the path that leads nowhere.
pub(super) fn set(table: &mut Table, path: &[&str], value: Value) -> Result<(), String> {
    let (first, rest) = path.split_first().ok_or("the path is empty")?;
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
                Some(_) => Err(format!("\"{first}.{}\" is a whole table; name a key inside it", rest[0])),
                None => {
                    let hint = catalog::suggestion(rest[0], known.iter().map(String::as_str));
                    Err(format!("there is no {first} \"{}\"; {hint}there are {}", rest[0], known.join(", ")))
                }
            }
        }
        _ => Err(format!("\"{first}\" holds no \"{}\"", rest[0])),
    }
}

fn name_of(item: &Value) -> Option<&str> {
    item.get("name")?.as_str()
}

/// Reads what stands behind `=` on the command line: a TOML value, or else a string.
pub(super) fn read_value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
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
            set(&mut table, &split(path), read_value(value)).unwrap();
            assert_eq!(get(&table, &split(path)), Some(&read_value(value)), "{path}");
        }
        assert_eq!(table["design"]["bloom"]["kind"].as_str(), Some("blocked"));
        assert_eq!(table["phase"][0]["insert"].as_str(), Some("5k"));
        let error = set(&mut table, &split("phase.lode.insert"), read_value("1")).unwrap_err();
        assert_eq!(error, "there is no phase \"lode\"; did you mean \"load\"? there are load");
        assert!(set(&mut table, &split("phase.load.insert.deep"), read_value("1")).is_err());
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
        assert_eq!(nested(&["a", "b"], Value::Integer(1)).to_string(), "[a]\nb = 1\n");
    }
}
