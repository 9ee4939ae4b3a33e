//! Dotted paths into an experiment: `design.bloom.bits_per_key`, `phase.load.insert`.

use toml::{Table, Value};

/// Splits a path at its dots.
pub(super) fn split(path: &str) -> Vec<&str> {
    path.split('.').collect()
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
    let inner = table.entry((*first).to_owned()).or_insert_with(|| Value::Table(Table::new()));
    match inner {
        Value::Table(inner) => set(inner, rest, value),
        Value::Array(items) => {
            let known: Vec<String> =
                items.iter().filter_map(|item| item.get("name")?.as_str().map(str::to_owned)).collect();
            let wanted =
                items.iter_mut().find(|item| item.get("name").and_then(Value::as_str) == Some(rest[0]));
            match wanted {
                Some(Value::Table(item)) if rest.len() > 1 => set(item, &rest[1..], value),
                Some(_) => Err(format!("\"{first}.{}\" is a whole table; name a key inside it", rest[0])),
                None => Err(format!("there is no {first} \"{}\"; there are {}", rest[0], known.join(", "))),
            }
        }
        // A bare string stands for a kind: `bloom = "blocked"` takes parameters as a table.
        Value::String(kind) => {
            let mut choice = Table::from_iter([("kind".to_owned(), Value::String(kind.clone()))]);
            set(&mut choice, rest, value)?;
            *inner = Value::Table(choice);
            Ok(())
        }
        _ => Err(format!("\"{first}\" holds no \"{}\"", rest[0])),
    }
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
        let text = "[design]\nbloom = \"blocked\"\n[[phase]]\nname = \"load\"\ninsert = 1\n";
        let mut table: Table = text.parse().unwrap();
        set(&mut table, &split("design.bloom.bits_per_key"), read_value("12")).unwrap();
        set(&mut table, &split("phase.load.insert"), read_value("5k")).unwrap();
        set(&mut table, &split("trials.count"), read_value("2")).unwrap();
        assert_eq!(table["design"]["bloom"]["kind"].as_str(), Some("blocked"));
        assert_eq!(table["design"]["bloom"]["bits_per_key"].as_integer(), Some(12));
        assert_eq!(table["phase"][0]["insert"].as_str(), Some("5k"));
        assert_eq!(table["trials"]["count"].as_integer(), Some(2));
        let error = set(&mut table, &split("phase.lode.insert"), read_value("1")).unwrap_err();
        assert_eq!(error, "there is no phase \"lode\"; there are load");
        assert!(set(&mut table, &split("phase.load.insert.deep"), read_value("1")).is_err());
        assert_eq!(nested(&["a", "b"], Value::Integer(1)).to_string(), "[a]\nb = 1\n");
    }
}
