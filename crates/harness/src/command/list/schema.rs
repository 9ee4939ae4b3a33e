//! Generates sections of the reference from the schema of a type. The keys, values and defaults come from serde, and
//! the meanings from doc comments.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use super::markdown::{Entry, Section, code, plain};

/// Returns the JSON schema of a Rust type, including the schemas of its fields.
pub(super) fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}

/// Returns the section of a type, followed by the sections of its inner tables. `name` is the name of the table.
pub(super) fn sections(name: &str, about: &str, schema: &Schema) -> Vec<Section> {
    let mut sections = Vec::new();
    if let Some(object) = schema.as_object() {
        add(&mut sections, name, about, object);
    }
    sections
}

fn add(sections: &mut Vec<Section>, name: &str, about: &str, object: &Map<String, Value>) {
    let properties = || object.get("properties").and_then(Value::as_object).into_iter().flatten();
    let required = object.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let entry =
        |(key, schema): (&String, &Value)| entry(key, schema, required.contains(&key.as_str().into()));
    let entries = properties().map(entry).collect();
    sections.push(Section { name: name.to_owned(), about: about.to_owned(), entries });
    for (key, schema) in properties() {
        let path = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        if let Some(inner) = inner_table(schema) {
            add(sections, &path, &about_of(schema), inner);
        }
    }
}

/// Returns the schema of the table that a key accepts. The value of the key may be this table, a list of such tables,
/// or a choice such as a name or a table. Returns `None` if the value contains no table.
fn inner_table(schema: &Value) -> Option<&Map<String, Value>> {
    let object = schema.as_object()?;
    if object.contains_key("properties") {
        return Some(object);
    }
    forms(object).find_map(inner_table).or_else(|| object.get("items").and_then(inner_table))
}

/// Returns the schema of each form that a value may have, such as a name or a table. `null` is also a form.
fn forms(object: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|key| object.get(key)?.as_array()).flatten()
}

fn entry(key: &str, schema: &Value, is_required: bool) -> Entry {
    let mut about = about_of(schema);
    for (value, meaning) in meanings(schema) {
        about.extend(["<br>", &*code(&value), ": ", &*plain(&meaning)]);
    }
    Entry { key: key.to_owned(), values: values(schema), default: default(schema, is_required), about }
}

fn about_of(schema: &Value) -> String {
    plain(schema.get("description").and_then(Value::as_str).unwrap_or_default())
}

/// Returns the names that a JSON schema accepts as a value, each with its meaning.
fn meanings(schema: &Value) -> Vec<(String, String)> {
    let Some(object) = schema.as_object() else { return Vec::new() };
    let named = |form: &Value| {
        let meaning = form.get("description")?.as_str()?;
        Some((form.get("const")?.to_string(), meaning.to_owned()))
    };
    let own: Vec<_> = forms(object).filter_map(named).collect();
    if own.is_empty() { forms(object).flat_map(meanings).collect() } else { own }
}

/// Returns the default of a key in TOML. The result is empty for a table, because each of its keys has a default.
fn default(schema: &Value, is_required: bool) -> String {
    match schema.get("default") {
        None if !is_required && schema.get("type") == Some(&"boolean".into()) => "false".to_owned(),
        None | Some(Value::Null | Value::Object(_)) => String::new(),
        Some(value) => code_of(value),
    }
}

fn code_of(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("[{}]", values.iter().map(code_of).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Describes the values that a key accepts, from the JSON schema of the key.
fn values(schema: &Value) -> String {
    let Some(object) = schema.as_object() else { return "any value".to_owned() };
    if let Some(value) = object.get("const") {
        return code(&value.to_string());
    }
    if let Some(names) = object.get("enum").and_then(Value::as_array) {
        let names = names.iter().filter(|name| !name.is_null());
        return names.map(|name| code(&name.to_string())).collect::<Vec<_>>().join(", ");
    }
    let mut all: Vec<String> = Vec::new();
    let mut named = true;
    for form in forms(object).filter(|form| form.get("type") != Some(&"null".into())) {
        named &= form.get("const").is_some();
        let words = values(form);
        if !all.contains(&words) {
            all.push(words);
        }
    }
    // Any value that is no table and no list.
    let scalars = ["whole number", "number", "`true` or `false`", "text"];
    if scalars.iter().all(|scalar| all.iter().any(|words| words == scalar)) {
        all.retain(|words| !scalars.contains(&words.as_str()));
        all.insert(0, "value".to_owned());
    }
    if !all.is_empty() {
        return all.join(if named { ", " } else { " or " });
    }
    let is = |name: &str| match object.get("type") {
        Some(Value::Array(types)) => types.iter().any(|one| one == name),
        one => one.is_some_and(|one| one == name),
    };
    let format = object.get("format").and_then(Value::as_str);
    if is("array") {
        return format!("list of {}", object.get("items").map_or("values".to_owned(), values));
    }
    if is("object") {
        return match object.get("additionalProperties") {
            Some(value @ Value::Object(_)) => format!("table of {}", values(value)),
            _ => "table".to_owned(),
        };
    }
    let word = match format {
        Some("size") => "size, such as `\"4MiB\"`",
        Some("count") => "count, such as `\"10M\"`",
        Some("time") => "time, such as `\"30s\"`",
        _ if is("integer") => "whole number",
        _ if is("number") => "number",
        _ if is("boolean") => "`true` or `false`",
        _ if is("string") => "text",
        _ => "any value",
    };
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use catalog::ByteSize;
    use serde::{Deserialize, Serialize};

    use super::*;

    /// A table.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    struct Outer {
        /// Size of the test value.
        size: Option<ByteSize>,
        /// The way.
        way: Way,
        /// Names.
        names: Vec<String>,
        /// Inside.
        inner: Inner,
    }

    #[derive(Default, Serialize, Deserialize, JsonSchema)]
    struct Inner {
        /// A share.
        share: f64,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    enum Way {
        /// Not far.
        ShortWay,
        /// Far.
        Long,
    }

    impl Default for Outer {
        fn default() -> Self {
            Self { size: None, way: Way::Long, names: Vec::new(), inner: Inner::default() }
        }
    }

    #[test]
    fn a_type_becomes_sections_with_an_entry_for_each_field() {
        let sections = sections("outer", "About.", &schema::<Outer>());
        let shown: Vec<String> = sections[0].entries.iter().map(|entry| entry.cells().join(" | ")).collect();
        assert_eq!(
            shown,
            [
                "`size` | size, such as `\"4MiB\"` |  | Size of the test value.",
                "`way` | `\"short-way\"`, `\"long\"` | `\"long\"` | The way.<br>`\"short-way\"`: Not far.<br>`\"long\"`: Far.",
                "`names` | list of text | `[]` | Names.",
                "`inner` | table |  | Inside.",
            ]
        );
        assert_eq!((&*sections[1].name, &*sections[1].about), ("outer.inner", "Inside."));
        assert_eq!(sections[1].entries[0].cells().join(" | "), "`share` | number |  | A share.");
    }
}
