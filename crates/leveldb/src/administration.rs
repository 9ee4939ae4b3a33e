//! Removes or repairs a store. The store must not be open.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use storage::Storage;
use tree::{Design, OpenOptions, QUARANTINE};

use crate::design::design_of;
use crate::failure::Failure;
use crate::settings::Settings;

/// Removes the files of a store, and its directory if it contains no other file. Succeeds if the store does not exist.
pub(crate) fn destroy(settings: &Settings, directory: &Path) -> Result<(), Failure> {
    tree::destroy(&storage_of(&design_of(settings)?)?, directory)?;
    // A directory that is missing or that has other files stays as it is.
    for directory in [directory.join(QUARANTINE).as_path(), directory] {
        if let Err(error) = fs::remove_dir(directory)
            && !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty)
        {
            return Err(tree::Error::from(storage::StorageError::new("remove", directory, error)).into());
        }
    }
    Ok(())
}

/// Repairs a store: moves its corrupt files to its quarantine folder. The data in these files is lost.
pub(crate) fn repair(settings: &Settings, directory: &Path) -> Result<(), Failure> {
    let options = OpenOptions::new(design_of(settings)?).create_if_missing(false).quarantine(true);
    Ok(options.open(directory)?.close()?)
}

fn storage_of(design: &Design) -> Result<Arc<dyn Storage>, Failure> {
    let built = storage::CATALOG.build(design.choice("storage"));
    Ok(Arc::from(built.map_err(|error| Failure::invalid(error.message))?))
}
