//! What stands behind an experiment for the report: `[source]` and `[[claim]]`. A run does not read it.

use std::path::{Path, PathBuf};

use report::{Claims, FigureSource, Rule, Sheet};
use serde::de::DeserializeOwned;
use toml::{Table, Value};
use types::{Outcome, Problem};

use super::file::SourceFile;
use super::reading;

/// The keys of a file that only the report reads.
pub(super) const KEYS: [&str; 2] = ["source", "claim"];

/// A file that answers figures of a document, with the claims of that document.
#[derive(Clone, Debug)]
pub struct AnswerFile {
    /// The file.
    pub path: PathBuf,
    /// What it answers, and how.
    pub sheet: Sheet,
    /// All claims of the document.
    pub claims: Claims,
    /// Whether there is an experiment in it.
    pub runs: bool,
}

impl AnswerFile {
    /// Reads a file, and the claims beside it; nothing where it answers nothing.
    pub fn read(path: &Path) -> Outcome<Option<Self>> {
        let file = SourceFile::read(path)?;
        let sheet = read_sheet(&file)?;
        if sheet.is_empty() {
            return Ok(None);
        }
        let claims = Claims::read(&file.folder().join("claims.csv"));
        let claims = claims.map_err(|error| Problem::new(error.to_string()))?;
        let fits = sheet.check_against(&claims);
        fits.map_err(|fault| at(&file, fault.table, fault.number, fault.key, fault.message))?;
        Ok(Some(Self { path: path.to_owned(), sheet, claims, runs: !is_computed(&file) }))
    }

    /// The file by its folder and name: `cs265/e01-hash-speed.toml`.
    pub fn name(&self) -> String {
        let parts: Vec<_> = self.path.iter().map(|part| part.to_string_lossy()).collect();
        parts[parts.len().saturating_sub(2)..].join("/")
    }
}

/// What a file answers, and how.
pub(super) fn read_sheet(file: &SourceFile) -> Outcome<Sheet> {
    let sheet = Sheet {
        sources: tables::<FigureSource>(file, "source", &FigureSource::KEYS, &[])?,
        rules: tables::<Rule>(file, "claim", &Rule::KEYS, &["ids"])?,
    };
    sheet.check().map_err(|fault| at(file, fault.table, fault.number, fault.key, fault.message))?;
    Ok(sheet)
}

/// Whether a file holds nothing that could run, but claims that are computed.
pub(super) fn is_computed(file: &SourceFile) -> bool {
    KEYS.iter().any(|key| file.table.contains_key(*key))
        && file.table.keys().all(|key| KEYS.contains(&key.as_str()))
}

/// The tables of a name: one, or several.
fn tables<T: DeserializeOwned>(
    file: &SourceFile,
    name: &str,
    keys: &[&str],
    needed: &[&str],
) -> Outcome<Vec<T>> {
    let all: Vec<&Table> = match file.table.get(name) {
        None => Vec::new(),
        Some(Value::Table(table)) => vec![table],
        Some(Value::Array(tables)) => tables.iter().filter_map(Value::as_table).collect(),
        Some(_) => return Err(file.problem(&[name], format!("{name} is a table: [[{name}]]"))),
    };
    let read = |(number, table)| {
        let read = reading::read(name, table, keys, needed);
        read.map_err(|error| at(file, name, number, &error.key.unwrap_or_default(), error.message))
    };
    all.into_iter().enumerate().map(read).collect()
}

