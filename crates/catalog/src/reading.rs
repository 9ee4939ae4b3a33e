//! Converts TOML values to Rust types. The error messages use the terms of TOML instead of Rust.

use toml::Value;
use toml::de::Error;
use types::valid_names;

use crate::error::alternatives;

/// Converts a TOML value to a Rust type by calling `read`.
///
/// # Errors
/// The value has the wrong type, is out of range, or is not a valid name. The message contains the valid values.
pub fn read_value<T>(value: &Value, read: impl Fn(Value) -> Result<T, Error>) -> Result<T, String> {
    let error = match read(value.clone()) {
        Ok(done) => return Ok(done),
        Err(error) => error,
    };
    if let (false, Some((given, names))) = (value.is_table(), unknown_name(error.message())) {
        return Err(no_such_name(given, &names));
    }
    // serde lists the valid names of an enum only for a string, so an empty string is parsed to get them.
    if let Err(error) = read(Value::String(String::new()))
        && let Some((_, names)) = unknown_name(error.message())
    {
        return Err(match value {
            Value::String(given) => no_such_name(given, &names),
            other => format!("expected a name, not {}. {}", shown(other), valid_names(names)),
        });
    }
    Err(in_plain_words(error.message()))
}

fn no_such_name(given: &str, names: &[&str]) -> String {
    format!("unknown name \"{given}\"{}", alternatives(given, names.iter().copied()))
}

/// Extracts the unknown name and the valid names from serde's error message about an enum. Returns `None` for other
/// messages.
fn unknown_name(message: &str) -> Option<(&str, Vec<&str>)> {
    let (given, expected) = message.strip_prefix("unknown variant `")?.split_once("`, expected ")?;
    Some((given, expected.split('`').skip(1).step_by(2).collect()))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
        plain => plain.to_string(),
    }
}

/// Rewrites an error message of serde without names of Rust types.
fn in_plain_words(message: &str) -> String {
    let wrong = ["invalid type: ", "invalid value: "].iter().find_map(|start| message.strip_prefix(start));
    match wrong.and_then(|wrong| wrong.rsplit_once(", expected ")) {
        Some((given, expected)) => format!("expected {}, not {}", type_in_words(expected), in_words(given)),
        None => message.replace('`', "\""),
    }
}

/// Rewrites serde's description of a value in the terms of TOML, for error messages.
fn in_words(given: &str) -> String {
    let kinds = ["integer ", "boolean ", "floating point ", "string "];
    match given {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        _ => kinds.iter().find_map(|kind| given.strip_prefix(kind)).unwrap_or(given).replace('`', ""),
    }
}

/// Rewrites serde's description of a Rust type as the valid values in TOML, for error messages.
fn type_in_words(expected: &str) -> String {
    let up_to = |most: u64| format!("a whole number from 0 to {most}");
    match expected {
        "u8" => up_to(u8::MAX.into()),
        "u16" => up_to(u16::MAX.into()),
        "u32" => up_to(u32::MAX.into()),
        "u64" | "usize" => "a whole number, 0 or more".to_owned(),
        "i8" => format!("a whole number from {} to {}", i8::MIN, i8::MAX),
        "i16" => format!("a whole number from {} to {}", i16::MIN, i16::MAX),
        "i32" => format!("a whole number from {} to {}", i32::MIN, i32::MAX),
        "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" | "path string" => "text in quotes".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.replace('`', "\""),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::ByteSize;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kernel {
        LoserTree,
        Heap,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its parsing is tested")]
    struct Inner {
        x: u8,
    }

    fn rejected<T: serde::de::DeserializeOwned>(text: &str) -> String {
        let table: toml::Table = format!("x = {text}").parse().unwrap();
        read_value(&table["x"], Value::try_into::<T>).err().expect("it is rejected")
    }

    #[test]
    fn the_valid_names_are_listed_for_any_other_value() {
        for (text, message) in [
            ("\"heep\"", "unknown name \"heep\"; did you mean \"heap\"? Valid: \"loser-tree\", \"heap\""),
            ("3", "expected a name, not 3. Valid: \"loser-tree\", \"heap\""),
            ("true", "expected a name, not true. Valid: \"loser-tree\", \"heap\""),
            ("{}", "expected a name, not a table. Valid: \"loser-tree\", \"heap\""),
            ("{ heap = 1 }", "expected a name, not a table. Valid: \"loser-tree\", \"heap\""),
            ("{ a = 1, b = 2 }", "expected a name, not a table. Valid: \"loser-tree\", \"heap\""),
            ("[]", "expected a name, not a list. Valid: \"loser-tree\", \"heap\""),
        ] {
            assert_eq!(rejected::<Kernel>(text), message, "{text}");
        }
        assert!(rejected::<Vec<Kernel>>("[\"heep\"]").starts_with("unknown name \"heep\"; did you mean"));
        assert!(matches!(
            read_value(&"heap".into(), Value::try_into::<Kernel>),
            Ok(Kernel::Heap) if !matches!(Kernel::LoserTree, Kernel::Heap)
        ));
    }

    #[test]
    fn types_are_named_as_they_are_written() {
        assert_eq!(rejected::<bool>("3"), "expected true or false, not 3");
        assert_eq!(rejected::<u32>("-1"), "expected a whole number from 0 to 4294967295, not -1");
        assert_eq!(rejected::<u64>("\"two\""), "expected a whole number, 0 or more, not \"two\"");
        assert_eq!(rejected::<usize>("1.5"), "expected a whole number, 0 or more, not 1.5");
        assert_eq!(rejected::<f64>("{}"), "expected a number, not a table");
        assert_eq!(rejected::<Vec<f64>>("[true]"), "expected a number, not true");
        assert_eq!(rejected::<Vec<f64>>("1"), "expected a list, not 1");
        assert_eq!(rejected::<String>("[]"), "expected text in quotes, not a list");
        assert_eq!(rejected::<Inner>("1"), "expected a table, not 1");
        assert_eq!(rejected::<ByteSize>("true"), "expected a size such as \"4MiB\", not true");
        assert!(rejected::<ByteSize>("\"many\"").starts_with("\"many\" is not a size; "));
    }
}
