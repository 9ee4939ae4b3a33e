//! Creates scratch folders for temporary files of runs. A scratch folder is removed at the end of its run. If the run
//! was killed, a later run in the same parent folder removes it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use types::{Outcome, Problem};

/// The prefix of the names of scratch folders, by which later runs find the folders of killed runs.
const PREFIX: &str = ".lsmbench-scratch-";

/// The minimum age at which an unlocked scratch folder is removed. A new folder may not be locked yet.
const LEAST_AGE: Duration = Duration::from_mins(1);

/// A scratch folder for temporary files, which is removed when this value is dropped.
pub struct Scratch {
    folder: TempDir,
    /// The lock that shows other processes that the folder is in use.
    _lock: Option<File>,
}

impl Scratch {
    /// Returns the path of the scratch folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Renames the scratch folder, so that no run removes it as an abandoned folder. Returns the new path.
    pub fn keep(self) -> PathBuf {
        let kept = self.folder.keep();
        let name =
            kept.file_name().unwrap_or_default().to_string_lossy().replacen(PREFIX, "lsmbench-kept-", 1);
        let target = kept.with_file_name(name);
        match std::fs::rename(&kept, &target) {
            Ok(()) => target,
            Err(_) => kept,
        }
    }
}

/// Creates a scratch folder in `folder`. If `folder` is `None`, creates it in the temporary folder of the operating
/// system.
///
/// # Errors
/// Returns an error if the folder `folder` does not exist or is not writable.
pub fn scratch(folder: Option<&Path>) -> Outcome<Scratch> {
    let system = std::env::temp_dir();
    let above = folder.unwrap_or(&system);
    for left in abandoned(above) {
        // A folder that cannot be removed belongs to another user.
        let _ = std::fs::remove_dir_all(left);
    }
    let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(above);
    let folder = made.map_err(|error| {
        Problem::doing(
            format!("make a folder in {}", above.display()),
            format!("{error}; name an existing folder that you may write to"),
        )
    })?;
    let lock = locked(folder.path());
    Ok(Scratch { folder, _lock: lock })
}

/// Returns the scratch folders in the folder `above` that no process uses any more.
fn abandoned(above: &Path) -> Vec<PathBuf> {
    let entries = above.read_dir().into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    let old = ours.filter(|entry| {
        let age = entry.metadata().ok().filter(std::fs::Metadata::is_dir);
        let age = age.and_then(|metadata| metadata.modified().ok()?.elapsed().ok());
        age.is_some_and(|age| age > LEAST_AGE)
    });
    old.map(|entry| entry.path()).filter(|path| locked(path).is_some()).collect()
}

/// Locks a scratch folder, so that no other process removes it. Returns `None` if another process holds the lock, or if
/// the file system does not support locks.
fn locked(folder: &Path) -> Option<File> {
    File::open(folder).ok().filter(|file| file.try_lock().is_ok())
}
