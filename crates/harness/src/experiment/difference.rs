//! What sets two cells apart: how many factors a comparison of them has.

use toml::{Table, Value};
use tree::AXES;

use super::cell::Cell;

/// The paths of all settings in which two cells differ. Where a kind differs, the parameters that only one of
/// the two kinds has are part of that one difference.
pub(crate) fn differences(a: &Cell, b: &Cell) -> Vec<String> {
    let mut found = Vec::new();
    let (one, other) = (a.design.to_toml(), b.design.to_toml());
    for axis in AXES {
        let (a, b) = (a.design.choice(axis.name()), b.design.choice(axis.name()));
        if a.kind() != b.kind() {
            found.push(axis.name().to_owned());
        }
        let common = a
            .params()
            .iter()
            .filter(|(key, value)| b.params().get(*key).is_some_and(|other| other != *value));
        found.extend(common.map(|(key, _)| format!("{}.{key}", axis.name())));
    }
    if a.design.memtable_capacity != b.design.memtable_capacity {
        found.push("memtable.capacity".to_owned());
    }
    let is_axis = |key: &str| AXES.iter().any(|axis| axis.name() == key);
    for key in one.keys().chain(other.keys().filter(|key| !one.contains_key(*key))) {
        if !is_axis(key) {
            collect(key, one.get(key), other.get(key), &mut found);
        }
    }
    let (one, other) = (a.workload.to_toml(), b.workload.to_toml());
    collect("workload", Some(&Value::Table(one)), Some(&Value::Table(other)), &mut found);
    found
}

/// Adds the paths below `path` at which two values differ.
fn collect(path: &str, a: Option<&Value>, b: Option<&Value>, found: &mut Vec<String>) {
    match (a, b) {
        (Some(Value::Table(a)), Some(Value::Table(b))) => {
            for key in keys(a, b) {
                collect(&format!("{path}.{key}"), a.get(key), b.get(key), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
            for (number, (a, b)) in a.iter().zip(b).enumerate() {
                collect(&format!("{path}.{number}"), Some(a), Some(b), found);
            }
        }
        _ if a != b => found.push(path.to_owned()),
        _ => {}
    }
}

fn keys<'a>(a: &'a Table, b: &'a Table) -> impl Iterator<Item = &'a String> {
    a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)))
}

#[cfg(test)]
mod tests {
    use tree::Design;
    use workload::Workload;

    use super::*;

    fn cell(design: &str, threads: u32) -> Cell {
        let workload = format!("[[phase]]\nname = \"load\"\ninsert = 10\nthreads = {threads}\n");
        Cell {
            number: 0,
            label: String::new(),
            swept: Vec::new(),
            design: Design::default().with(&design.parse().unwrap()).unwrap(),
            workload: Workload::from_toml(&workload.parse().unwrap()).unwrap(),
        }
    }

    #[test]
    fn every_setting_that_differs_is_named_once() {
        let base = cell("", 1);
        for (design, threads, expected) in [
            ("", 1, &[][..]),
            ("bloom = \"standard\"", 1, &["bloom"]),
            ("bloom = { kind = \"standard\", bits_per_key = 4 }", 1, &["bloom", "bloom.bits_per_key"]),
            ("bloom = \"none\"\nblock = { size = \"8KiB\" }", 1, &["bloom", "block.size"]),
            ("memtable = { capacity = \"1MiB\" }\nmemory = \"1GiB\"", 1, &["memtable.capacity", "memory"]),
            ("", 2, &["workload.phase.0.threads"]),
        ] {
            assert_eq!(differences(&base, &cell(design, threads)), expected, "{design}");
        }
    }
}
