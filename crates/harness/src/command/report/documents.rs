//! Reads the files about published documents in `experiments/`: their contradictions, the features of their systems,
//! and the questions for the first page of the report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use experiment::AnswerFile;
use report::{Contradiction, Feature, Highlight, Highlighted, Settled, System};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use types::{Outcome, Problem};

/// The name of the file with the contradictions in a document. The file is in the folder with the claims of the
/// document.
pub(super) const CONTRADICTIONS: &str = "contradictions.toml";
/// The name of the file with the questions for the first page of the report. The file is in the folder that contains
/// the folders of all documents.
pub(super) const HIGHLIGHTS: &str = "highlights.toml";
/// The name of the file with the features of the published systems. The file is in the folder above the folders of the
/// documents.
const FEATURES: &str = "features.csv";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contradictions {
    contradiction: Vec<Contradiction>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Highlights {
    highlight: Vec<Highlight>,
}

/// Returns the contradictions in the documents that `files` reproduce. For each side of a contradiction, lsmbench
/// compares the number in the document with a computed number. These comparisons determine the ruling on the
/// contradiction.
///
/// # Errors
/// A file with contradictions cannot be read, or a contradiction cannot be checked.
pub(super) fn contradictions(files: &[AnswerFile]) -> Outcome<Vec<Settled>> {
    let mut settled = Vec::new();
    for (folder, file) in folders(files) {
        let path = folder.join(CONTRADICTIONS);
        if !path.exists() {
            continue;
        }
        let document = file.sheet.sources.first().map_or("", |source| source.document.as_str());
        for contradiction in read::<Contradictions>(&path)?.contradiction {
            let one = contradiction.settle(document, &file.claims);
            settled.push(one.map_err(|message| Problem::at(&path, None, message))?);
        }
    }
    Ok(settled)
}

/// Reads the questions for the first page from `folders`, each with the findings about its claims. A folder without the
/// file [`HIGHLIGHTS`] is skipped.
pub(super) fn highlights(folders: &[PathBuf], systems: &[System]) -> Outcome<Vec<Highlighted>> {
    let mut all = Vec::new();
    for path in folders.iter().map(|folder| folder.join(HIGHLIGHTS)).filter(|path| path.exists()) {
        for highlight in read::<Highlights>(&path)?.highlight {
            let found = highlight.look_up(systems);
            all.push(found.map_err(|message| Problem::at(&path, None, message))?);
        }
    }
    Ok(all)
}

/// Reads the features of published systems from `folders`. A folder without the file [`FEATURES`] is skipped.
pub(super) fn features(folders: &[PathBuf]) -> Outcome<Vec<Feature>> {
    let mut all = Vec::new();
    for path in folders.iter().map(|folder| folder.join(FEATURES)).filter(|path| path.exists()) {
        all.extend(Feature::read(&path).map_err(|error| Problem::new(error.to_string()))?);
    }
    Ok(all)
}

/// Returns each folder that contains at least one of the experiment files `files`, with the first of these files in it.
fn folders(files: &[AnswerFile]) -> BTreeMap<&Path, &AnswerFile> {
    files.iter().rev().filter_map(|file| Some((file.path.parent()?, file))).collect()
}

fn read<T: DeserializeOwned>(path: &Path) -> Outcome<T> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Problem::doing(format!("read {}", path.display()), error))?;
    toml::from_str(&text).map_err(|error: toml::de::Error| {
        let before = error.span().map(|span| text[..span.start].lines().count().max(1));
        Problem::at(path, before, error.message().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use clap::Parser;
    use report::Reach;
    use toml::{Table, Value};

    use super::*;
    use crate::cli::Cli;
    use experiment::{ENGINE, Experiment, Overrides, engine, read_engine};

    /// Top-level TOML keys of an experiment to which an entry of `features.csv` may refer.
    const TOP: [&str; 2] = ["key", "subject"];

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// Creates an experiment with the setting that an entry of `features.csv` names. If the setting is a list, the
    /// experiment sweeps the list.
    ///
    /// A setting of a component experiment belongs to the component `subject`.
    fn experiment(path: &str, value: Value, subject: Option<&Value>) -> String {
        let phase: Table =
            "name = \"p\"\noperations = 1000\nmix = { put = 0.5, get = 0.25, range = 0.125, batch = 0.125 }"
                .parse()
                .unwrap();
        let mut table = Table::from_iter([("question".to_owned(), Value::from("?"))]);
        let first = path.split('.').next().unwrap();
        let load: Table = "name = \"load\"\ninsert = 1000".parse().unwrap();
        let mut phases = vec![Value::Table(load), Value::Table(phase)];
        match (first, path.split_once('.')) {
            ("phase", Some((_, key))) => {
                phases[1].as_table_mut().unwrap().insert(key.to_owned(), value);
            }
            ("subject", None) => {
                table.insert(path.to_owned(), value);
                phases.clear();
            }
            ("component", Some(_)) => {
                table.extend(subject.map(|subject| ("subject".to_owned(), subject.clone())));
                let values = if value.is_array() { value } else { Value::Array(vec![value]) };
                table.insert("sweep".to_owned(), Table::from_iter([(path.to_owned(), values)]).into());
                phases.clear();
            }
            ("trials", Some((_, key))) => {
                table.insert("trials".to_owned(), Table::from_iter([(key.to_owned(), value)]).into());
            }
            ("design", None) => {
                table.insert(path.to_owned(), value);
            }
            ("engine", None) => {
                let both = Value::Array(vec!["lsmbench".into(), value]);
                table.insert("sweep".to_owned(), Table::from_iter([(path.to_owned(), both)]).into());
            }
            (top, None) if TOP.contains(&top) => {
                table.insert(path.to_owned(), value);
            }
            _ => {
                let values = if value.is_array() { value } else { Value::Array(vec![value]) };
                table.insert(
                    "sweep".to_owned(),
                    Table::from_iter([(format!("design.{path}"), values)]).into(),
                );
            }
        }
        if !phases.is_empty() {
            table.insert("phase".to_owned(), phases.into());
        }
        table.to_string()
    }

    /// Registers the variants from the published documents, as the program does at its start.
    static STUDY: LazyLock<()> = LazyLock::new(|| study::register().expect("nothing was looked up before"));

    /// Returns the component that a place in an entry names by `subject = "..."`.
    fn subject(place: &str) -> Option<Value> {
        let (_, value) = place.split_once(" = ").filter(|(path, _)| *path == "subject")?;
        format!("value = {value}").parse::<Table>().ok()?.remove("value")
    }

    /// Returns the reason why a place in `features.csv` does not exist. Returns `None` if the place exists. `subject`
    /// is the component that another place of the same entry names.
    fn refused(place: &str, subject: Option<&Value>, folder: &Path) -> Option<String> {
        LazyLock::force(&STUDY);
        if place.starts_with("crates/") || place.starts_with("experiments/") {
            return (!root().join(place).exists()).then(|| format!("there is no {place}"));
        }
        if place.starts_with("configs/") {
            let loaded = Experiment::load(&root().join(place), &Overrides::default());
            return loaded.err().map(|refusal| refusal.to_string());
        }
        if place.starts_with("lsmbench ") {
            return Cli::try_parse_from(place.split_whitespace()).err().map(|error| error.to_string());
        }
        let Some((path, value)) = place.split_once(" = ") else {
            return Some("it is neither a file, nor a command, nor path = value".to_owned());
        };
        let value: Table = match format!("value = {value}").parse() {
            Ok(table) => table,
            Err(error) => return Some(error.to_string()),
        };
        let file = folder.join("e.toml");
        std::fs::write(&file, experiment(path, value["value"].clone(), subject)).unwrap();
        if path == ENGINE && is_known_and_absent(&value["value"]) {
            return None;
        }
        Experiment::load(&file, &Overrides::default()).err().map(|refusal| refusal.to_string())
    }

    /// Returns whether a value is the name of a known engine that is not installed or not part of this build.
    fn is_known_and_absent(value: &Value) -> bool {
        read_engine(value).is_ok_and(|choice| engine(&choice).identify().is_err())
    }

    #[test]
    fn what_reaches_a_feature_can_be_said() {
        let (folder, mut wrong, mut places) = (tempfile::tempdir().unwrap(), Vec::new(), 0);
        for feature in features(&[root().join("experiments")]).unwrap() {
            let subject = feature.places().find_map(subject);
            for place in feature.places() {
                places += 1;
                wrong.extend(
                    refused(place, subject.as_ref(), folder.path()).map(|why| format!("{place}: {why}")),
                );
            }
            let says_where = !feature.path.is_empty() || !feature.note.is_empty();
            assert!(says_where || feature.reachable != Reach::Yes, "{}: reached by what?", feature.feature);
            assert!(feature.reachable != Reach::No || feature.path.is_empty(), "{}", feature.feature);
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(places > 130, "{places} places");
    }

    /// Tests that notes refer only to existing contradictions. A note refers to a contradiction by its number, such
    /// as "contradiction S32".
    #[test]
    fn contradictions_in_notes_exist() {
        let mut named = 0;
        for feature in features(&[root().join("experiments")]).unwrap() {
            let file = root().join("experiments").join(&feature.system).join(CONTRADICTIONS);
            for number in feature.note.split("contradiction ").skip(1) {
                let number =
                    number.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
                let known = read::<Contradictions>(&file).unwrap().contradiction;
                assert!(known.iter().any(|one| one.id == number), "{}: {number}", feature.feature);
                named += 1;
            }
        }
        assert!(named > 3, "{named}");
    }

    #[test]
    fn what_cannot_be_said_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for place in [
            "bloom = \"blom\"",
            "bloom = { kind = \"standard\", bits = 3 }",
            "blom = \"standard\"",
            "phase.mix = { gte = 1 }",
            "subject = \"blom\"",
            "component.trees = 2",
            "crates/none",
            "lsmbench tortrue",
            "bloom",
        ] {
            assert!(refused(place, None, folder.path()).is_some(), "{place}");
        }
    }
}
