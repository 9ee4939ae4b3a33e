//! The invariants of a store, checked for every engine of the catalog, including the tree of lsmbench.
//!
//! Each engine is checked in a separate process, because libraries of `RocksDB` and its forks share C++ names that a
//! process can load only once. A requested engine must be present. An engine is requested by the feature that builds
//! the engine in, by the variable that names its library, or by `LSMBENCH_PEERS`, a list of choices separated by
//! semicolons. With `LSMBENCH_PEERS`, only the listed engines are checked:
//! `LSMBENCH_PEERS='rocksdb(library="/opt/librocksdb.so");fjall'`. An absent engine that is not requested is skipped,
//! and the test prints how to get the engine. `LSMBENCH_REWRITE=1` writes the results into the table of
//! docs/reference/engines.md.

#![allow(clippy::print_stdout, clippy::print_stderr)] // it is a program: which engines were checked is told

mod checks;
mod table;

use std::process::ExitCode;

use catalog::Choice;
use checks::Outcome;
use lsmbench_engines::{CATALOG, Engine};
use toml::Value;

/// The environment variable that names the only engine that a process checks.
const ONE: &str = "LSMBENCH_PEERS_ONE";

fn main() -> ExitCode {
    if let Ok(label) = std::env::var(ONE) {
        return checks::check_here(&label);
    }
    catalog_keeps_its_laws();
    let (mut checked, mut failed) = (Vec::new(), 0);
    for choice in asked() {
        match engine(&choice).identify() {
            Ok(identity) => match checks::check_apart(&choice, identity) {
                Outcome::Kept(report) => {
                    println!("{report}");
                    checked.push(report);
                }
                Outcome::Broken(what) => {
                    failed += 1;
                    println!("{choice} FAILED:\n{what}");
                }
            },
            Err(missing) if is_due(&choice) => {
                failed += 1;
                println!("{choice} FAILED: it must be here: {missing}");
            }
            Err(missing) => println!("{choice} is not here: {missing}"),
        }
    }
    match checked.len() {
        0 => println!("no engine was checked: none is in this build or on this machine"),
        engines => println!("{engines} engines were checked, {failed} failed"),
    }
    if failed > 0 {
        return ExitCode::FAILURE;
    }
    if std::env::var_os("LSMBENCH_REWRITE").is_some() {
        table::write(&checked);
    }
    ExitCode::SUCCESS
}

/// The engines that the caller requested.
fn asked() -> Vec<Choice> {
    let named = named();
    if named.is_empty() { CATALOG.all().collect() } else { named }
}

/// The engines that `LSMBENCH_PEERS` names.
fn named() -> Vec<Choice> {
    let labels = std::env::var("LSMBENCH_PEERS").unwrap_or_default();
    labels.split(';').filter(|label| !label.trim().is_empty()).map(choose).collect()
}

/// The engine of a label.
fn choose(label: &str) -> Choice {
    CATALOG.choose(&Value::String(label.trim().to_owned())).unwrap()
}

/// The engine of a choice.
fn engine(choice: &Choice) -> Box<dyn Engine> {
    CATALOG.build(choice).unwrap()
}

/// Whether the user requested this engine. If so, the test must not pass without the engine.
fn is_due(choice: &Choice) -> bool {
    let variable = format!("LSMBENCH_{}", choice.kind().to_uppercase());
    let is_built_in = match choice.kind() {
        "fjall" | "fjall2" | "lmdb" | "redb" | "canopydb" | "sled" => cfg!(feature = "peers"),
        "sqlite" | "bf-tree" | "surrealkv" => cfg!(feature = "more-peers"),
        "tidesdb" => cfg!(feature = "tidesdb"),
        "wiredtiger" => cfg!(feature = "wiredtiger"),
        "rocksdb" => cfg!(feature = "rocksdb"),
        "speedb" => cfg!(feature = "speedb"),
        kind => kind == CATALOG.baseline().kind(),
    };
    is_built_in || !named().is_empty() || std::env::var(variable).is_ok_and(|path| !path.is_empty())
}

fn catalog_keeps_its_laws() {
    catalog::laws::check(&CATALOG).unwrap();
    let choice = CATALOG.baseline();
    assert_eq!(choice.kind(), "lsmbench");
    assert!(engine(&choice).reads_whole_design());
}
