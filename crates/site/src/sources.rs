//! The inputs of a site: the folder of the repository, and the data that only the program has.

use std::path::{Path, PathBuf};

use catalog::Axis;
use verdict::Targets;

use crate::file::SiteFile;

/// The inputs of a site: the repository, and data that only the program has, such as the axes of a design.
pub struct SiteSources<'a> {
    /// The root of the repository.
    pub root: &'a Path,
    /// The axes whose variants the page of components lists.
    pub axes: Vec<&'a dyn Axis>,
    /// The HTML pages about published systems. Their paths are file names without a folder.
    pub systems: Vec<SiteFile>,
    /// The label of the configuration with which the site compares engines.
    pub baseline: &'a str,
    /// The target speedups over other engines.
    pub targets: Targets,
}

impl SiteSources<'_> {
    /// Returns the folder with the engine comparisons that `just peers` keeps.
    pub(crate) fn peers(&self) -> PathBuf {
        self.root.join("results/peers")
    }

    /// Returns the folder that contains one folder per contributed machine.
    pub(crate) fn machines(&self) -> PathBuf {
        self.root.join("results/machines")
    }

    /// Returns the folder with the experiments on published systems.
    pub(crate) fn published(&self) -> PathBuf {
        self.root.join("results/published")
    }

    /// Returns the folder with the results of the gallery.
    pub(crate) fn gallery(&self) -> PathBuf {
        self.root.join("results/gallery")
    }

    /// Returns the file with the history of metrics.
    pub(crate) fn history(&self) -> PathBuf {
        self.root.join("results/history.csv")
    }
}
