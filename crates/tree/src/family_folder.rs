//! The directories of the column families of a store, as the manifest of the store names them.

use std::path::{Path, PathBuf};

use storage::Storage;

use crate::error::{Error, Result};
use crate::manifest;
use crate::recovery::Files;

/// Returns the names of the column families of the store in `directory`. The list is empty if the directory has no
/// store, or a store without families.
///
/// # Errors
/// If the manifest is corrupt or cannot be read.
pub fn family_names(storage: &dyn Storage, directory: &Path) -> Result<Vec<String>> {
    match Files::of_existing(storage, directory)?.has_manifest() {
        true => Ok(manifest::read(storage, directory)?.state.families),
        false => Ok(Vec::new()),
    }
}

/// Returns an error if the directory is one family of a store. The WAL of the family is in the directory of the store,
/// so the family cannot be opened without its store.
pub(crate) fn check_not_family(storage: &dyn Storage, directory: &Path) -> Result<()> {
    let Some((store, name)) = place_of(directory) else { return Ok(()) };
    // Usually, the parent has no manifest. If a manifest in the parent is unreadable, the parent does not count as a
    // store.
    if manifest::read(storage, &store).is_ok_and(|found| found.state.families.contains(&name)) {
        let (directory, store) = (directory.display(), store.display());
        let message = format!(
            "{directory} is the family \"{name}\" of the store {store}; open {store} and select the family \"{name}\""
        );
        return Err(Error::Misuse(message));
    }
    Ok(())
}

/// Returns the parent of a directory, and the name of the directory. Returns `None` for a directory without a parent.
fn place_of(directory: &Path) -> Option<(PathBuf, String)> {
    let named = |path: &Path| {
        let name = path.file_name()?.to_str()?.to_owned();
        let parent = path.parent()?;
        let is_relative = parent.as_os_str().is_empty();
        Some((if is_relative { PathBuf::from(".") } else { parent.to_owned() }, name))
    };
    // A path such as `.` has no name of its own.
    named(directory).or_else(|| named(&std::path::absolute(directory).ok()?))
}
