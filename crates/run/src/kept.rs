//! Lists and removes the fixtures (prepared stores) in an output folder. lsmbench removes fixtures only in this module,
//! so fixtures of earlier program versions remain until the user removes them.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use results::{Folder, Manifest};
use types::{Outcome, Problem};

use super::fixture::{BEGUN, read_record};
use super::home::{FIXTURES, remove_folder};

/// A fixture in an output folder, or the incomplete files of a killed build.
pub struct Kept {
    /// The name of the fixture, which is the hash of all settings that determine its bytes.
    pub hash: String,
    folder: PathBuf,
    /// The size of the fixture on the file system, in bytes.
    pub bytes: u64,
    /// The time at which the fixture was built, in RFC 3339 format. `None` if the build was not completed.
    pub built: Option<String>,
    /// Whether a run is building the fixture at the moment.
    pub is_in_work: bool,
    /// Whether this version of the program can use the fixture.
    pub is_current: bool,
    /// The origin of the fixture as text: the experiment, the configuration and the phases. Empty if unknown.
    pub made_by: String,
    /// The experiments whose results started from the fixture.
    pub experiments: Vec<String>,
}

/// Returns the fixtures in an output folder, sorted by name. `program` is the [identity](super::program_identity) of
/// this program.
///
/// # Errors
/// Returns an error if the folder cannot be read.
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

    /// Removes the files of the fixture.
    ///
    /// # Errors
    /// Returns an error if the files cannot be removed.
    pub fn remove(&self) -> Outcome<()> {
        remove_folder(&self.folder)?;
        // A run that waits for the lock finds no fixture then, and builds it.
        let _ = std::fs::remove_file(self.folder.with_extension("lock"));
        Ok(())
    }
}

/// Returns whether another process uses a fixture and therefore holds its lock.
fn is_locked(path: &Path) -> bool {
    let found = File::open(path).ok().map(|file| file.try_lock_shared());
    matches!(found, Some(Err(TryLockError::WouldBlock)))
}

/// Returns the manifests of all experiments in an output folder. Skips manifests that cannot be read.
fn manifests(out: &Path) -> Outcome<Vec<Manifest>> {
    let entries = out.read_dir().map_err(|error| Problem::doing(format!("read {}", out.display()), error))?;
    let files = entries.flatten().map(|entry| Folder::new(entry.path()).manifest());
    Ok(files.filter(|file| file.is_file()).filter_map(|file| Manifest::read(&file).ok()).collect())
}