/// A problem with a key of one of the tables of a name.
fn at(file: &SourceFile, name: &str, number: usize, key: &str, message: impl Into<String>) -> Problem {
    match file.table.get(name) {
        Some(Value::Array(_)) => file.problem(&[name, &number.to_string(), key], message),
        _ => file.problem(&[name, key], message),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::{Path, PathBuf};

    use engines::{Codec, EngineOptions, UNEQUAL};
    use report::{ENGINE, Way};
    use results::Schema;

    use super::*;
    use crate::{Experiment, Overrides, engine, read_engine};

    fn files() -> Vec<PathBuf> {
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

    /// The values that a selecting column has in any cell of the experiment.
    fn values(experiment: &Experiment, column: &str) -> BTreeSet<String> {
        match column {
            "phase" => experiment.task.phases().into_iter().collect(),
            "operation" => super::super::presentation::operations(&experiment.task)
                .into_iter()
                .map(str::to_owned)
                .collect(),
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
            let file = SourceFile::read(&path).unwrap();
            let sheet = read_sheet(&file).unwrap();
            if is_computed(&file) {
                assert_eq!(sheet.count(Way::Run), 0, "{}", path.display());
                let problem = Experiment::load(&path, &quick).unwrap_err().to_string();
                assert!(problem.contains("computed.toml: nothing in this file runs"), "{problem}");
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
                    wrong.push(at(&file, "claim", number, key, message).to_string());
                };
                let selecting: BTreeSet<&str> = rule.columns().map(|(_, column)| column).collect();
                for (key, column) in rule.columns() {
                    match schema.find(column) {
                        Err(error) if column != ENGINE => fault(key, error.to_string()),
                        _ => {}
                    }
                }
                // Which engines there are, the machine decides.
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

    /// Comparisons of engines that a document makes: no engine is ahead by a codec that another one lacks, whichever
    /// engines are here. LMDB has none in the document either; WiredTiger's is an extension, which may not be here.
    #[test]
    fn engines_that_a_document_compares_compress_alike() {
        let mut compared = 0;
        for path in files() {
            let file = SourceFile::read(&path).unwrap();
            let swept = file.table.get("sweep").and_then(|sweep| sweep.get(ENGINE));
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
                    line.strip_prefix(UNEQUAL).is_some_and(|term| term.starts_with("compression"))
                };
                let unequal: Vec<String> =
                    engine.mapping(&options).into_iter().filter(is_of_codecs).collect();
                let may_lack =
                    options.codec == Codec::Snappy && ["lmdb", "wiredtiger"].contains(&choice.kind());
                assert!(unequal.is_empty() || may_lack, "{}: {unequal:?}", path.display());
            }
        }
        assert_eq!(compared, 6 + 6 + 5 + 6 + 3, "engines of E32 to E35");
    }

    #[test]
    fn what_is_wrong_behind_an_experiment_has_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        let head =
            "question = \"?\"\n[source]\ndocument = \"d\"\nfigure = \"E1\"\ntitle = \"t\"\n[[claim]]\n";
        let good = "ids = \"d-1\"\nmetric = \"m\"\ncolumn = \"ops\"\ncompare = \"value\"\n";
        let cases: BTreeMap<&str, &str> = BTreeMap::from([
            ("idz = \"d-1\"", ":7: claim has no \"idz\"; did you mean \"ids\"?"),
            ("ids = \"d\"", ":7: claim.ids: \"d\" is no name of a claim"),
            (
                "ids = \"d-1\"\nmetric = \"m\"\ncompare = \"ratoi\"",
                ":9: claim.compare: there is no \"ratoi\"; did you mean \"ratio\"?",
            ),
            ("ids = \"d-1\"\nmetric = \"m\"\ncompare = \"value\"", "x.toml:6: what is measured?"),
            (
                "ids = \"d-1\"\nmetric = \"m\"\ncolumn = \"ops\"\ncompare = \"ratio\"",
                "x.toml:6: compared with what?",
            ),
            ("ids = \"d-1\"\nuntestable = \"so\"\ncolumn = \"ops\"", ":9: the claims are untestable"),
        ]);
        for (claim, said) in cases {
            std::fs::write(&path, format!("{head}{claim}\n")).unwrap();
            let error = read_sheet(&SourceFile::read(&path).unwrap()).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        std::fs::write(&path, format!("{head}{good}")).unwrap();
        assert_eq!(read_sheet(&SourceFile::read(&path).unwrap()).unwrap().count(Way::Run), 1);
    }
}
