//! Tests that the output of the program in the documentation equals the real output.

use std::path::{Path, PathBuf};

use toml::{Table, Value};
use tree::Design;

use crate::bench::Bench;

/// Returns the path of a file of the repository.
fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Tests that `configs/designs/default.toml` contains every setting of the default design, because users read and
/// extend this file.
#[test]
fn the_default_design_s_file_spells_out_the_default_design() {
    let file = in_repository("configs/designs/default.toml");
    let table: Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    let Value::Table(design) = &table["design"] else { panic!("there is no [design] in it") };
    let default = Design::default();
    let advice = "mend configs/designs/default.toml, or crates/tree/src/design/default.toml";
    assert_eq!(default.with(design).unwrap().to_toml(), default.to_toml(), "{advice}");
    let missing: Vec<String> =
        default.to_toml().keys().filter(|key| !design.contains_key(*key)).cloned().collect();
    assert!(missing.is_empty(), "it says nothing of {missing:?}; {advice}");
}

/// Tests that the output and the chart of the README follow from the rows in git, and that the README stays short.
#[test]
fn the_quick_start_of_the_readme_follows_from_its_rows() {
    let bench = Bench::new();
    let (readme, chart) = (in_repository("README.md"), in_repository("plots/gallery/quickstart.svg"));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let lines = read(&readme).lines().count();
    assert!(lines <= 90, "README.md has {lines} lines; shorten it to 90 lines");
    bench.write("README.md", read(&readme));
    let (config, results) = (in_repository("configs/quickstart.toml"), in_repository("results/gallery"));
    let [config, results] = [&config, &results].map(|path| path.to_str().unwrap());
    let gallery = ["gallery", config, "--tables", "--page", "README.md", "--out", "plots/gallery"];
    let answer = bench.run(&[&gallery[..], &["--results", results]].concat());
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let advice = "run `just gallery`, or correct README.md";
    assert!(read(&bench.path("README.md")) == read(&readme), "the quick start of README.md; {advice}");
    assert!(
        read(&bench.path("plots/gallery/quickstart.svg")) == read(&chart),
        "{}; {advice}",
        chart.display()
    );
}
