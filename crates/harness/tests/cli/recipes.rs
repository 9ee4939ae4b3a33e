//! Tests of the published benchmarks in `configs/recipes`, and of the growth experiment. Each experiment must run with
//! `--quick` and correct answers, name its source, and have a place on the page about public benchmarks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use results::columns as c;
use toml::Table;

use crate::bench::{Bench, text};

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the paths of the experiment files in a folder, sorted by name.
fn experiments(folder: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(in_repository(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Returns the names of the phases of an experiment.
fn phases_of(path: &Path) -> BTreeSet<String> {
    let table: Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let phases = table["phase"].as_array().unwrap().iter();
    phases.map(|phase| phase["name"].as_str().unwrap().to_owned()).collect()
}

/// Runs experiments with `--quick` on our own tree. Checks that each phase has rows, and that no answer is wrong.
fn run_quickly(files: &[PathBuf], settings: &[&str]) {
    let bench = Bench::new();
    let mut arguments = vec!["run", "--quick", "--allow-debug", "--no-page"];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
    bench.ok(&arguments);
    for file in files {
        let rows = bench.rows(&name_of(file));
        let measured = rows.iter().map(|row| text(row, &c::PHASE));
        assert_eq!(measured.collect::<BTreeSet<_>>(), phases_of(file), "{}", file.display());
        let checked = rows.iter().filter(|row| !text(row, &c::WRONG_ANSWERS).is_empty());
        assert!(checked.clone().count() > 0, "{}: no answer was checked", file.display());
        checked.for_each(|row| assert_eq!(text(row, &c::WRONG_ANSWERS), "0", "{}", file.display()));
    }
}

#[test]
fn every_recipe_runs_with_right_answers() {
    run_quickly(&experiments("configs/recipes"), &["sweep.engine=[\"lsmbench\"]"]);
}

#[test]
fn the_growth_experiment_runs_at_small_sizes() {
    let settings = [
        "sweep.engine=[\"lsmbench\", \"lsmbench\"]",
        "sweep.\"phase.load.insert\"=[2_000, 8_000]",
        "sweep.\"phase.overwrite.operations\"=[4_000, 16_000]",
    ];
    run_quickly(&[in_repository("configs/scale/growth.toml")], &settings);
}

#[test]
fn the_experiment_with_threads_runs_at_small_sizes() {
    let settings = ["sweep.engine=[\"lsmbench\"]", "sweep.\"phase.serve.threads\"=[1, 2]"];
    run_quickly(&[in_repository("configs/scale/threads.toml")], &settings);
}

#[test]
fn every_recipe_has_a_source_its_differences_and_a_place_in_the_page() {
    let page = std::fs::read_to_string(in_repository("docs/how-to/public-benchmarks.md")).unwrap();
    let recipes = experiments("configs/recipes");
    for path in &recipes {
        let (name, experiment) = (name_of(path), std::fs::read_to_string(path).unwrap());
        assert!(experiment.contains("\n# Source: "), "{name} has no source");
        assert!(experiment.contains("\n# Differences. "), "{name} has no differences");
        assert!(experiment.contains("\n[quick]\n"), "{name} has no quick form");
        assert!(page.contains(&format!("`{name}`")), "{name} is not in the page");
    }
    assert!(recipes.len() >= 5, "{recipes:?}");
}
