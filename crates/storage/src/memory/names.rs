//! The names of files on a disk: the current names, and the durable names.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::content::Inode;

/// The files on the simulated disk, by their names.
type Files = BTreeMap<PathBuf, Arc<Inode>>;

/// The file names on the simulated disk: the durable names, and the pending changes that lead to the current names.
#[derive(Default)]
pub(super) struct Names {
    directories: BTreeSet<PathBuf>,
    current: Files,
    durable: Files,
    /// The changes of names that are not durable yet, in order. They lead from the durable names to the current names.
    pending: Vec<Change>,
}

/// An atomic change of file names. After a crash, the change has happened completely or not at all.
#[derive(Clone)]
enum Change {
    Link(PathBuf, Arc<Inode>),
    Unlink(PathBuf),
    Rename { from: PathBuf, to: PathBuf },
}

impl Change {
    fn apply(&self, files: &mut Files) {
        match self {
            Self::Link(path, inode) => {
                files.insert(path.clone(), Arc::clone(inode));
            }
            Self::Unlink(path) => {
                files.remove(path);
            }
            Self::Rename { from, to } => {
                if let Some(inode) = files.remove(from) {
                    files.insert(to.clone(), inode);
                }
            }
        }
    }

    /// Iterates over the file names that the change affects.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let (path, other) = match self {
            Self::Link(path, _) | Self::Unlink(path) => (path, None),
            Self::Rename { from, to } => (from, Some(to)),
        };
        std::iter::once(path).chain(other).map(PathBuf::as_path)
    }
}

impl Names {
    /// Returns the file with the name `path`.
    pub(super) fn get(&self, path: &Path) -> io::Result<Arc<Inode>> {
        self.current.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Creates a file with the name `path`. A file that already has this name loses the name.
    pub(super) fn create(&mut self, path: &Path) -> io::Result<Arc<Inode>> {
        self.check_free_of_directory(path)?;
        if self.current.contains_key(path) {
            self.change(Change::Unlink(path.to_owned()));
        }
        let inode = Arc::new(Inode::default());
        self.change(Change::Link(path.to_owned(), Arc::clone(&inode)));
        Ok(inode)
    }

    /// Gives the file with the name `from` the name `to`.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.get(from)?;
        self.check_free_of_directory(to)?;
        self.change(Change::Rename { from: from.to_owned(), to: to.to_owned() });
        Ok(())
    }

    /// Removes the name `path` from its file.
    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.get(path)?;
        self.change(Change::Unlink(path.to_owned()));
        Ok(())
    }

    /// Adds the name `new` to the file with the name `existing`.
    pub(super) fn hard_link(&mut self, existing: &Path, new: &Path) -> io::Result<()> {
        let inode = self.get(existing)?;
        if self.is_directory(new) || self.current.contains_key(new) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.check_free_of_directory(new)?;
        self.change(Change::Link(new.to_owned(), inode));
        Ok(())
    }

    /// Returns the names of the files in a directory, sorted.
    pub(super) fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.check_directory(directory)?;
        let inside = self.current.keys().filter(|path| path.parent() == Some(directory));
        Ok(inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    /// Creates a directory and its missing parents, which are durable at once.
    pub(super) fn create_directory(&mut self, directory: &Path) -> io::Result<()> {
        if directory.ancestors().any(|above| self.current.contains_key(above)) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.directories.extend(directory.ancestors().map(Path::to_owned));
        Ok(())
    }

    /// Makes all names in a directory durable.
    pub(super) fn sync_directory(&mut self, directory: &Path) -> io::Result<()> {
        self.check_directory(directory)?;
        let inside = |change: &Change| change.paths().any(|path| path.parent() == Some(directory));
        let (done, still_pending) = self.split_pending(inside);
        for change in done {
            change.apply(&mut self.durable);
        }
        self.pending = still_pending;
        Ok(())
    }

    /// Returns the number of changes of names that are not durable yet.
    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Returns every file that may have a name after a crash. Disks with equal histories return the files in the same
    /// order.
    pub(super) fn files(&self) -> Vec<Arc<Inode>> {
        let linked = self.pending.iter().filter_map(|change| match change {
            Change::Link(_, inode) => Some(inode),
            Change::Unlink(_) | Change::Rename { .. } => None,
        });
        let mut seen = HashSet::new();
        let all = self.durable.values().chain(linked);
        all.filter(|inode| seen.insert(Arc::as_ptr(inode))).cloned().collect()
    }

    /// Iterates over all current file names with their files, sorted by name.
    pub(super) fn current(&self) -> impl Iterator<Item = (&Path, &Arc<Inode>)> {
        self.current.iter().map(|(path, inode)| (path.as_path(), inode))
    }

    /// Returns the file names that the simulated disk has after a crash. All of them are durable.
    ///
    /// `reaches_disk` is called for each change that is not durable yet, from the last change to the first, and returns
    /// whether the change survives. A change also survives if a later surviving change depends on it. `after_crash`
    /// converts each file to its content after the crash.
    pub(super) fn after_crash(
        &self,
        mut reaches_disk: impl FnMut() -> bool,
        mut after_crash: impl FnMut(&Inode) -> Inode,
    ) -> Self {
        let mut files = self.durable.clone();
        for change in self.split_pending(|_| reaches_disk()).0 {
            change.apply(&mut files);
        }
        let mut crashed: HashMap<*const Inode, Arc<Inode>> = HashMap::new();
        for inode in files.values_mut() {
            let entry = crashed.entry(Arc::as_ptr(inode));
            *inode = Arc::clone(entry.or_insert_with(|| Arc::new(after_crash(inode))));
        }
        Self {
            directories: self.directories.clone(),
            current: files.clone(),
            durable: files,
            pending: Vec::new(),
        }
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.current);
        self.pending.push(change);
    }

    /// Splits the name changes that are not durable yet into selected changes and other changes. The selected changes
    /// are those for which `wanted` returns true, and all changes on which they depend. A change depends on every
    /// earlier change of the same name.
    fn split_pending(&self, mut wanted: impl FnMut(&Change) -> bool) -> (Vec<Change>, Vec<Change>) {
        let mut needed: HashSet<&Path> = HashSet::new();
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        for change in self.pending.iter().rev() {
            if wanted(change) || change.paths().any(|path| needed.contains(path)) {
                needed.extend(change.paths());
                taken.push(change.clone());
            } else {
                left.push(change.clone());
            }
        }
        taken.reverse();
        left.reverse();
        (taken, left)
    }

    fn is_directory(&self, path: &Path) -> bool {
        // The root and the current directory always exist.
        path.parent().is_none() || self.directories.contains(path)
    }

    fn check_directory(&self, path: &Path) -> io::Result<()> {
        if self.is_directory(path) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// Checks that a file can have the name `path`: the directory of the file must exist, and `path` must not be a
    /// directory.
    fn check_free_of_directory(&self, path: &Path) -> io::Result<()> {
        if self.is_directory(path) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.check_directory(path.parent().unwrap_or(path))
    }
}
