//! Tests of `lsmbench new`, which creates a crate with a component of the user: the written files, and rejected
//! requests. The script `.ci/new` compiles and runs the new crate of every axis.

use std::path::Path;

use crate::bench::Bench;

/// Returns the root folder of this repository.
fn checkout() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").display().to_string()
}

#[test]
fn a_crate_is_written_into_an_empty_folder() {
    let bench = Bench::new();
    let said = bench.ok(&["new", "bloom", "my-filter", "--path", &checkout()]);
    assert!(said.contains("cd my-filter"), "{said}");
    let read = |file: &str| std::fs::read_to_string(bench.path("my-filter").join(file)).unwrap();
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    assert_eq!(manifest["package"]["name"].as_str(), Some("my-filter"));
    let path = manifest["dependencies"]["lsmbench"]["path"].as_str().unwrap();
    assert!(Path::new(path).join("Cargo.toml").is_file(), "{path}");
    assert!(read("src/main.rs").contains(".bloom(&VARIANT)"));
    assert!(read("tests/conformance.rs").contains("use my_filter::VARIANT;"));
    assert!(read("src/lib.rs").contains("\"my-filter\""));
    let experiment: toml::Table = read("experiment.toml").parse().unwrap();
    let swept = experiment["sweep"]["design.bloom"].as_array().unwrap();
    assert_eq!(swept.last().unwrap().as_str(), Some("my-filter"));
}

#[test]
fn without_a_checkout_the_version_of_the_program_is_named() {
    let bench = Bench::new();
    bench.ok(&["new", "cache", "mine"]);
    let manifest = std::fs::read_to_string(bench.path("mine/Cargo.toml")).unwrap();
    assert!(manifest.contains(&format!("lsmbench = \"{}\"", env!("CARGO_PKG_VERSION"))), "{manifest}");
}

#[test]
fn bad_requests_are_rejected_and_nothing_is_written() {
    let bench = Bench::new();
    bench.write("full/file", "kept");
    let before = bench.content();
    for (arguments, message) in [
        (
            &["new", "blom", "mine"][..],
            "unknown axis \"blom\"; did you mean \"bloom\"? Valid: \"memtable\", \"bloom\", ",
        ),
        (&["new", "bloom", "full"], "full: the folder is not empty"),
        (&["new", "bloom", "My_Filter"], "\"My_Filter\" is not a valid name for a component and its crate"),
        (&["new", "bloom", "../mine"], "is not a valid name for a component and its crate"),
        (&["new", "bloom", "match"], "\"match\" is a reserved name of Rust or Cargo"),
        (&["new", "bloom", "blocked"], "bloom already has a variant \"blocked\""),
        (
            &["new", "bloom", "mine", "--path", "full"],
            "--path: \"full\" does not contain the source code of lsmbench",
        ),
    ] {
        let error = bench.run(arguments).refusal();
        assert!(error.contains(message), "{arguments:?}: {error}");
    }
    assert_eq!(bench.content(), before);
}
