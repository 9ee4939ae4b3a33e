//! Checks of the directories of column families, which the manifest of a store names.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use storage::Storage;

use crate::error::{Error, Result};
use crate::manifest::{self, FamilyIdentity, MANIFEST, State};
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

/// Returns an error if `directory` is the directory of one family of a store, or a copy of such a directory. The WAL of
/// the family is in the directory of the store, so the family cannot be opened without its store.
///
/// # Errors
/// The function also returns an error if the storage fails to read a manifest.
pub(crate) fn check_not_family(storage: &dyn Storage, directory: &Path) -> Result<()> {
    let shown = directory.display();
    if let Some((store, name)) = place_of(directory)
        && manifest_if_readable(storage, &store)?.is_some_and(|state| state.families.contains(&name))
    {
        let store = store.display();
        let message = format!(
            "{shown} is the family \"{name}\" of the store {store}; open {store} and select the family \"{name}\""
        );
        return Err(Error::Misuse(message));
    }
    let family = manifest_if_readable(storage, directory)?.and_then(|state| state.family);
    family.map_or(Ok(()), |FamilyIdentity { name, .. }| {
        let message = format!(
            "{shown} is the family \"{name}\" of a store, as its manifest states, but the WAL of the store is not in \
             the parent directory; copy the whole store, and open the copy"
        );
        Err(Error::Misuse(message))
    })
}

/// Returns the state of the store in the manifest of `directory`. Returns `None` if the manifest is missing, corrupt or
/// not readable for this process.
fn manifest_if_readable(storage: &dyn Storage, directory: &Path) -> Result<Option<State>> {
    match manifest::read(storage, directory) {
        Ok(found) => Ok(Some(found.state)),
        Err(Error::Storage(error)) => match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::PermissionDenied => Ok(None),
            _ => Err(error.into()),
        },
        Err(_) => Ok(None),
    }
}

/// Returns an error if `state`, which was read from the manifest in `directory`, does not belong to the column family
/// `expected`. A family that only earlier versions of lsmbench have opened has no identity, so the function does not
/// check it.
///
/// # Errors
/// If the manifest belongs to another family, to a family of another store, or to a store with families.
pub(crate) fn check_family(state: &State, directory: &Path, expected: &FamilyIdentity) -> Result<()> {
    let wrong = |owner: &str| {
        let what = format!("the manifest belongs to {owner}, not to the family \"{}\"", expected.name);
        Err(Error::damaged(&directory.join(MANIFEST), 0, what))
    };
    match &state.family {
        None if state.families.is_empty() => Ok(()),
        None => wrong("a store with families"),
        Some(FamilyIdentity { name, .. }) if *name != expected.name => {
            wrong(&format!("the family \"{name}\""))
        }
        Some(FamilyIdentity { store, .. }) if *store != expected.store => wrong("a family of another store"),
        Some(_) => Ok(()),
    }
}

/// Returns an error if the SSTables of a column family lack writes that the WAL of the store no longer contains.
/// `released` is the last sequence number of the family in the removed part of the WAL. `flushed` is the last sequence
/// number in the SSTables.
///
/// # Errors
/// If the manifest of the family is older than the manifest of the store.
pub(crate) fn check_progress(directory: &Path, released: u64, flushed: u64) -> Result<()> {
    if released <= flushed {
        return Ok(());
    }
    let what = format!(
        "the last writes of the family are missing: the SSTables in the manifest end with write {flushed}, \
         but the WAL of the store begins after write {released}. The manifest of the family is probably an \
         old copy"
    );
    Err(Error::damaged(&directory.join(MANIFEST), 0, what))
}

/// Returns an error if operations of a column family are missing before its next operation in the WAL of the store.
/// `first` is the sequence number of this operation, and `expected` is the number that it should have.
///
/// # Errors
/// If the manifest of the family and the manifest of the store are from different times.
pub(crate) fn check_continues(directory: &Path, first: u64, expected: u64) -> Result<()> {
    if first == expected {
        return Ok(());
    }
    let what = format!(
        "according to the manifest, the next write of the family is write {expected}, but the WAL of the \
         store continues with write {first}. The files of the family and of the store are probably copies \
         from different times"
    );
    Err(Error::damaged(&directory.join(MANIFEST), 0, what))
}

/// Splits the path of a directory into the path of its parent and its own name. Returns `None` for a directory without
/// a parent.
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
