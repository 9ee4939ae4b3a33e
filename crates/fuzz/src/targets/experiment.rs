//! Fuzz targets for experiment files, design files, and the messages between a run and its trials.

use std::fs;
use std::path::{Path, PathBuf};

use harness::hostile;

use super::input::SPARE_BYTES;
use super::workload::in_file;
use crate::bounds::bounded;
use crate::target::{FuzzTarget, InputForm};

/// The fuzz target for an experiment file. The target resolves and describes the experiment, but does not run it.
/// Invariant: if the resolved file is resolved again, it is unchanged.
pub(super) const EXPERIMENT: FuzzTarget = FuzzTarget {
    name: "experiment",
    about: "an experiment file, as `lsmbench describe` reads it",
    form: InputForm::Text,
    seeds: experiment_seeds,
    run: run_experiment,
};

/// The fuzz target for a design file. Invariant: if the resolved design is resolved again, it is unchanged.
pub(super) const DESIGN: FuzzTarget = FuzzTarget {
    name: "design",
    about: "a design file",
    form: InputForm::Text,
    seeds: design_seeds,
    run: run_design,
};

/// The fuzz target for a message line between the process of a run and the process of a trial. Invariant: if an
/// accepted message is written and read again, it is unchanged.
pub(super) const MESSAGE: FuzzTarget = FuzzTarget {
    name: "message",
    about: "a message to a trial process with its task, or the report of a trial process",
    form: InputForm::Text,
    seeds: message_seeds,
    run: run_message,
};

/// The number of bytes of memory that the reader of an experiment may use in addition to 64 bytes per byte of input.
/// The plan of a workload needs this memory for the catalogs, and for a pool of random bytes for each kind of value.
const PLAN_BYTES: usize = 512 << 20;

/// Returns the paths of the files in a folder of the repository, such as `configs`, sorted by name.
fn shipped(folder: &str) -> impl Iterator<Item = PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let files = fs::read_dir(&folder)
        .expect("the repository must contain the folder of experiments or designs")
        .map(|file| file.expect("the fuzz target must be able to list a folder of the repository").path());
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    files.into_iter()
}

/// Returns the shipped experiments in resolved form, which includes the contents of the files that they extend.
/// Comments at the top are removed, because most mutations would otherwise change only these comments.
fn experiment_seeds() -> Vec<Vec<u8>> {
    let files = shipped("configs").chain(shipped("configs/components"));
    let resolved = files
        .map(|file| hostile::experiment(&file).expect("lsmbench must accept every file in its repository"));
    resolved.map(|text| body(&text).as_bytes().to_vec()).collect()
}

fn run_experiment(input: &[u8]) -> bool {
    let read = |input: &[u8]| {
        in_file("experiment.toml", input, |path| {
            bounded(input.len(), PLAN_BYTES, || hostile::experiment(path))
        })
    };
    let Ok(resolved) = read(input) else { return false };
    let again = read(resolved.as_bytes());
    let again = again.unwrap_or_else(|error| {
        panic!("the experiment was accepted, but its resolved form was rejected: {error}")
    });
    assert_eq!(body(&again), body(&resolved), "the resolved experiment changed when it was resolved again");
    true
}

/// Returns an experiment without the comments at its top.
fn body(description: &str) -> &str {
    description.find("\nquestion").map_or(description, |at| &description[at..])
}

/// Returns the shipped designs in resolved form. If a design extends no other file, the result also contains its
/// original file.
fn design_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let folders = ["configs/designs", "configs/designs/strategies", "configs/designs/values"];
    for file in folders.into_iter().flat_map(shipped) {
        let text = fs::read_to_string(&file).expect("every design file of the repository must be readable");
        let resolved = hostile::design(&file).expect("lsmbench must accept every file in its repository");
        seeds.extend((!text.contains("extends")).then(|| text.into_bytes()));
        seeds.push(as_file(&resolved).into_bytes());
    }
    seeds
}

/// Returns a resolved design as the text of a design file.
fn as_file(design: &str) -> String {
    let table: toml::Table = design.parse().expect("a resolved design must be TOML");
    toml::Table::from_iter([("design".to_owned(), toml::Value::Table(table))]).to_string()
}

fn run_design(input: &[u8]) -> bool {
    let read = |input: &[u8]| {
        in_file("design.toml", input, |path| bounded(input.len(), 16 * SPARE_BYTES, || hostile::design(path)))
    };
    let Ok(resolved) = read(input) else { return false };
    let again = read(as_file(&resolved).as_bytes());
    assert_eq!(again.as_deref(), Ok(&*resolved), "the resolved design changed when it was resolved again");
    true
}

fn message_seeds() -> Vec<Vec<u8>> {
    let spec = r#"{"configuration":"engine = \"lsmbench\"\nkey = \"u64\"\n[[phase]]\nname = \"load\"\ninsert = 7\n[design]\nbloom = \"none\"\n","base":"configs","seed":42,"mode":"timed",
        "sampling":1,"check":16,"interval_ns":1000000000,"directory":"data","results":"results","cell":0,"trial":2}"#;
    let done = r#"{"done":{"rows":[{"ops":7,"seconds":0.25,"phase":"load"}],"timeline":[],"streams":[{"phase":"load",
        "hash":null,"intended":{"operations":7,"mix":{"insert":1.0},"absent":null,"hottest_key":null,
        "hottest_1_percent":null,"hottest_10_percent":null,"key_bytes":16.0,"value_bytes":100.0,"range_entries":null},
        "realised":{"operations":7,"mix":{},"absent":null,"hottest_key":null,"hottest_1_percent":null,
        "hottest_10_percent":null,"key_bytes":null,"value_bytes":null,"range_entries":null}}],"wrong":["a","b"]}}"#;
    let progress = r#"{"progress":{"phase":1,"share":0.5,"checking":false}}"#;
    let failed = r#"{"failed":"the disk is full"}"#;
    [spec, done, progress, failed].map(|text| text.as_bytes().to_vec()).to_vec()
}

fn run_message(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    let (spec, message) = bounded(input.len(), SPARE_BYTES, || hostile::message(text));
    let is_taken = spec.is_some() || message.is_some();
    if let Some(spec) = spec {
        assert_eq!(
            hostile::message(&spec).0.as_deref(),
            Some(&*spec),
            "the task is different after it is written and read again"
        );
    }
    if let Some(message) = message {
        assert_eq!(
            hostile::message(&message).1.as_deref(),
            Some(&*message),
            "the message is different after it is written and read again"
        );
    }
    is_taken
}
