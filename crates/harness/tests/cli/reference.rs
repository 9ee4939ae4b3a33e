//! Tests of the reference in `docs/reference`. The reference must equal the output of the program, and must have an
//! entry for every key and value of the TOML files in this repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::bench::Bench;

/// Returns the folder of the reference pages.
fn folder() -> PathBuf {
    in_repository("docs/reference")
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the pages that the program writes, by the names of their files.
fn written() -> BTreeMap<String, String> {
    let bench = Bench::new();
    bench.ok(&["list", "--reference", "pages"]);
    let files = fs::read_dir(bench.path("pages")).unwrap().map(|file| file.unwrap().path());
    let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
    files.map(|file| (name(&file), fs::read_to_string(&file).unwrap())).collect()
}

#[test]
fn the_pages_are_what_the_program_writes() {
    let pages = written();
    assert_eq!(pages.len(), 9);
    for (name, text) in pages {
        let path = folder().join(&name);
        if std::env::var_os("LSMBENCH_REWRITE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let page = fs::read_to_string(&path).unwrap_or_default();
        let differs = page.lines().zip(text.lines()).position(|(page, text)| page != text);
        let line = differs.unwrap_or_else(|| page.lines().count().min(text.lines().count())) + 1;
        assert!(
            page == text,
            "docs/reference/{name}:{line} differs from what the program writes; write it again: \
             LSMBENCH_REWRITE=1 cargo test -p lsmbench --test cli the_pages_are_what_the_program_writes"
        );
    }
}

#[test]
fn every_entry_has_a_meaning_in_plain_words() {
    let mut found = Vec::new();
    for (name, text) in written() {
        for (line, cells) in
            text.lines().enumerate().filter_map(|(number, line)| Some((number + 1, cells(line)?)))
        {
            // A computation has only a name and arguments, and no description.
            let is_empty = cells.len() > 2 && cells.last().is_some_and(String::is_empty);
            if is_empty || cells.iter().any(|cell| cell.contains("Self::") || cell.contains("[`")) {
                found.push(format!("{name}:{line}: {}", cells.join(" | ")));
            }
        }
    }
    assert!(
        found.is_empty(),
        "entries without a meaning, or with one for programmers:\n{}",
        found.join("\n")
    );
}

#[test]
fn every_variant_and_parameter_has_an_entry() {
    let reference = Reference::read();
    let listed: serde_json::Value = serde_json::from_str(&Bench::new().ok(&["list", "--json"])).unwrap();
    for catalog in listed.as_array().unwrap().iter().filter(|catalog| catalog["axis"] != "mix") {
        let axis = match catalog["axis"].as_str().unwrap() {
            "component" => "subject",
            axis => axis,
        };
        for variant in catalog["variants"].as_array().unwrap() {
            let kind = variant["kind"].as_str().unwrap();
            let entry = reference.variants.get(axis).and_then(|variants| variants.get(kind));
            let parameters = entry.unwrap_or_else(|| panic!("{axis}: {kind} has no entry"));
            let keys: BTreeSet<&str> = parameters.keys().map(String::as_str).collect();
            let expected: BTreeSet<&str> =
                variant["parameters"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, expected, "{axis}: {kind}");
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the count of keys and values is the measure of the reference")]
fn every_key_and_value_of_shipped_files_has_an_entry() {
    let mut walk = Walk { reference: Reference::read(), seen: BTreeSet::new(), missing: BTreeSet::new() };
    let mut files = Vec::new();
    ["configs", "experiments"].into_iter().for_each(|folder| collect(&in_repository(folder), &mut files));
    for file in &files {
        let table: Table = fs::read_to_string(file).unwrap().parse().unwrap();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let parent = file.components().any(|part| part.as_os_str() == "designs");
        match name.as_str() {
            "contradictions" | "highlights" => {
                table.iter().for_each(|(key, value)| walk.section(key, value));
            }
            _ if parent => {
                table.keys().for_each(|key| walk.key("Keys of a design file", key));
                walk.design(&table["design"]);
            }
            _ => walk.experiment(&table),
        }
    }
    let missing: Vec<&str> = walk.missing.iter().map(String::as_str).collect();
    println!(
        "{} files, {} keys and values, {} without an entry",
        files.len(),
        walk.seen.len(),
        missing.len()
    );
    assert!(files.len() > 100 && walk.seen.len() > 400, "{} {}", files.len(), walk.seen.len());
    assert!(missing.is_empty(), "keys and values without an entry:\n{}", missing.join("\n"));
}

#[test]
fn examples_of_the_pages_are_valid() {
    let bench = Bench::new();
    let workload = "[[phase]]\nname = \"lookup\"\ninsert = 10\n";
    for (page, before, after) in [
        ("experiment-file.md", "", ""),
        ("workloads.md", "question = \"?\"\n", ""),
        ("design-options.md", "question = \"?\"\n", workload),
        ("variants.md", "question = \"?\"\n", workload),
        (
            "charts.md",
            "question = \"?\"\n",
            "[sweep]\n\"design.bloom\" = [\"standard\"]\n\"design.bloom.bits_per_key\" = [8, 10]\n[[phase]]\nname = \"lookup\"\ninsert = 10\n",
        ),
    ] {
        let text = fs::read_to_string(folder().join(page)).unwrap();
        let (_, rest) = text.split_once("```toml\n").unwrap_or_else(|| panic!("{page} has no example"));
        let (example, _) = rest.split_once("```").unwrap();
        bench.write("example.toml", format!("{before}{example}{after}"));
        bench.ok(&["describe", "example.toml"]);
    }
}

/// Collects the paths of the TOML files in a folder and its subfolders.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            collect(&entry, files);
        } else if entry.extension().is_some_and(|ending| ending == "toml") {
            files.push(entry);
        }
    }
    files.sort();
}

/// Returns the cells of a table row whose first cell is code. Returns `None` for any other line.
fn cells(line: &str) -> Option<Vec<String>> {
    let row = line.strip_prefix("| ")?.strip_suffix(" |")?;
    let cells: Vec<String> =
        row.replace("\\|", "\u{0}").split(" | ").map(|cell| cell.trim().replace('\u{0}', "|")).collect();
    cells[0].starts_with('`').then_some(cells)
}

/// The entries of all reference pages.
struct Reference {
    /// The text about the valid values, by the heading of the section and the key.
    keys: BTreeMap<String, BTreeMap<String, String>>,
    /// The text about the valid values, by axis, variant and parameter.
    variants: BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>,
}

impl Reference {
    fn read() -> Self {
        let mut reference = Self { keys: BTreeMap::new(), variants: BTreeMap::new() };
        for page in ["experiment-file", "design-options", "variants", "workloads", "charts"] {
            let text = fs::read_to_string(folder().join(format!("{page}.md"))).unwrap();
            let mut heading = String::new();
            for line in text.lines() {
                if let Some(title) = line.strip_prefix("## ") {
                    heading = bare(title);
                }
                let Some(cells) = cells(line) else { continue };
                let first = bare(&cells[0]);
                match &cells[..] {
                    [_, _] => {
                        let axis = Self::axis(&mut reference, &heading);
                        axis.entry(first).or_default();
                    }
                    [_, parameter, values, _, _] => {
                        let axis = Self::axis(&mut reference, &heading);
                        axis.entry(first).or_default().insert(bare(parameter), values.clone());
                    }
                    [_, values, ..] => {
                        reference.keys.entry(heading.clone()).or_default().insert(first, values.clone());
                    }
                    [] | [_] => {}
                }
            }
        }
        reference
    }

    fn axis<'a>(
        reference: &'a mut Self,
        heading: &str,
    ) -> &'a mut BTreeMap<String, BTreeMap<String, String>> {
        reference.variants.entry(heading.to_owned()).or_default()
    }

    fn has_section(&self, section: &str) -> bool {
        self.keys.contains_key(section)
    }
}

