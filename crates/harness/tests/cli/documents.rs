//! Pages and files that are copies of the output of the program: they must be equal.

use std::path::{Path, PathBuf};

use toml::{Table, Value};
use tree::Design;

/// A file of the repository.
fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// `configs/designs/default.toml` is meant to be read and extended: it contains every setting of the default design.
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
