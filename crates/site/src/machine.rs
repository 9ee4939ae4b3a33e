//! A machine: a folder that contains one results folder per experiment.

use std::path::{Path, PathBuf};

use page::{Page, bytes_text};
use results::{Folder, Manifest};
use types::{Outcome, Problem};

use crate::evidence::machine_of;

/// A machine with its results, which compare engines.
pub(crate) struct Machine {
    /// The name of the machine's folder, which is part of addresses.
    pub(crate) name: String,
    /// The results folders of the machine, sorted by name.
    pub(crate) folders: Vec<PathBuf>,
    /// The manifests of the machine's results folders.
    pub(crate) manifests: Vec<Manifest>,
    /// The interactive page of all results of the machine.
    pub(crate) page: Page,
}

impl Machine {
    /// Reads the folder of a machine, which contains one results folder per experiment.
    ///
    /// # Errors
    /// The folder contains no results, or a manifest cannot be read.
    pub(crate) fn read(root: &Path) -> Outcome<Self> {
        let folders = results_folders(root)?;
        if folders.is_empty() {
            return Err(Problem::at(root, None, "the folder has no results of a machine; remove the folder"));
        }
        let manifests = folders
            .iter()
            .map(|folder| Ok(Manifest::read(&Folder::new(folder).manifest())?))
            .collect::<Outcome<_>>()?;
        Ok(Self { name: folder_name(root), page: Page::of(&folders)?, folders, manifests })
    }

    /// Returns a description of the machine for readers, such as `AMD EPYC, 2 cores`.
    pub(crate) fn title(&self) -> String {
        machine_of(&self.manifests[0])
    }

    /// Returns the facts about the machine and the program, such as `16 GiB of memory, ext4, Linux 6.1; …`.
    pub(crate) fn facts(&self) -> String {
        let machine = &self.manifests[0].machine;
        let memory = machine.memory_bytes.map(|bytes| format!("{} of memory", bytes_text(bytes as f64)));
        let parts = [memory, machine.file_system.clone(), machine.kernel.clone()];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let days = || self.manifests.iter().filter_map(|manifest| manifest.started.split('T').next());
        let (first, last) = (days().min().unwrap_or_default(), days().max().unwrap_or_default());
        let days = if first == last { first.to_owned() } else { format!("{first} to {last}") };
        let version = &self.manifests[0].build.version;
        format!("{}; lsmbench {version}; measured {days}", parts.join(", "))
    }

    /// Returns the warnings in the manifests of the machine's experiments, each once.
    pub(crate) fn warnings(&self) -> Vec<&str> {
        let is_shared =
            |warning: &&String| self.manifests.iter().all(|manifest| manifest.warnings.contains(warning));
        self.manifests[0].warnings.iter().filter(is_shared).map(String::as_str).collect()
    }
}

/// Returns the results folders in a folder, sorted by name.
pub(crate) fn results_folders(root: &Path) -> Outcome<Vec<PathBuf>> {
    let mut folders = folders(root)?;
    folders.retain(|path| Folder::new(path).manifest().exists());
    Ok(folders)
}

/// Returns the folders in a folder, sorted by name. Returns no folders if the folder does not exist.
pub(crate) fn folders(root: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = match root.read_dir() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| Problem::doing(format!("read {}", root.display()), error))?,
    };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

/// Returns the last part of a path.
pub(crate) fn folder_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
