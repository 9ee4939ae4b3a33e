//! The features of the documented systems, from the file `features.csv`, and the settings or files of this repository
//! that implement them.

use std::path::Path;

use serde::Deserialize;

use crate::ClaimsError;

/// A feature of a system that a document describes, such as a compaction policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// The folder name of the document that describes the feature.
    pub system: String,
    /// The name of the feature, such as `tiered compaction`.
    pub feature: String,
    /// The sections of the published document that describe the feature.
    pub section: String,
    /// Whether an experiment can use the feature: fully, partly or not at all.
    pub reachable: Reach,
    /// The settings, files or folders that implement the feature, separated by `; `.
    pub path: String,
    /// The difference between this implementation and the document, or the missing part of the feature.
    pub note: String,
}

/// Whether an experiment of this repository can use a feature: fully, partly or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// The feature works as the published document describes it.
    Yes,
    /// The feature works only in part, or in another way than the published document describes.
    Partly,
    /// This repository does not implement the feature.
    No,
}

impl Reach {
    /// All values of this type, from fully available to missing.
    pub const ALL: [Self; 3] = [Self::Yes, Self::Partly, Self::No];

    /// Returns the name of this value in `features.csv`, such as `partly`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
        }
    }
}

impl Feature {
    /// Reads the features in the file `features.csv`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if a row is not a valid feature.
    pub fn read(path: &Path) -> Result<Vec<Self>, ClaimsError> {
        let file =
            |error: csv::Error| ClaimsError::File { path: path.to_owned(), message: error.to_string() };
        let mut reader = csv::Reader::from_path(path).map_err(file)?;
        reader.deserialize().map(|row| row.map_err(file)).collect()
    }

    /// Returns the settings, files or folders of this repository that implement the feature.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.path.split("; ").map(str::trim).filter(|place| !place.is_empty())
    }
}
