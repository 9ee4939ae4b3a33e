//! The paths of all files in the results folder of an experiment.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::Group;

/// The results folder of one experiment: `results/<experiment>/`.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Returns the results folder at the path `root`. This function does not read or create any files.
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

    /// Returns the path of `noise.csv`. The file has the columns of `runs.csv` and contains the rows of a second
    /// trial of each baseline. The two trials of a baseline in a round differ only by noise.
    pub fn noise(&self) -> PathBuf {
        self.root.join("noise.csv")
    }

    /// Returns the path of `verdicts.csv`. A row compares one candidate with the baseline, by one metric.
    pub fn verdicts(&self) -> PathBuf {
        self.root.join("verdicts.csv")
    }

    /// Returns the path of `manifest.json`, which identifies the measurement and contains all information that is
    /// needed to repeat the measurement.
    pub fn manifest(&self) -> PathBuf {
        self.root.join("manifest.json")
    }

    /// Returns the path of the folder that contains the latency logs.
    pub fn histograms(&self) -> PathBuf {
        self.root.join("histograms")
    }

    /// Returns the path of the folder that contains the profiles and the flame graphs.
    pub fn profiles(&self) -> PathBuf {
        self.root.join("profiles")
    }

    /// Returns the path of the folded stacks of a configuration, such as `profiles/cell-3.folded`.
    pub fn folded_stacks(&self, cell: u64) -> PathBuf {
        self.profiles().join(format!("cell-{cell}.folded"))
    }

    /// Returns the path of the flame graph that compares two configurations, such as
    /// `profiles/cell-3-against-cell-0.svg`.
    pub fn flame_graph(&self, candidate: u64, baseline: u64) -> PathBuf {
        self.profiles().join(format!("cell-{candidate}-against-cell-{baseline}.svg"))
    }

    /// Returns the path of a latency log, such as `histograms/cell-3-trial-0-lookup.hlog`. A latency log covers one
    /// phase in one trial of a configuration. Special characters in the name of the phase are percent-encoded.
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
