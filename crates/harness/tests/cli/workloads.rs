//! Tests of the workload files in this repository. Each workload must run as a small experiment with correct answers,
//! and must be on the page about workloads.

use std::path::{Path, PathBuf};

use results::columns as c;
use toml::{Table, Value};

use crate::bench::{Bench, of, text};

/// The largest number of keys of a load in the small experiment.
const KEYS: i64 = 1_000;
/// The largest number of operations of a phase or a role in the small experiment.
const OPERATIONS: i64 = 300;

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the names of the workloads and their parsed files.
fn workloads() -> Vec<(String, Table)> {
    let files =
        std::fs::read_dir(in_repository("configs/workloads")).unwrap().map(|entry| entry.unwrap().path());
    let tomls = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let mut found: Vec<(String, Table)> = tomls
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap().parse().unwrap())
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Reduces the numbers of keys and operations of a phase or a role to small numbers.
fn shrink(table: &mut Table) {
    for (key, most) in [("insert", KEYS), ("operations", OPERATIONS)] {
        if let Some(Value::Integer(count)) = table.get_mut(key) {
            *count = (*count).min(most);
        }
    }
    let roles = table.get_mut("role").and_then(Value::as_array_mut).into_iter().flatten();
    roles.filter_map(Value::as_table_mut).for_each(shrink);
}

#[test]
fn every_workload_runs_with_right_answers() {
    let bench = Bench::new();
    let mut arguments = vec!["run".to_owned()];
    let workloads = workloads();
    for (name, table) in &workloads {
        let mut table = table.clone();
        let phases = table.get_mut("phase").and_then(Value::as_array_mut).into_iter().flatten();
        phases.filter_map(Value::as_table_mut).for_each(shrink);
        let file = format!("{name}.toml");
        bench.write(&file, table.to_string());
        arguments.push(file);
    }
    arguments.extend(["--trials", "1", "--allow-debug", "--no-page"].map(str::to_owned));
    bench.ok(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    for (name, table) in &workloads {
        let rows = bench.rows(name);
        for phase in table["phase"].as_array().unwrap() {
            let phase_name = phase["name"].as_str().unwrap();
            let all = of(&rows, phase_name, "all");
            assert_eq!(all.len(), 1, "{name}, {phase_name}");
            assert_eq!(text(all[0], &c::WRONG_ANSWERS), "0", "{name}, {phase_name}");
            let roles = phase.get("role").and_then(Value::as_array).into_iter().flatten();
            for role in roles.map(|role| role["name"].as_str().unwrap()) {
                assert_eq!(
                    of(&rows, phase_name, &format!("{role}/all")).len(),
                    1,
                    "{name}, {phase_name}, {role}"
                );
            }
        }
    }
}

#[test]
fn every_workload_has_a_source_and_a_place_in_the_page_about_workloads() {
    let page = std::fs::read_to_string(in_repository("docs/how-to/public-benchmarks.md")).unwrap();
    for (name, table) in workloads() {
        let file = in_repository("configs/workloads").join(format!("{name}.toml"));
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("Source: ") || text.contains("are those of"), "{name} names no source");
        assert!(table.contains_key("question"), "{name} has no question, so it is no experiment");
        let is_listed = page.contains(&format!("`{name}`")) || name.starts_with("ycsb-");
        assert!(is_listed, "docs/how-to/public-benchmarks.md does not list {name}");
    }
}
