//! The tables `[source]` and `[[claim]]` of an experiment file. These tables describe which figures of a published
//! document the experiment reproduces, and only the report reads these tables.

use std::path::{Path, PathBuf};

use report::{Claims, FigureSource, Rule, Sheet};
use serde::de::DeserializeOwned;
use toml::{Table, Value};
use types::{Outcome, Problem};

use super::file::SourceFile;
use super::reading;

/// The keys of an experiment file that only `lsmbench report` reads.
pub(super) const KEYS: [&str; 2] = ["source", "claim"];

/// An experiment file that reproduces figures of a published document, together with the measured statements (claims)
/// in this document.
#[derive(Clone, Debug)]
pub struct AnswerFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The tables `[source]` and `[[claim]]` of the file: the figures to reproduce, and the rules that compare
    /// published values with results.
    pub sheet: Sheet,
    /// All measured statements (claims) in the published document, from its file `claims.csv`.
    pub claims: Claims,
    /// Whether the file also contains an experiment to run. `false` if its only tables are `[source]` and `[[claim]]`.
    pub runs: bool,
}

impl AnswerFile {
    /// Reads the tables `[source]` and `[[claim]]` of an experiment file, and the file `claims.csv` in the same folder.
    /// Returns `None` if the file has neither of these tables.
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

    /// Returns the name of the experiment file with the name of its folder, such as `cs265/e01-hash-speed.toml`.
    pub fn name(&self) -> String {
        let parts: Vec<_> = self.path.iter().map(|part| part.to_string_lossy()).collect();
        parts[parts.len().saturating_sub(2)..].join("/")
    }
}

/// Reads the tables `[source]` and `[[claim]]` of a file, and checks them.
pub(super) fn read_sheet(file: &SourceFile) -> Outcome<Sheet> {
    let sheet = Sheet {
        sources: tables::<FigureSource>(file, "source", &FigureSource::KEYS, &[])?,
        rules: tables::<Rule>(file, "claim", &Rule::KEYS, &["ids"])?,
    };
    sheet.check().map_err(|fault| at(file, fault.table, fault.number, fault.key, fault.message))?;
    Ok(sheet)
}

/// Returns whether a file has no experiment to run, because it contains only the tables `[source]` and `[[claim]]`.
pub(super) fn is_computed(file: &SourceFile) -> bool {
    KEYS.iter().any(|key| file.table.contains_key(*key))
        && file.table.keys().all(|key| KEYS.contains(&key.as_str()))
}

/// Reads all tables with the name `name` in a file: none, one table, or an array of tables. `keys` lists the valid keys
/// of a table, and `needed` lists the required keys.
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
        Some(_) => return Err(file.problem(&[name], format!("expected tables: [[{name}]]"))),
    };
    let read = |(number, table)| {
        let read = reading::read(name, table, keys, needed);
        read.map_err(|error| at(file, name, number, &error.key.unwrap_or_default(), error.message))
    };
    all.into_iter().enumerate().map(read).collect()
}

/// Creates an error about the key `key` of a table with the name `name`. If the file has an array of such tables,
/// `number` is the index of the table.
fn at(file: &SourceFile, name: &str, number: usize, key: &str, message: impl Into<String>) -> Problem {
    match file.table.get(name) {
        Some(Value::Array(_)) => file.problem(&[name, &number.to_string(), key], message),
        _ => file.problem(&[name, key], message),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use report::Way;

    use super::*;

    #[test]
    fn what_is_wrong_behind_an_experiment_has_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        let head =
            "question = \"?\"\n[source]\ndocument = \"d\"\nfigure = \"E1\"\ntitle = \"t\"\n[[claim]]\n";
        let good = "ids = \"d-1\"\nmetric = \"m\"\ncolumn = \"ops\"\ncompare = \"value\"\n";
        let cases: BTreeMap<&str, &str> = BTreeMap::from([
            ("idz = \"d-1\"", ":7: claim.idz: unknown key \"idz\"; did you mean \"ids\"?"),
            ("ids = \"d\"", ":7: claim.ids: \"d\" is not the name of a claim"),
            (
                "ids = \"d-1\"\nmetric = \"m\"\ncompare = \"ratoi\"",
                ":9: claim.compare: unknown name \"ratoi\"; did you mean \"ratio\"?",
            ),
            (
                "ids = \"d-1\"\nmetric = \"m\"\ncompare = \"value\"",
                "x.toml:6: claim.column: \"column\" is missing",
            ),
            (
                "ids = \"d-1\"\nmetric = \"m\"\ncolumn = \"ops\"\ncompare = \"ratio\"",
                "x.toml:6: claim.to: \"to\" is missing",
            ),
            (
                "ids = \"d-1\"\nuntestable = \"so\"\ncolumn = \"ops\"",
                ":9: claim.column: \"column\" has no effect together with \"untestable\"",
            ),
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
