//! The fixtures in an output folder: their size, their users, and their removal. Only this module removes fixtures. No
//! run uses the fixtures of an earlier build.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use results::{Folder, Manifest};
use types::{Outcome, Problem};

use super::fixture::{BEGUN, read_record};
use super::home::{FIXTURES, remove_folder};

/// A fixture in an output folder, or the remains of a killed build.
pub struct Kept {
    /// The name of the fixture.
    pub hash: String,
    folder: PathBuf,
    /// The size on the file system, in bytes.
    pub bytes: u64,
    /// The build time, RFC 3339; `None` for a fixture that was never complete.
    pub built: Option<String>,
    /// Whether a run is building the fixture now.
    pub is_in_work: bool,
    /// Whether runs of this program may use the fixture.
    pub is_current: bool,
    /// The origin of the fixture: experiment, configuration and phases. Empty if the origin was not recorded.
    pub made_by: String,
    /// The experiments whose results started from the fixture.
    pub experiments: Vec<String>,
}

/// The fixtures in an output folder, by name, for the program with this [identity](super::program_identity).
///
/// # Errors
/// The folder cannot be read.
pub fn kept(out: &Path, program: &str) -> Outcome<Vec<Kept>> {
    let root = out.join(FIXTURES);
    let manifests = manifests(out)?;
    let entries = match root.read_dir() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| Problem::doing(format!("read {}", root.display()), error))?,
    };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders.into_iter().map(|folder| Kept::of(folder, &manifests, program)).collect())
}

impl Kept {
    fn of(folder: PathBuf, manifests: &[Manifest], program: &str) -> Self {
        let hash = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_whole = folder.extension().is_none_or(|ending| ending != BEGUN);
        let record = read_record(&folder).ok().filter(|_| is_whole);
        let begins = |manifest: &&Manifest| manifest.fixtures.iter().any(|fixture| fixture.hash == hash);
        Self {
            bytes: engines::disk_bytes(&folder).unwrap_or(0),
            is_in_work: !is_whole && is_locked(&folder.with_extension("lock")),
            is_current: record.as_ref().is_some_and(|record| record.is_of(program)),
            made_by: record.as_ref().map_or_else(String::new, |record| record.made_by.clone()),
            built: record.map(|record| record.built),
            experiments: manifests
                .iter()
                .filter(begins)
                .map(|manifest| manifest.experiment.clone())
                .collect(),
            hash,
            folder,
        }
    }

    /// Removes the fixture.
    ///
    /// # Errors
    /// The file system does not permit the removal.
    pub fn remove(&self) -> Outcome<()> {
        remove_folder(&self.folder)?;
        // A run that waits for the lock finds no fixture then, and builds it.
        let _ = std::fs::remove_file(self.folder.with_extension("lock"));
        Ok(())
    }
}

/// Whether another process holds the lock of a fixture.
fn is_locked(path: &Path) -> bool {
    let found = File::open(path).ok().map(|file| file.try_lock_shared());
    matches!(found, Some(Err(TryLockError::WouldBlock)))
}

/// The readable manifests of the experiments in an output folder.
fn manifests(out: &Path) -> Outcome<Vec<Manifest>> {
    let entries = out.read_dir().map_err(|error| Problem::doing(format!("read {}", out.display()), error))?;
    let files = entries.flatten().map(|entry| Folder::new(entry.path()).manifest());
    Ok(files.filter(|file| file.is_file()).filter_map(|file| Manifest::read(&file).ok()).collect())
}
