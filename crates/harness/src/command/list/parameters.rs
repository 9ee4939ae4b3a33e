//! Describes the parameters of a variant. The meaning of a parameter is the comment above it in the TOML reference of
//! the variant. The valid values of the parameter come from the error message of its parser.

use catalog::{Axis, VariantInfo};
use toml::{Table, Value};

use super::markdown::{Entry, code};

/// Returns one row of the reference page for each parameter of a variant.
pub(super) fn parameters(axis: &dyn Axis, variant: &VariantInfo) -> Vec<Entry> {
    let comments = comments(variant.reference);
    let entry = |(key, default): (&String, &Value)| Entry {
        key: key.clone(),
        values: values(axis, variant.kind, key, default),
        default: in_one_line(default),
        about: comments
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, about)| about.clone())
            .unwrap_or_default(),
    };
    variant.defaults.iter().map(entry).collect()
}

/// Formats a TOML value in one line.
fn in_one_line(value: &Value) -> String {
    value.to_string()
}

/// Returns the keys of a TOML text, each with the comment above it. Keys on successive lines share one comment.
fn comments(reference: &str) -> Vec<(String, String)> {
    let (mut found, mut comment, mut goes_on) = (Vec::new(), String::new(), false);
    for line in reference.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix('#') {
            if goes_on {
                comment.push(' ');
            } else {
                comment.clear();
            }
            comment.push_str(text.trim());
            goes_on = true;
        } else if let Some((key, _)) = line.split_once('=') {
            found.push((key.trim().to_owned(), comment.clone()));
            goes_on = false;
        }
    }
    found
}

/// Returns a text with the values that a parameter accepts.
fn values(axis: &dyn Axis, kind: &str, key: &str, default: &Value) -> String {
    if default.is_bool() {
        return "`true` or `false`".to_owned();
    }
    let expected = expected(axis, kind, key);
    let names = expected.as_deref().and_then(|text| text.split_once(". Valid: "));
    if let Some((_, names)) = names {
        return names
            .split(", ")
            .map(|name| code(&format!("\"{}\"", name.trim_matches('"'))))
            .collect::<Vec<_>>()
            .join(", ");
    }
    match (expected.as_deref(), default) {
        (Some(text), _) if text.starts_with("a whole number") => "whole number".to_owned(),
        (Some(text), _) if text.starts_with("a size") => "size, such as `\"4MiB\"`".to_owned(),
        (Some(text), _) if text.starts_with("a count") => "count, such as `\"10M\"`".to_owned(),
        (Some(text), _) if text.starts_with("a time") => "time, such as `\"30s\"`".to_owned(),
        (Some("a number"), _) | (None, Value::Float(_)) => "number".to_owned(),
        (_, Value::Array(items))
            if items.first().map_or_else(|| takes_texts(axis, kind, key), Value::is_str) =>
        {
            "list of texts".to_owned()
        }
        (Some("a list"), _) | (None, Value::Array(_)) => "list of numbers".to_owned(),
        (None, Value::Integer(_)) => "whole number".to_owned(),
        (None, Value::Table(_)) => "name of a variant, or a table with `kind` and its parameters".to_owned(),
        _ => "text".to_owned(),
    }
}

/// Returns whether a parameter whose value is a list accepts texts as the elements of the list.
fn takes_texts(axis: &dyn Axis, kind: &str, key: &str) -> bool {
    let texts = Value::Array(vec!["text".into()]);
    let table = Table::from_iter([("kind".to_owned(), Value::from(kind)), (key.to_owned(), texts)]);
    axis.choose(&Value::Table(table)).err().is_none_or(|error| !error.message.contains(": expected "))
}

/// Finds out which values a parameter accepts. The function passes a boolean to the parser of the parameter, and
/// returns the text after "expected" in the error message, such as "a whole number". Returns `None` if the parser
/// accepts the boolean, or if the message has no such text.
fn expected(axis: &dyn Axis, kind: &str, key: &str) -> Option<String> {
    let table = Table::from_iter([
        ("kind".to_owned(), Value::String(kind.to_owned())),
        (key.to_owned(), Value::Boolean(true)),
    ]);
    let error = axis.choose(&Value::Table(table)).err()?;
    let (_, expected) = error.message.split_once(": expected ")?;
    let (expected, rest) = expected.split_once(", not true")?;
    Some(format!("{expected}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(axis: &dyn Axis, kind: &str) -> Vec<String> {
        let variants = axis.variants();
        let variant = variants.iter().find(|variant| variant.kind == kind).unwrap();
        parameters(axis, variant)
            .iter()
            .map(|entry| format!("{}: {} ({})", entry.key, entry.values, entry.default))
            .collect()
    }

    #[test]
    fn values_are_those_that_the_readers_expect() {
        assert_eq!(
            of(&workload::KEYS, "zipfian"),
            ["theta: number (0.99)", "contiguous: `true` or `false` (false)"]
        );
        assert_eq!(of(&workload::SIZES, "fixed"), ["bytes: size, such as `\"4MiB\"` (\"100B\")"]);
        assert_eq!(
            of(&workload::TRACES, "raw"),
            ["width: whole number (4)", "endian: `\"big\"`, `\"little\"` (\"big\")"]
        );
    }

    #[test]
    fn keys_in_a_row_share_a_comment() {
        let found = comments("# One\n# line.\na = 1\nb = 2\n# Other.\nc = 3\n");
        let found: Vec<String> = found.into_iter().map(|(key, about)| format!("{key}: {about}")).collect();
        assert_eq!(found, ["a: One line.", "b: One line.", "c: Other."]);
    }
}
