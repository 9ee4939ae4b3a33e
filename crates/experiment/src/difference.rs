//! Finds the settings in which two configurations differ. These settings are the factors of a comparison.

use catalog::{Axis, Choice};
use engines::EngineOptions;
use subject::{COMPONENT, Task};
use toml::{Table, Value};
use tree::{AXES, own_keys};

use super::cell::Cell;
use super::engine::engine;

/// The path of the key that sets the name of an engine in results. A different name is no difference between two
/// configurations.
const ENGINE_LABEL: &str = "engine.label";

/// The path of the key that sets the shared library of an engine.
const ENGINE_LIBRARY: &str = "engine.library";

/// Returns the paths of all settings in which two configurations differ.
/// * Different variants on an axis count as one difference. A parameter that only one variant has is no further
///   difference.
/// * A parameter that both variants have is a further difference if its values differ.
/// * If such values are only the different defaults of two variants, the parameter is listed next to the axis, as in
///   `compaction (own level0_runs)`.
pub(super) fn differences(a: &Cell, b: &Cell) -> Vec<String> {
    let mut found = Vec::new();
    choices(&engines::CATALOG, &a.engine, &b.engine, &mut found);
    // The label of an engine does not change the engine. If the kinds of the engines differ, their libraries are not a
    // further difference.
    let is_one_kind = a.engine.kind() == b.engine.kind();
    found.retain(|path| path != ENGINE_LABEL && (is_one_kind || path != ENGINE_LIBRARY));
    match [a, b].iter().all(|cell| engine(&cell.engine).reads_whole_design()) {
        true => designs(a, b, &mut found),
        // An engine that does not use the whole design is compared only by the options that it uses.
        false => found.extend(EngineOptions::of(&a.design).differences(&EngineOptions::of(&b.design))),
    }
    let (one, other) = (a.task.to_toml(), b.task.to_toml());
    match &a.task {
        Task::Workload(_) => {
            collect("", Some(&Value::Table(one)), Some(&Value::Table(other)), &mut found);
        }
        Task::Component(_) => collect(COMPONENT, one.get(COMPONENT), other.get(COMPONENT), &mut found),
    }
    found
}

/// Adds the differences between the designs of two configurations to `found`. Both configurations use an engine that
/// reads the whole design.
fn designs(a: &Cell, b: &Cell, found: &mut Vec<String>) {
    for axis in AXES {
        choices(axis, a.design.choice(axis.name()), b.design.choice(axis.name()), found);
    }
    let (one, other) = (a.design.to_toml(), b.design.to_toml());
    for axis in AXES.iter().map(|axis| axis.name()) {
        let differ = |key: &&str| one[axis].get(key) != other[axis].get(key);
        found.extend(own_keys(axis).filter(differ).map(|key| format!("{axis}.{key}")));
    }
    let is_axis = |key: &str| AXES.iter().any(|axis| axis.name() == key);
    for key in keys(&one, &other).filter(|key| !is_axis(key)) {
        collect(key, one.get(key), other.get(key), found);
    }
}

/// Adds the differences between two variants of an axis to `found`: the axis if the variants are different, and the
/// parameters with different values.
fn choices(axis: &dyn Axis, a: &Choice, b: &Choice, found: &mut Vec<String>) {
    let name = axis.name();
    let defaults = |choice: &Choice| {
        let mut variants = axis.variants().into_iter();
        variants
            .find(|variant| variant.kind == choice.kind())
            .map(|variant| variant.defaults)
            .unwrap_or_default()
    };
    let (defaults_of_a, defaults_of_b) = (defaults(a), defaults(b));
    let other_kind = a.kind() != b.kind();
    let (mut own, mut set) = (Vec::new(), Vec::new());
    for (key, value) in a.params() {
        let Some(other) = b.params().get(key).filter(|other| !same(value, other)) else { continue };
        let at_defaults = defaults_of_a.get(key) == Some(value) && defaults_of_b.get(key) == Some(other);
        if other_kind && at_defaults { own.push(key.as_str()) } else { set.push(format!("{name}.{key}")) }
    }
    if other_kind {
        found.push(match own[..] {
            [] => name.to_owned(),
            _ => format!("{name} (own {})", own.join(", ")),
        });
    }
    found.append(&mut set);
}

/// Returns whether two TOML values are equal. Numbers are compared by value, so the integer 10 equals 10.0.
fn same(a: &Value, b: &Value) -> bool {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        _ => a == b,
    }
}

