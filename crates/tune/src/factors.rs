//! Finds the factors of a design space: the parts of a design in which the candidates differ.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use toml::{Table, Value};
use tree::{AXES, Design};

use crate::derived::paths;

/// The axis that determines the structure of the tree. Its factors are the first factors of the search.
const STRUCTURE: &str = "compaction";

/// The key that names the variant in the table of an axis.
const KIND: &str = "kind";

/// A factor of the search: a part of a design in which the candidates differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Factor {
    /// The path of the setting, such as `design.compaction.size_ratio`.
    pub(crate) path: String,
    /// The value of each candidate, in the notation of an experiment file.
    pub(crate) values: Vec<String>,
}

/// Returns the parts in which the designs differ, which are the factors of the search. An axis has one factor for its
/// variant and one factor for the parameters of the variant. Each other option is a factor of its own.
pub(crate) fn factors(designs: &[&Design]) -> Vec<Factor> {
    let tables: Vec<Table> = designs.iter().map(|design| design.to_toml()).collect();
    let mut axes: Vec<&str> = AXES.iter().map(|axis| axis.name()).collect();
    axes.sort_by_key(|axis| *axis != STRUCTURE);
    let mut factors = Vec::new();
    for axis in &axes {
        let choices: Vec<&Table> = tables.iter().filter_map(|table| table.get(*axis)?.as_table()).collect();
        if choices.len() == tables.len() {
            let values = choices.iter().map(|choice| choice.get(KIND).map_or_else(String::new, text));
            factors.push(Factor { path: format!("design.{axis}"), values: values.collect() });
            factors.extend(parameters(axis, &choices));
        }
    }
    let options: Vec<BTreeMap<String, String>> = tables
        .iter()
        .map(|table| {
            let is_of_axis = |path: &str| path.split('.').next().is_some_and(|first| axes.contains(&first));
            let options = paths(table).into_iter().filter(|(path, _)| !is_of_axis(path));
            options.map(|(path, value)| (path, text(&value))).collect()
        })
        .collect();
    let names: BTreeSet<&String> = options.iter().flat_map(BTreeMap::keys).collect();
    for path in names {
        let values = options.iter().map(|options| options.get(path).cloned().unwrap_or_default());
        factors.push(Factor { path: format!("design.{path}"), values: values.collect() });
    }
    factors.retain(|factor| factor.values.iter().any(|value| *value != factor.values[0]));
    factors
}

/// Returns the factor for the parameters of an axis. It contains each parameter in which two designs with the same
/// variant differ. Returns `None` if no parameter differs.
fn parameters(axis: &str, choices: &[&Table]) -> Option<Factor> {
    let mut first: HashMap<(&str, &str), &Value> = HashMap::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for choice in choices {
        let kind = choice.get(KIND).and_then(Value::as_str).unwrap_or_default();
        for (name, value) in choice.iter().filter(|(name, _)| *name != KIND) {
            if *first.entry((kind, name)).or_insert(value) != value {
                names.insert(name);
            }
        }
    }
    let only = names
        .first()
        .filter(|name| names.len() == 1 && choices.iter().all(|choice| choice.contains_key(**name)));
    if let Some(name) = only {
        let values = choices.iter().map(|choice| choice.get(*name).map_or_else(String::new, text));
        return Some(Factor { path: format!("design.{axis}.{name}"), values: values.collect() });
    }
    let joined = |choice: &&Table| {
        let parts = names.iter().filter_map(|name| Some(format!("{name}={}", text(choice.get(*name)?))));
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() { "no parameters".to_owned() } else { parts.join(", ") }
    };
    let path = format!("design.{axis}.parameters");
    (!names.is_empty()).then(|| Factor { path, values: choices.iter().map(joined).collect() })
}

/// Formats a value in the notation of an experiment file, without quotes. The number `4.0` becomes `4`, because some
/// variants parse a parameter as an integer and others as a fraction.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) if number.fract() == 0.0 => format!("{number:.0}"),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(designs: &[&str]) -> Vec<(String, Vec<String>)> {
        let designs: Vec<Design> =
            designs.iter().map(|text| Design::default().with(&text.parse().unwrap()).unwrap()).collect();
        let found = factors(&designs.iter().collect::<Vec<_>>());
        found.into_iter().map(|factor| (factor.path, factor.values)).collect()
    }

    fn factor(path: &str, values: &[&str]) -> (String, Vec<String>) {
        (path.to_owned(), values.iter().map(|&value| value.to_owned()).collect())
    }

    #[test]
    fn designs_differ_in_variants_parameters_and_options() {
        let memtable = "memtable.capacity";
        let designs = [
            format!("compaction = \"leveled(size_ratio=4)\"\n{memtable} = \"64KiB\""),
            format!("compaction = \"tiered(size_ratio=4)\"\n{memtable} = \"64KiB\""),
            format!("compaction = \"tiered(size_ratio=8)\"\n{memtable} = \"1MiB\"\nblock.size = \"1KiB\""),
        ];
        let block = Design::default().options.block.size.to_string();
        assert_eq!(
            found(&designs.each_ref().map(String::as_str)),
            [
                factor("design.compaction", &["leveled", "tiered", "tiered"]),
                factor("design.compaction.size_ratio", &["4", "4", "8"]),
                factor("design.memtable.capacity", &["64KiB", "64KiB", "1MiB"]),
                factor("design.block.size", &[&block, &block, "1KiB"]),
            ]
        );
    }

    #[test]
    fn parameters_of_different_variants_share_a_factor() {
        let designs =
            ["horizontal(runs=2)", "horizontal(runs=4)", "leveled(size_ratio=4)", "leveled(size_ratio=8)"];
        let designs = designs.map(|policy| format!("compaction = \"{policy}\""));
        assert_eq!(
            found(&designs.each_ref().map(String::as_str))[1],
            factor("design.compaction.parameters", &["runs=2", "runs=4", "size_ratio=4", "size_ratio=8"])
        );
    }
}