/// Returns a text without the markup of code and without the markup of TOML tables.
fn bare(text: &str) -> String {
    text.trim_matches(['`', '[', ']']).to_owned()
}

/// Returns the names that a key accepts. Returns `None` if the key also accepts other values.
fn names(values: &str) -> Option<Vec<String>> {
    let names: Vec<String> = values.split(", ").map(|name| name.trim_matches('`').to_owned()).collect();
    names.iter().all(|name| name.starts_with('"') && name.ends_with('"')).then_some(names)
}

/// A walk over the TOML files of this repository. The walk collects all keys and values, and the keys and values
/// without an entry in the reference.
struct Walk {
    reference: Reference,
    seen: BTreeSet<String>,
    missing: BTreeSet<String>,
}

impl Walk {
    fn expect(&mut self, is_there: bool, what: String) {
        if !is_there {
            self.missing.insert(what.clone());
        }
        self.seen.insert(what);
    }

    fn key(&mut self, section: &str, key: &str) {
        let is_there = self.reference.keys.get(section).is_some_and(|keys| keys.contains_key(key));
        self.expect(is_there, format!("{section}: {key}"));
    }

    /// Checks that a key has an entry. If the key accepts only names, also checks that its value is one of these names.
    fn entry(&mut self, section: &str, key: &str, value: &Value) {
        self.key(section, key);
        let values = self.reference.keys.get(section).and_then(|keys| keys.get(key)).cloned();
        if let (Some(values), Value::String(name)) = (values, value) {
            self.value(&format!("{section}: {key}"), &values, name);
        }
    }

