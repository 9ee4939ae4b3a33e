//! The files of a site.

/// A file of the generated site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// The path of the file, relative to the folder of the site.
    pub path: String,
    /// The content of the file.
    pub content: String,
}

impl SiteFile {
    pub(crate) fn new(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self { path: path.into(), content: content.into() }
    }
}
