//! What documents say beyond their figures, as `experiments/` keeps it: contradictions, features, and what is asked first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use report::{Contradiction, Feature, Highlight, Highlighted, Settled, System};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::experiment::AnswerFile;
use crate::problem::{Outcome, Problem};

/// The file of contradictions, beside the claims of a document.
pub(super) const CONTRADICTIONS: &str = "contradictions.toml";
/// The file of questions, in the folder of all documents.
pub(super) const HIGHLIGHTS: &str = "highlights.toml";
/// The file of features, in the folder of all documents.
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

/// The contradictions of all documents that some files answer, held to what is computed.
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

/// The questions of a folder of documents, with what their claims came to.
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

/// The features of a folder of documents.
pub(super) fn features(folders: &[PathBuf]) -> Outcome<Vec<Feature>> {
    let mut all = Vec::new();
    for path in folders.iter().map(|folder| folder.join(FEATURES)).filter(|path| path.exists()) {
        all.extend(Feature::read(&path).map_err(|error| Problem::new(error.to_string()))?);
    }
    Ok(all)
}

/// The folders that some files lie in, each with one of them.
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
