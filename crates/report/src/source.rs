//! The figure or table of a document that an experiment reproduces: `[source]`.

use schemars::JsonSchema;
use serde::Deserialize;

/// The figure or table of a document that an experiment stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FigureSource {
    /// The document, by the name of its folder: `cs265`.
    pub document: String,
    /// The name of the figure in this repository: `E07`.
    pub figure: String,
    /// What the figure shows.
    pub title: String,
    /// The sections of the document that say something of it.
    pub sections: Vec<String>,
    /// What the document leaves open, each with the value used here and what another one would do.
    pub unspecified: Vec<String>,
}

impl FigureSource {
    /// The keys of the table.
    pub const KEYS: [&str; 5] = ["document", "figure", "title", "sections", "unspecified"];

    /// Rejects a source with a missing key: the key at fault and a message.
    ///
    /// # Errors
    /// A document, figure or title that is missing or empty.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let needed = [
            ("document", &self.document, "the folder that its claims are in: document = \"cs265\""),
            ("figure", &self.figure, "a figure: figure = \"E07\""),
            ("title", &self.title, "what the figure shows: title = \"…\""),
        ];
        match needed.into_iter().find(|(_, text, _)| text.trim().is_empty()) {
            None => Ok(()),
            Some((key, _, example)) => Err((key, format!("a source names {example}"))),
        }
    }
}
