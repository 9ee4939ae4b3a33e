//! The layout of the results folder of one experiment.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::Group;

/// The results folder of one experiment: `results/<experiment>/`.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Returns the results folder at `root`. Does not read or create anything.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the path of the folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of `runs.csv`: one row per configuration, trial, phase and operation.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs.csv")
    }

    /// Returns the path of `timeline.csv`: one row per configuration, trial, phase and interval.
    pub fn timeline(&self) -> PathBuf {
        self.root.join("timeline.csv")
    }

    /// Returns the path of `levels.csv`: one row per configuration, trial, phase and level of the tree.
    pub fn levels(&self) -> PathBuf {
        self.root.join("levels.csv")
    }

    /// Returns the path of `slices.csv`: one row per configuration, trial, phase and slice, if trials ran side by
    /// side.
    pub fn slices(&self) -> PathBuf {
        self.root.join("slices.csv")
    }

    /// Returns the path of `noise.csv`: the rows of a second trial of the baselines, as in `runs.csv`. The difference
    /// between both trials is noise.
    pub fn noise(&self) -> PathBuf {
        self.root.join("noise.csv")
    }

    /// Returns the path of `verdicts.csv`: one row per candidate and metric, compared with the baseline.
    pub fn verdicts(&self) -> PathBuf {
        self.root.join("verdicts.csv")
    }

    /// Returns the path of `manifest.json`, which identifies the measurement and contains the information to repeat
    /// it.
    pub fn manifest(&self) -> PathBuf {
        self.root.join("manifest.json")
    }

    /// Returns the path of the folder that contains the latency logs.
    pub fn histograms(&self) -> PathBuf {
        self.root.join("histograms")
    }

    /// Returns the path of the latency log of one phase of one group, such as
    /// `histograms/cell-3-trial-0-lookup.hlog`. The path keeps letters, digits, `-` and `_` of the phase's name.
    /// Other characters are written as `%` and their bytes in hexadecimal.
    pub fn histogram(&self, group: Group, phase: &str) -> PathBuf {
        let mut name = format!("cell-{}-trial-{}-", group.cell, group.trial);
        for byte in phase.bytes() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
                name.push(byte.into());
            } else {
                let _ = write!(name, "%{byte:02x}");
            }
        }
        name.push_str(".hlog");
        self.histograms().join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_cannot_leave_the_folder_or_meet() {
        let folder = Folder::new("results/bloom");
        let group = Group { cell: 3, trial: 0 };
        let path = |phase: &str| folder.histogram(group, phase);
        assert_eq!(path("lookup"), Path::new("results/bloom/histograms/cell-3-trial-0-lookup.hlog"));
        assert_eq!(path("../a b").file_name().unwrap(), "cell-3-trial-0-%2e%2e%2fa%20b.hlog");
        assert_ne!(path("%20"), path(" "));
    }
}
