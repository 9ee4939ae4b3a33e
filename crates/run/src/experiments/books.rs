//! Holds the output files of a run, and the state of its trials.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use experiment::Cell;
use results::{Group, Manifest, RowWriter};
use types::Outcome;

use crate::fixture::{Fixture, Fixtures};

/// The output files of a run, such as `runs.csv` and the manifest, and the state of all its trials.
pub(super) struct Books {
    pub(super) manifest: Manifest,
    pub(super) runs: RowWriter,
    pub(super) timeline: RowWriter,
    pub(super) levels: RowWriter,
    /// The writer of `slices.csv`, which exists only if trials run side by side in slices of operations.
    pub(super) slices: Option<RowWriter>,
    /// The writer of `noise.csv`, which contains the rows of the second trials of baselines.
    pub(super) noise: RowWriter,
    /// The prepared stores (fixtures) from which trials start.
    pub(super) fixtures: Fixtures,
    /// The number of instructions per operation of each configuration, by its number. Empty if the run does not count
    /// instructions.
    pub(super) instructions: BTreeMap<u64, f64>,
    /// The trials that an earlier run has finished, if this run resumes it.
    pub(super) finished: BTreeSet<Group>,
    /// The second trials of baselines that an earlier run has finished, if this run resumes it.
    pub(super) finished_noise: BTreeSet<Group>,
}

impl Books {
    /// Writes the manifest to `path`. The manifest contains the length and the checksum of each CSV file, so that later
    /// changes of a file are found.
    pub(super) fn seal(&mut self, path: &Path) -> Outcome<()> {
        self.manifest.runs = Some(self.runs.seal()?);
        self.manifest.timeline = Some(self.timeline.seal()?);
        self.manifest.levels = Some(self.levels.seal()?);
        self.manifest.noise = Some(self.noise.seal()?);
        self.manifest.slices = self.slices.as_mut().map(RowWriter::seal).transpose()?;
        Ok(self.manifest.write(path)?)
    }

    /// Adds warnings about implausible values of a configuration to the manifest. `label` names the configuration, and
    /// `marked` contains pairs of a phase and a message. Returns the warnings that are new.
    pub(super) fn note(&mut self, label: &str, marked: Vec<(String, String)>) -> Vec<String> {
        let mut new = Vec::new();
        for (phase, words) in marked {
            let which = format!("values of {label} in phase {phase} are implausible: ");
            if !self.manifest.warnings.iter().any(|warning| warning.starts_with(&which)) {
                self.manifest.warnings.push(which.clone() + &words);
                new.push(which + &words);
            }
        }
        new
    }

    /// Records in the manifest that the trials of a configuration start from a prepared store (fixture). Adds a warning
    /// if the fixture was rebuilt with other files than earlier trials used.
    pub(super) fn note_fixture(&mut self, cell: &Cell, fixture: &Fixture) {
        let manifest = &mut self.manifest;
        let place = manifest.fixtures.iter().position(|known| known.hash == fixture.info.hash);
        let place = place.unwrap_or_else(|| {
            manifest.fixtures.push(fixture.info.clone());
            manifest.fixtures.len() - 1
        });
        let known = &mut manifest.fixtures[place];
        if known.files != fixture.info.files {
            let hash = &known.hash;
            let warning = format!(
                "the fixture {hash} was rebuilt, and its files differ from the files that earlier trials \
                 started from"
            );
            (known.files, known.built) = (fixture.info.files.clone(), fixture.info.built.clone());
            manifest.warnings.push(warning);
        } else if !known.cells.contains(&cell.number) {
            known.cells.push(cell.number);
            known.cells.sort_unstable();
        }
    }
}
