//! The table `[source]` of an experiment file. It names the figure of a published document that the experiment
//! reproduces.

use schemars::JsonSchema;
use serde::Deserialize;

/// The figure or table of a published document that an experiment reproduces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FigureSource {
    /// Folder name of the document, such as `cs265`.
    pub document: String,
    /// Name of the figure in this repository, such as `E07`.
    pub figure: String,
    /// Title of the figure in the published document.
    pub title: String,
    /// Sections of the published document that describe the figure.
    pub sections: Vec<String>,
    /// Parameters that the document does not state, each with the value used here and the effect of other values.
    pub unspecified: Vec<String>,
}

impl FigureSource {
    /// The keys that a `[source]` table of an experiment file may have.
    pub const KEYS: [&str; 5] = ["document", "figure", "title", "sections", "unspecified"];

    /// Checks that the necessary keys of a `[source]` table are set.
    ///
    /// # Errors
    /// Returns the key and a message if `document`, `figure` or `title` is missing or empty.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let needed = [
            (
                "document",
                &self.document,
                "set \"document\" to the folder of the claims, such as document = \"cs265\"",
            ),
            ("figure", &self.figure, "set \"figure\" to the name of the figure, such as figure = \"E07\""),
            ("title", &self.title, "set \"title\" to a description of the figure"),
        ];
        match needed.into_iter().find(|(_, text, _)| text.trim().is_empty()) {
            None => Ok(()),
            Some((key, _, example)) => Err((key, format!("a necessary key is missing; {example}"))),
        }
    }
}