/// Compares two TOML values, and adds the paths at which they differ to `found`. All added paths begin with `path`. A
/// table in an array appears by its name, as in `phase.load`, or by its index if it has no name.
fn collect(path: &str, a: Option<&Value>, b: Option<&Value>, found: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Some(Value::Table(a)), Some(Value::Table(b))) => {
            for key in keys(a, b) {
                collect(&below(key), a.get(key), b.get(key), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
            for (number, (a, b)) in a.iter().zip(b).enumerate() {
                let name =
                    a.get("name").and_then(Value::as_str).map_or_else(|| number.to_string(), str::to_owned);
                collect(&below(&name), Some(a), Some(b), found);
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

    use super::super::engine::{default_engine, read_engine};
    use super::*;

    fn cell(design: &str, threads: u32) -> Cell {
        let workload = format!("[[phase]]\nname = \"load\"\ninsert = 10\nthreads = {threads}\n");
        Cell {
            number: 0,
            label: String::new(),
            swept: Vec::new(),
            engine: default_engine(),
            design: Design::default().with(&design.parse().unwrap()).unwrap(),
            task: Task::from_toml(&workload.parse().unwrap()).unwrap(),
        }
    }

    #[test]
    fn every_setting_that_differs_is_named_once() {
        let base = cell("", 1);
        for (design, threads, expected) in [
            ("", 1, &[][..]),
            ("bloom = \"standard\"", 1, &["bloom"]),
            ("bloom = { kind = \"standard\", bits_per_key = 4 }", 1, &["bloom", "bloom.bits_per_key"]),
            // A size ratio of 10 is equal to 10.0, whether or not a kind uses integers.
            ("compaction = \"tiered\"", 1, &["compaction"]),
            ("compaction = \"leveled\"", 1, &["compaction (own level0_runs)"]),
            ("compaction = \"tiered(size_ratio=4)\"", 1, &["compaction", "compaction.size_ratio"]),
            ("compaction.level0_runs = 2", 1, &["compaction.level0_runs"]),
            ("bloom = \"none\"\nblock = { size = \"8KiB\" }", 1, &["bloom", "block.size"]),
            ("memtable = { capacity = \"1MiB\" }\nmemory = \"1GiB\"", 1, &["memtable.capacity", "memory"]),
            ("memtable = { entries = 9, key_range = true }", 1, &["memtable.entries", "memtable.key_range"]),
            ("memtable = { filter = \"4KiB\" }", 1, &["memtable.filter"]),
            ("", 2, &["phase.load.threads"]),
        ] {
            assert_eq!(differences(&base, &cell(design, threads)), expected, "{design}");
        }
    }

    /// Rule: a comparison of two different engines has one factor, the engine. Settings that only the tree of lsmbench
    /// uses are no additional factors.
    #[test]
    fn another_engine_is_one_factor_and_each_term_another() {
        let rocksdb = |design: &str| Cell {
            engine: read_engine(&Value::String("rocksdb".to_owned())).unwrap(),
            ..cell(design, 1)
        };
        let base = cell("fence = \"binary\"", 1);
        assert_eq!(differences(&base, &rocksdb("")).len(), 1);
        assert!(
            differences(&base, &rocksdb(""))[0].starts_with("engine"),
            "{:?}",
            differences(&base, &rocksdb(""))
        );
        let found = differences(&base, &rocksdb("block.size = \"8KiB\"\nculling = \"binary\""));
        assert_eq!(found[1..], ["block.size"]);
        assert_eq!(differences(&rocksdb("fence = \"binary\""), &rocksdb("")), Vec::<String>::new());
    }

    /// Rule: a comparison of two builds of one engine has one factor, the library. The labels of the builds, and
    /// settings that neither build supports, are no additional factors.
    #[test]
    fn two_builds_of_one_engine_differ_in_one_factor() {
        use super::super::fits::mismatches;
        let build = |parameters: &str| {
            let engine = format!("engine = {{ kind = \"rocksdb\", {parameters} }}").parse::<Table>().unwrap();
            Cell { engine: read_engine(&engine["engine"]).unwrap(), ..cell("", 1) }
        };
        let base = build("library = \"base.so\", label = \"base\"");
        let new = build("library = \"new.so\", label = \"new\"");
        assert_eq!(
            (differences(&base, &new), mismatches(&base, &new)),
            (vec!["engine.library".to_owned()], 0)
        );
        assert_eq!(
            differences(&base, &build("library = \"base.so\", label = \"again\"")),
            Vec::<String>::new()
        );
        let ours = cell("", 1);
        assert_eq!(differences(&ours, &new).len(), 1, "another engine is one factor, with its library");
        assert!(mismatches(&ours, &new) > 0 && mismatches(&ours, &new) == mismatches(&new, &ours));
        let level = Cell { engine: read_engine(&"leveldb".into()).unwrap(), ..cell("", 1) };
        let apart = mismatches(&new, &level);
        assert!(
            apart <= mismatches(&ours, &new) + mismatches(&ours, &level),
            "{apart}: what both lack is no difference"
        );
    }
}
