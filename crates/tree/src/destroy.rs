//! Removes a store from its directory.

use std::path::Path;
use std::sync::Arc;

use storage::Storage;

use crate::error::Result;
use crate::recovery::{Files, LOCK, QUARANTINE, lock};
use crate::scanned::{mark_complete, mark_incomplete};

/// Removes all files of the store in `directory`, including its quarantine and the trees of its families. The
/// directories and all other files remain. If the directory is missing or empty, the function does nothing.
///
/// # Errors
/// If the store is in use, if the directory has files but no store, or if a file cannot be removed.
pub fn destroy(storage: &Arc<dyn Storage>, directory: &Path) -> Result<()> {
    let files = Files::of_existing(&**storage, directory)?;
    if !files.are_of_a_tree() {
        return files.check_ours(directory);
    }
    let _lock = lock(&**storage, directory)?;
    let files = Files::list(&**storage, directory)?;
    // The trees of the families are removed first. After an interruption, the store lacks some of these trees and does
    // not open. If the manifest is corrupt, the names of the families are unknown, and their trees remain.
    let found = files.read_manifest(&**storage, directory);
    for name in found.map_or_else(|_| Vec::new(), |found| found.state.families) {
        destroy(storage, &directory.join(name))?;
    }
    // `names` returns the manifest first, and a store without its manifest does not open. An interrupted removal
    // therefore leaves no store with missing data.
    let is_marked = files.is_incomplete() || (files.has_state() && !files.has_manifest());
    if is_marked {
        mark_incomplete(&**storage, directory)?;
    }
    for name in files.names() {
        storage.remove(&directory.join(name))?;
    }
    if is_marked {
        mark_complete(&**storage, directory)?;
    }
    let quarantine = directory.join(QUARANTINE);
    for name in storage.list(&quarantine).unwrap_or_default() {
        storage.remove(&quarantine.join(name))?;
    }
    storage.remove(&directory.join(LOCK))?;
    storage.sync_directory(directory)?;
    Ok(())
}