    fn value(&mut self, place: &str, values: &str, name: &str) {
        if let Some(names) = names(values) {
            self.expect(names.contains(&format!("\"{name}\"")), format!("{place} = \"{name}\""));
        }
    }

    /// Checks a table, or each table of a list, against the section `name`. Also checks all inner tables that have a
    /// section.
    fn section(&mut self, name: &str, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.section(name, value)),
            Value::Table(table) => {
                for (key, value) in table {
                    self.entry(name, key, value);
                    if key == "computed" {
                        self.kind("Computations", &value.to_string());
                    }
                    let inner = format!("{name}.{key}");
                    if self.reference.has_section(&inner) {
                        self.section(&inner, value);
                    }
                }
            }
            _ => {}
        }
    }

    fn experiment(&mut self, table: &Table) {
        for (key, value) in table {
            self.key("Keys of the file", key);
            match (key.as_str(), value) {
                ("set" | "quick" | "sweep", Value::Table(paths)) => {
                    for (path, value) in paths {
                        self.path(key, path, value, table);
                    }
                }
                _ => self.root(key, value, table),
            }
        }
    }

    /// Checks a path of `[set]`, `[quick]` or `[sweep]` with its value or values.
    fn path(&mut self, table: &str, path: &str, value: &Value, experiment: &Table) {
        if table == "sweep" && ["combine", "labels", "memory"].contains(&path) {
            return self.entry("sweep", path, value);
        }
        let values = match (table, value) {
            ("sweep", Value::Array(values)) => values.clone(),
            (_, value) => vec![value.clone()],
        };
        for value in values.into_iter().filter(|value| value.as_str() != Some("all")) {
            let mut parts: Vec<&str> = path.split('.').collect();
            let root = parts.remove(0);
            // A swept path follows the word `sweep` in a path of `[set]`.
            if root == "sweep" {
                self.path(root, &parts.join("."), &value, experiment);
                continue;
            }
            // A path into a phase contains the phase's name, and a path into a role also contains the role's name.
            if root == "phase" {
                parts.remove(0);
                if parts.first() == Some(&"role") {
                    parts.remove(1);
                }
            }
            let nested = parts
                .iter()
                .rev()
                .fold(value, |value, part| Value::Table(Table::from_iter([((*part).to_owned(), value)])));
            self.root(root, &nested, experiment);
        }
    }

    fn root(&mut self, key: &str, value: &Value, experiment: &Table) {
        match key {
            "design" => self.design(value),
            "key" => self.variant("key", "format", value),
            "engine" => self.variant("engine", "kind", value),
            "component" => {
                let subject = experiment["subject"].as_str().unwrap().to_owned();
                self.component(&subject, value);
            }
            "subject" => self.variant("subject", "kind", value),
            "phase" => match value {
                Value::Array(phases) => phases.iter().for_each(|phase| self.phase(phase)),
                phase => self.phase(phase),
            },
            _ => self.section(key, value),
        }
    }

    fn design(&mut self, value: &Value) {
        for (key, value) in value.as_table().unwrap() {
            let section = format!("design.{key}");
            let second = [("bloom", "allocation"), ("block", "format")];
            let mut value = value.clone();
            if let (Some((_, axis)), Value::Table(table)) =
                (second.iter().find(|(group, _)| group == key), &mut value)
                && let Some(choice) = table.remove(*axis)
            {
                self.variant(axis, "kind", &choice);
            }
            if key == "families" {
                for (name, family) in value.as_table().unwrap() {
                    self.key(&section, if family.is_table() { "NAME" } else { name });
                    if family.is_table() {
                        self.design(family);
                    }
                }
            } else if tree::axis(key).is_some() {
                self.key("Axes", key);
                if let Value::Table(table) = &mut value {
                    let own: Vec<String> = tree::own_keys(key).map(str::to_owned).collect();
                    for key in own.iter().filter(|key| table.remove(*key).is_some()) {
                        self.key(&section, key);
                    }
                }
                match &value {
                    Value::Array(values) => values.iter().for_each(|value| self.variant(key, "kind", value)),
                    value => self.variant(key, "kind", value),
                }
            } else {
                self.key("Options", key);
                self.section(&section, &value);
            }
        }
    }

    fn phase(&mut self, value: &Value) {
        for (key, value) in value.as_table().unwrap() {
            self.entry("phase", key, value);
            let section = format!("phase.{key}");
            let mut value = value.clone();
            match key.as_str() {
                "keys" | "value" | "range" => {
                    if let Value::Table(table) = &mut value {
                        for own in ["compressible", "backward", "span"] {
                            if table.remove(own).is_some() {
                                self.key(&section, own);
                            }
                        }
                    }
                    self.variant(key, "kind", &value);
                }
                "mix" => match &value {
                    Value::String(kind) => self.key(&section, kind),
                    value => self.section(&section, value),
                },
                "replay" => {
                    let Value::Table(table) = &mut value else { continue };
                    for own in ["file", "miss", "speed"] {
                        if table.remove(own).is_some() {
                            self.key(&section, own);
                        }
                    }
                    if table.contains_key("kind") {
                        self.variant("trace", "kind", &value);
                    }
                }
                _ if self.reference.has_section(&section) => self.section(&section, &value),
                _ => {}
            }
        }
    }

    /// Checks the parameters of a component experiment. A parameter that is itself a variant is checked against its
    /// catalog.
    fn component(&mut self, subject: &str, value: &Value) {
        for (key, value) in value.as_table().unwrap() {
            self.parameter("subject", subject, key, value);
            let kind = value.as_table().and_then(|table| table.get("kind")).and_then(Value::as_str);
            if let Some(kind) = kind {
                let catalogs: Vec<String> = self.reference.variants.keys().cloned().collect();
                let given =
                    || value.as_table().into_iter().flat_map(Table::keys).filter(|key| *key != "kind");
                let has = |axis: &String| {
                    let parameters = self.reference.variants[axis].get(kind);
                    parameters.is_some_and(|parameters| given().all(|key| parameters.contains_key(key)))
                };
                let fits = |axis: &&String| {
                    has(axis) && ["key", "keys", "content", "requests"].contains(&axis.as_str())
                };
                match catalogs.iter().find(fits) {
                    Some(axis) => self.variant(axis, "kind", value),
                    None => self.expect(false, format!("component.{key} = {value}")),
                }
            }
        }
    }

    /// Checks the selected variant of an axis, which is a label or a table.
    fn variant(&mut self, axis: &str, kind_key: &str, value: &Value) {
        match value {
            Value::String(label) => {
                let (kind, parameters) = label.split_once('(').unwrap_or((label, ""));
                self.kind(axis, kind);
                let parameters =
                    parameters.trim_end_matches(')').split(',').filter_map(|one| one.split_once('='));
                for (key, value) in parameters {
                    self.parameter(axis, kind, key.trim(), &Value::String(value.trim().to_owned()));
                }
            }
            Value::Table(table) => {
                let kind = table.get(kind_key).and_then(Value::as_str);
                kind.into_iter().for_each(|kind| self.kind(axis, kind));
                for (key, value) in table.iter().filter(|(key, _)| *key != kind_key) {
                    if let Some(kind) = kind {
                        self.parameter(axis, kind, key, value);
                    } else {
                        let variants = &self.reference.variants[axis];
                        let is_there = variants.values().any(|parameters| parameters.contains_key(key));
                        self.expect(is_there, format!("{axis}: some variant: {key}"));
                    }
                }
            }
            other => self.expect(false, format!("{axis} = {other}")),
        }
    }

    fn kind(&mut self, axis: &str, kind: &str) {
        let is_there = self.reference.variants.get(axis).is_some_and(|variants| variants.contains_key(kind));
        self.expect(is_there, format!("{axis} = \"{kind}\""));
    }

    fn parameter(&mut self, axis: &str, kind: &str, key: &str, value: &Value) {
        let variants = self.reference.variants.get(axis);
        let values = variants.and_then(|variants| variants.get(kind)?.get(key)).cloned();
        let place = format!("{axis}: {kind}: {key}");
        self.expect(values.is_some(), place.clone());
        if let (Some(values), Value::String(name)) = (values, value) {
            self.value(&place, &values, name);
        }
    }
}
