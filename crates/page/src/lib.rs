//! One self-contained HTML page from results. The page has the verdicts in words, a table of all configurations,
//! charts, and details of each configuration.
//!
//! The page is one file, and a browser can open it without a network. The page is readable without a script, because
//! the verdicts and the table are HTML. With its script, any configuration can become the baseline. The page has the
//! values of every trial, and computes the ratios, confidence intervals and verdicts of [`measure`] from them. The
//! page contains the positions that the bootstrap draws, so the intervals of the page equal the intervals in
//! `verdicts.csv`.

mod charts_of_cells;
mod data;
mod groups;
mod html;
mod latencies;
mod numbers;
mod opened;
mod rows;
mod script;
mod selection;

use std::path::{Path, PathBuf};

use results::targets::check_file;
use types::{Outcome, Problem};

use data::{Criteria, PageData, RunData};
use opened::Opened;

/// The name of the page in a folder.
pub const FILE_NAME: &str = "page.html";

/// A page of one or several results folders.
pub struct Page {
    data: PageData,
}

impl Page {
    /// Reads results folders.
    ///
    /// # Errors
    /// A folder without results, or results that cannot be read or do not match their seals.
    pub fn of(folders: &[PathBuf]) -> Outcome<Self> {
        let opened: Vec<Opened> =
            folders.iter().map(|folder| Opened::read(folder)).collect::<Outcome<_>>()?;
        let runs: Vec<RunData> = opened.iter().map(RunData::of).collect();
        Ok(Self { data: PageData { criteria: Criteria::default(), draws: data::draws(&runs), runs } })
    }

    /// Returns the page as HTML.
    pub fn html(&self) -> String {
        html::page(&self.data)
    }

    /// Writes the page to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Outcome<()> {
        check_file(path)?;
        std::fs::write(path, self.html())
            .map_err(|error| Problem::doing(format!("write {}", path.display()), error))
    }
}
