//! Folders for what runs write on the way, gone when they are over.

use std::path::Path;

use tempfile::TempDir;

use crate::problem::{Outcome, Problem};

/// A new folder in `folder`, or in that of the system for temporary files; it goes with this value.
///
/// # Errors
/// If there is no such folder, or nothing can be made in it.
pub(crate) fn scratch(folder: Option<&Path>) -> Outcome<TempDir> {
    let system = std::env::temp_dir();
    let folder = folder.unwrap_or(&system);
    let made = tempfile::Builder::new().prefix("lsmbench-").tempdir_in(folder);
    made.map_err(|error| {
        Problem::doing(
            format!("make a folder in {}", folder.display()),
            format!("{error}; name one that is there"),
        )
    })
}
