//! Tests of the experiments on published documents. Each experiment must load, and must have the columns and values
//! that its claims name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use engines::{Codec, EngineOptions, MISMATCH};
use lsmbench_experiment::{AnswerFile, Experiment, Overrides, engine, read_engine};
use report::{ENGINE, Way};
use results::Schema;
use results::columns::ALL;
use toml::{Table, Value};
use workload::Kind;

/// Registers the variants of the `study` crate, as the program does.
static STUDY: LazyLock<()> = LazyLock::new(|| study::register().unwrap());

/// Returns the paths of all experiments on documents.
fn files() -> Vec<PathBuf> {
    LazyLock::force(&STUDY);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let folders = entries(&folder).into_iter().filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> = folders.flat_map(|folder| entries(&folder)).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.retain(|path| !path.ends_with("contradictions.toml"));
    files.sort();
    files
}

/// Returns the values that a claim can select in a column of the experiment's results.
fn values(experiment: &Experiment, column: &str) -> BTreeSet<String> {
    match column {
        "phase" => experiment.task.phases().into_iter().collect(),
        "operation" => [ALL].into_iter().chain(Kind::ALL.map(Kind::name)).map(str::to_owned).collect(),
        path => {
            let at = experiment.swept().iter().position(|swept| swept == path);
            let cells = experiment.cells.iter();
            at.map_or_else(BTreeSet::new, |at| cells.map(|cell| cell.swept[at].clone()).collect())
        }
    }
}

#[test]
fn every_experiment_of_a_document_loads_and_has_what_its_claims_name() {
    let mut wrong = Vec::new();
    let quick = Overrides { quick: true, ..Overrides::default() };
    for path in files() {
        let AnswerFile { sheet, runs, .. } = AnswerFile::read(&path).unwrap().expect("it answers something");
        if !runs {
            assert_eq!(sheet.count(Way::Run), 0, "{}", path.display());
            let problem = Experiment::load(&path, &quick).unwrap_err().to_string();
            assert!(
                problem.contains("computed.toml: this file has only claims and no workload"),
                "{problem}"
            );
            continue;
        }
        let [full, quick] = [&Overrides::default(), &quick].map(|overrides| {
            Experiment::load(&path, overrides).unwrap_or_else(|problem| panic!("{problem}"))
        });
        assert_eq!(full.sheet, sheet);
        assert!(!sheet.is_empty(), "{} answers nothing", path.display());
        let schema = Schema::runs(&full.swept()).unwrap();
        for (number, rule) in sheet.rules.iter().enumerate() {
            let mut fault = |key: &str, message: String| {
                wrong.push(format!("{}: claim {number}: {key}: {message}", path.display()));
            };
            let selecting: BTreeSet<&str> = rule.columns().map(|(_, column)| column).collect();
            for (key, column) in rule.columns() {
                match schema.find(column) {
                    Err(error) if column != ENGINE => fault(key, error.to_string()),
                    _ => {}
                }
            }
            // The available engines depend on the machine.
            let selecting = selecting.into_iter().filter(|column| *column != ENGINE);
            let selecting = selecting.filter(|column| schema.find(column).is_ok());
            for column in selecting.chain(["phase", "operation"]) {
                let there = values(&full, column).into_iter().chain(values(&quick, column));
                let there: BTreeSet<String> = there.chain([String::new()]).collect();
                for (key, value) in rule.values(column).filter(|(_, value)| !there.contains(*value)) {
                    let there = there.iter().cloned().collect::<Vec<_>>().join(", ");
                    fault(key, format!("{column} is never \"{value}\"; it is one of {there}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rule: if a document compares engines, no engine has the advantage of a codec that another engine lacks. LMDB is an
/// exception, because it also has no codec in the document. WiredTiger is an exception, because its codec is an
/// optional extension. The test does not depend on the available engines.
#[test]
fn engines_that_a_document_compares_compress_alike() {
    let mut compared = 0;
    for path in files() {
        let table: Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let swept = table.get("sweep").and_then(|sweep| sweep.get(ENGINE));
        let Some(Value::Array(engines)) = swept else { continue };
        let experiment = Experiment::load(&path, &Overrides::default()).unwrap();
        let options = EngineOptions::of(&experiment.cells[0].design);
        for choice in engines.iter().map(|engine| read_engine(engine).unwrap()) {
            let engine = engine(&choice);
            if engine.reads_whole_design() {
                continue;
            }
            compared += 1;
            let is_of_codecs = |line: &String| {
                line.strip_prefix(MISMATCH).is_some_and(|term| term.starts_with("compression"))
            };
            let unequal: Vec<String> = engine.mapping(&options).into_iter().filter(is_of_codecs).collect();
            let may_lack = options.codec == Codec::Snappy && ["lmdb", "wiredtiger"].contains(&choice.kind());
            assert!(unequal.is_empty() || may_lack, "{}: {unequal:?}", path.display());
        }
    }
    assert_eq!(compared, 6 + 6 + 5 + 6 + 3, "engines of E32 to E35");
}
