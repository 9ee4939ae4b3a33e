//! Writes and parses labels of the form `kind(parameter=value, …)`.

use std::collections::BTreeSet;

use toml::{Table, Value};

/// Returns the names of the parameters that a choice in TOML sets, such as `bits_per_key` for
/// `"blocked(bits_per_key=12)"`. Returns no names for a value that is not a choice.
pub fn set_parameters(choice: &Value) -> BTreeSet<String> {
    let table = match choice {
        Value::String(text) => parse(text).map(|(_, params)| params).unwrap_or_default(),
        Value::Table(table) => table.clone(),
        _ => Table::new(),
    };
    table.into_iter().map(|(key, _)| key).filter(|key| key != "kind").collect()
}

/// Returns a label with only the parameters `names`. For example, `leveled(size_ratio=10, level0_runs=2)` becomes
/// `leveled(size_ratio=10)`. Returns `None` if the text is not a label.
pub fn label_with_only(label: &str, names: &BTreeSet<String>) -> Option<String> {
    let (kind, params) = parse(label).ok()?;
    Some(write(&kind, params.iter().filter(|(key, _)| names.contains(*key))))
}

/// Writes the label of a variant. Without parameters, the label is only the name of the variant.
pub(crate) fn write<'a>(kind: &str, params: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let params: Vec<String> = params.map(|(key, value)| format!("{key}={}", write_value(value))).collect();
    if params.is_empty() { kind.to_owned() } else { format!("{kind}({})", params.join(", ")) }
}

/// Splits a label into the name of the variant and its parameters.
pub(crate) fn parse(text: &str) -> Result<(String, Table), String> {
    let text = text.trim();
    let Some((kind, rest)) = text.split_once('(') else {
        return Ok((text.to_owned(), Table::new()));
    };
    let inner = rest.strip_suffix(')').ok_or_else(|| format!("\"{text}\" lacks the closing parenthesis"))?;
    let mut params = Table::new();
    for part in split_top_level(inner).into_iter().filter(|part| !part.trim().is_empty()) {
        let (key, value) = part.split_once('=').ok_or_else(|| {
            format!("the part \"{}\" of \"{text}\" must have the form parameter=value", part.trim())
        })?;
        params.insert(key.trim().to_owned(), parse_value(value.trim()));
    }
    Ok((kind.trim().to_owned(), params))
}

/// Writes the value of a parameter as in a label. A string has quotes only if it needs them. A whole number has no
/// decimal point.
fn write_value(value: &Value) -> String {
    match value {
        Value::String(text) if is_bare(text) => text.clone(),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        other => other.to_string(),
    }
}

fn parse_value(text: &str) -> Value {
    read_toml(text).unwrap_or_else(|| Value::String(text.to_owned()))
}

fn read_toml(text: &str) -> Option<Value> {
    toml::from_str::<Table>(&format!("value = {text}")).ok()?.remove("value")
}

fn is_bare(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && read_toml(text).is_none()
}

/// Splits the parameters of a label at the commas that are outside of quotes and brackets.
fn split_top_level(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0usize, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_read_back() {
        let params: Table = toml::from_str(
            r#"a = 12
               b = 0.5
               c = "4MiB"
               d = "two words"
               e = ["none", "zstd(level=3)"]
               f = true
               g = "true""#,
        )
        .unwrap();
        let label = write("kind", params.iter());
        assert_eq!(
            label,
            r#"kind(a=12, b=0.5, c=4MiB, d="two words", e=["none", "zstd(level=3)"], f=true, g="true")"#
        );
        assert_eq!(parse(&label), Ok(("kind".to_owned(), params)));
        assert_eq!(parse("plain"), Ok(("plain".to_owned(), Table::new())));
        assert!(parse("open(a=1").is_err());
        assert!(parse("open(a)").is_err());
    }

    #[test]
    fn a_label_keeps_only_named_parameters() {
        let only = |label| label_with_only(label, &["a", "b"].map(str::to_owned).into());
        assert_eq!(only("kind(c=2, b=\"2 3\", a=1)").unwrap(), "kind(b=\"2 3\", a=1)");
        assert_eq!(only("kind(c=2)").unwrap(), "kind");
        assert_eq!(only("kind(a=1"), None);
    }

    #[test]
    fn a_choice_names_the_parameters_that_it_sets() {
        let set = |text: &str| {
            let table: Table = format!("x = {text}").parse().unwrap();
            set_parameters(&table["x"]).into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(set("\"leveled(size_ratio=10, level0_runs=4)\""), "level0_runs size_ratio");
        assert_eq!(set("{ kind = \"leveled\", size_ratio = 10 }"), "size_ratio");
        assert_eq!(set("\"leveled\""), "");
        assert_eq!(set("3"), "");
    }
}
