//! The files of a results folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use results::{Folder, Manifest, Row, Table, columns as c, verdicts as v};
use types::{Outcome, Problem};
use verdict::TrialRows;

/// A results folder with its tables in memory.
pub(crate) struct Opened {
    /// The paths of the files in the folder.
    pub(crate) folder: Folder,
    pub(crate) manifest: Manifest,
    pub(crate) runs: Table,
    /// The rows of the second trials of the baseline (A/A runs).
    pub(crate) noise: Option<Table>,
    pub(crate) timeline: Option<Table>,
    pub(crate) levels: Option<Table>,
    pub(crate) verdicts: Vec<Row>,
    /// The numbers of the configurations with wrong answers. The page shows no values of these configurations.
    pub(crate) wrong: BTreeSet<u64>,
    /// The indexes of the configurations in the manifest, by the number of the configuration.
    pub(crate) places: BTreeMap<u64, usize>,
}

impl Opened {
    /// Reads the files of a results folder.
    ///
    /// # Errors
    /// The folder has no manifest, or a file cannot be read or has changed since the run wrote it.
    pub(crate) fn read(root: &Path) -> Outcome<Self> {
        let folder = Folder::new(root);
        if !folder.manifest().exists() {
            let message = format!(
                "{} is not a results folder: it has no manifest.json; name the results folder of one \
                 experiment",
                root.display()
            );
            return Err(Problem::new(message));
        }
        let manifest = Manifest::read(&folder.manifest())?;
        manifest.check_rows(&folder)?;
        let table = |path: PathBuf| -> Outcome<Option<Table>> {
            Ok(if path.exists() { Some(Table::read(&path)?) } else { None })
        };
        let runs = Table::read(&folder.runs())?;
        let noise = table(folder.noise())?;
        let verdicts = match folder.verdicts().exists() {
            true => v::read(&folder.verdicts())?,
            false => Vec::new(),
        };
        let again = noise.as_ref().map(|noise| TrialRows::of(noise).wrong_cells()).unwrap_or_default();
        let wrong = &TrialRows::of(&runs).wrong_cells() | &again;
        let cells = manifest.cells.iter().enumerate();
        let places = cells.map(|(place, cell)| (cell.cell, place)).collect();
        Ok(Self {
            timeline: table(folder.timeline())?,
            levels: table(folder.levels())?,
            folder,
            manifest,
            runs,
            noise,
            verdicts,
            wrong,
            places,
        })
    }

    /// Returns the index of a row's configuration. Returns `None` if the page must not show the values of the row.
    pub(crate) fn place_of(&self, row: &Row) -> Option<usize> {
        let number = row.get(&c::CELL).integer().filter(|number| !self.wrong.contains(number))?;
        self.places.get(&number).copied()
    }
}
