//! The sources of a site: the folder of the repository, and the data that only the program knows.

use std::path::{Path, PathBuf};

use catalog::Axis;
use verdict::Targets;

use crate::file::SiteFile;

/// The sources of a site.
pub struct SiteSources<'a> {
    /// The root of the repository.
    pub root: &'a Path,
    /// The axes whose variants the page of components lists.
    pub axes: Vec<&'a dyn Axis>,
    /// The HTML pages about published systems. Each path has no folder.
    pub systems: Vec<SiteFile>,
    /// The label of the row with which engines are compared.
    pub baseline: &'a str,
    /// The target speedups over other engines.
    pub targets: Targets,
}

impl SiteSources<'_> {
    /// The folder of the comparisons of engines on the first machine.
    pub(crate) fn peers(&self) -> PathBuf {
        self.root.join("results/peers")
    }

    /// The folder that contains a folder for each contributed machine.
    pub(crate) fn machines(&self) -> PathBuf {
        self.root.join("results/machines")
    }

    /// The folder of the experiments on published systems.
    pub(crate) fn published(&self) -> PathBuf {
        self.root.join("results/published")
    }

    /// The folder of the results in the gallery.
    pub(crate) fn gallery(&self) -> PathBuf {
        self.root.join("results/gallery")
    }

    /// The history of metrics.
    pub(crate) fn history(&self) -> PathBuf {
        self.root.join("results/history.csv")
    }
}
