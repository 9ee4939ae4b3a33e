//! The features of the systems, and where each is reached: `features.csv`.

use std::path::Path;

use serde::Deserialize;

use crate::ClaimsError;

/// A feature of a system.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// The document, by its folder.
    pub system: String,
    /// What it is.
    pub feature: String,
    /// The sections of the document that have it.
    pub section: String,
    /// Whether it is reached.
    pub reachable: Reach,
    /// Where; several places stand with `; ` between them.
    pub path: String,
    /// What is different, or what it would take.
    pub note: String,
}

/// Whether a feature is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// As the document has it.
    Yes,
    /// In part, or another way.
    Partly,
    /// Not.
    No,
}

impl Reach {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Yes, Self::Partly, Self::No];

    /// As the file writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
        }
    }
}

impl Feature {
    /// Reads `features.csv`.
    ///
    /// # Errors
    /// A file that cannot be read, or a row that is no feature.
    pub fn read(path: &Path) -> Result<Vec<Self>, ClaimsError> {
        let file =
            |error: csv::Error| ClaimsError::File { path: path.to_owned(), message: error.to_string() };
        let mut reader = csv::Reader::from_path(path).map_err(file)?;
        reader.deserialize().map(|row| row.map_err(file)).collect()
    }

    /// The places where it is reached.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.path.split("; ").map(str::trim).filter(|place| !place.is_empty())
    }
}
