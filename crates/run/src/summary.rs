//! Appends reports to a file, such as the summary page of a CI job.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use types::{Outcome, Problem};

/// Appends a text to a file. Creates the file if it does not exist.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn append(path: &Path, text: &str) -> Outcome<()> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| Problem::doing(format!("write {}", path.display()), error))
}
