//! Manages the results folder of a run. A run checks the folder before it changes any file, and a lock prevents two
//! runs from using the folder at the same time. A new run moves earlier results to another folder.

use std::fs::{DirEntry, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use results::targets::{check_name, create_folder, refuse_link};
use results::{Folder, Manifest};
use storage::Held;
use types::{Outcome, Problem};

/// The names that an experiment cannot have, because folders of these names in the output folder contain other files.
const RESERVED: [&str; 5] = ["baseline", "charts", "report", EARLIER, FIXTURES];

/// The name of the folder for prepared stores (fixtures) in the output folder.
pub(super) const FIXTURES: &str = "fixtures";

/// The name of the folder in the output folder to which a new run moves earlier results.
const EARLIER: &str = "earlier";

/// The maximum number of attempts to remove the data folder of a trial. Removal may fail while the trial process of a
/// killed run still writes to the folder.
const REMOVALS: usize = 20;
const REMOVAL_PERIOD: Duration = Duration::from_millis(100);

/// The results folder of one experiment, with its lock and the manifest of an earlier run.
pub(super) struct Home {
    experiment: String,
    folder: Folder,
    /// The output folder, which contains this results folder.
    out: PathBuf,
    /// The file lock that prevents other runs from using the folder. `None` before the folder is locked.
    lock: Option<File>,
    /// The manifest of an earlier run in this folder. `None` if the folder contains no results.
    earlier: Option<Manifest>,
}

impl Home {
    /// Examines the results folder of an experiment in the output folder `out`, without changing any file.
    ///
    /// # Errors
    /// Returns an error if the name of the experiment is reserved, if the folder contains other files or results of
    /// another experiment, or if another run writes to the folder.
    pub(super) fn inspect(experiment: &str, out: &Path) -> Outcome<Self> {
        check_name(experiment)?;
        if RESERVED.contains(&experiment) {
            let message = format!(
                "the experiment cannot have the name \"{experiment}\", because lsmbench uses the folder of \
                 this name for other files; rename the experiment file"
            );
            return Err(Problem::new(message));
        }
        let folder = Folder::new(out.join(experiment));
        let mut home = Self {
            experiment: experiment.to_owned(),
            folder,
            out: out.to_owned(),
            lock: None,
            earlier: None,
        };
        let root = home.folder.root();
        let holds_something =
            root.read_dir().is_ok_and(|entries| entries.flatten().any(|entry| !is_begun(&entry)));
        if holds_something {
            home.lock = Some(lock(root)?);
            home.refuse_links()?;
            home.earlier = Some(home.read_earlier()?);
        }
        Ok(home)
    }

    /// Checks that the results folder contains no symbolic links, because a run would write to the targets of the
    /// links.
    fn refuse_links(&self) -> Outcome<()> {
        let entries = self.folder.root().read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).try_for_each(|path| refuse_link(&path))
    }

    fn read_earlier(&self) -> Outcome<Manifest> {
        let root = self.folder.root().display();
        let advice = "choose another folder with --out";
        if !self.folder.manifest().exists() {
            return Err(Problem::new(format!("{root} contains files other than results of a run; {advice}")));
        }
        let manifest = Manifest::read(&self.folder.manifest())
            .map_err(|error| Problem::new(format!("{error}; remove the folder, or {advice}")))?;
        if manifest.experiment != self.experiment {
            let other = manifest.experiment;
            return Err(Problem::new(format!(
                "{root} contains results of another experiment, {other}; {advice}"
            )));
        }
        Ok(manifest)
    }

    /// Returns the results folder of the experiment as a [`Folder`], which provides the paths of the result files.
    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the manifest of an earlier run in this folder, if one exists.
    pub(super) fn earlier(&self) -> Option<&Manifest> {
        self.earlier.as_ref()
    }

    /// Prepares the results folder for a run. Keeps the results of an earlier run if `resume` is true, and moves them
    /// to another folder otherwise. `line` prints the new location.
    pub(super) fn open(&mut self, resume: bool, line: fn(&str)) -> Outcome<()> {
        if self.earlier.is_some() && !resume {
            self.set_aside(line)?;
        }
        let root = self.folder.root();
        create_folder(root)?;
        if self.lock.is_none() {
            self.lock = Some(lock(root)?);
        }
        // Removes the incomplete files of a killed run.
        remove_begun(root);
        remove_begun(&self.folder.histograms());
        remove_folder(&self.data())
    }

    /// Returns the folder in which running trials store their data.
    pub(super) fn data(&self) -> PathBuf {
        self.folder.root().join("data")
    }

    /// Moves the results of an earlier run to the folder for earlier results. Deletes the data of killed trials.
    fn set_aside(&mut self, line: fn(&str)) -> Outcome<()> {
        remove_folder(&self.data())?;
        let started =
            self.earlier.take().map_or_else(String::new, |manifest| manifest.started.replace(':', ""));
        let folder = self.out.join(EARLIER);
        create_folder(&folder)?;
        let numbered = (1..).map(|number| match number {
            1 => folder.join(format!("{}-{started}", self.experiment)),
            _ => folder.join(format!("{}-{started}-{number}", self.experiment)),
        });
        let target = numbered
            .into_iter()
            .find(|target| !target.exists())
            .expect("the infinite sequence of numbers must contain a free folder name");
        std::fs::rename(self.folder.root(), &target)
            .map_err(|error| Problem::doing(format!("move {} aside", self.folder.root().display()), error))?;
        // The lock was moved with the folder.
        self.lock = None;
        line(&format!("{}: earlier results are now in {}", self.experiment, target.display()));
        Ok(())
    }
}

/// The prefix of the names of incomplete files. lsmbench renames a file when it is complete.
const BEGUN: &[u8] = b".tmp";

fn is_begun(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(BEGUN)
}

/// Removes the files of a folder that an earlier run left incomplete.
fn remove_begun(folder: &Path) {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    for entry in entries.filter(is_begun) {
        // A remaining file does no harm.
        let _ = std::fs::remove_file(entry.path());
    }
}

/// Locks a results folder until the returned file is closed, so that no other run can use the folder.
fn lock(folder: &Path) -> Outcome<File> {
    let file =
        File::open(folder).map_err(|error| Problem::doing(format!("open {}", folder.display()), error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Problem::new(format!(
            "another run ({1}) is writing {0}; wait for this run, or choose another folder with --out",
            folder.display(),
            Held::by(&file).user()
        ))),
        // Runs continue on a file system without locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// The folder with the data of one running trial. The folder is removed when this value is dropped.
pub(super) struct DataFolder(PathBuf);

impl DataFolder {
    pub(super) fn create(path: PathBuf) -> Outcome<Self> {
        remove_folder(&path)?;
        create_folder(&path)?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        // The next run removes the remaining files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Removes a folder, if the folder exists.
pub(super) fn remove_folder(folder: &Path) -> Outcome<()> {
    for again in (0..REMOVALS).rev() {
        match std::fs::remove_dir_all(folder) {
            Ok(()) => break,
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && again > 0 => {
                std::thread::sleep(REMOVAL_PERIOD);
            }
            Err(error) => return Err(Problem::doing(format!("remove {}", folder.display()), error)),
        }
    }
    Ok(())
}
