//! One self-contained HTML page from results. The page has the verdicts in words, a table of all configurations,
//! charts, and details of each configuration.
//!
//! The page is one file, and a browser can open it without a network. The page is readable without a script, because
//! the verdicts and the table are HTML. With its script, any configuration can become the baseline. The page has the
//! values of every trial, and computes the ratios, confidence intervals and verdicts of [`measure`] from them. The
//! page contains the positions that the bootstrap draws, so the intervals of the page equal the intervals in
//! `verdicts.csv`.

mod charts_of_cells;
mod compared;
mod data;
mod escape;
mod groups;
mod history;
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
use history::HistoryData;
use opened::Opened;
use script::{Contents, script};

pub use compared::{ComparedConfiguration, bytes_text};
pub use escape::escape;
pub use html::SiteFrame;

/// The name of the page in a folder.
pub const FILE_NAME: &str = "page.html";

/// A page of results folders and of a history.
pub struct Page {
    opened: Vec<Opened>,
    data: PageData,
    history: Option<HistoryData>,
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
        let data = PageData { criteria: Criteria::default(), draws: data::draws(&runs), runs };
        Ok(Self { opened, data, history: None })
    }

    /// The comparisons of each results folder, in the order of the folders.
    pub fn compared(&self) -> Vec<Vec<ComparedConfiguration>> {
        let folders = self.opened.iter().zip(&self.data.runs);
        folders.map(|(opened, run)| compared::compared(opened, run)).collect()
    }

    /// Adds the history in a file to the page.
    ///
    /// # Errors
    /// A file that does not exist or is not a history.
    pub fn with_history(self, store: &Path) -> Outcome<Self> {
        Ok(Self { history: Some(HistoryData::read(store)?), ..self })
    }

    /// The page as HTML in one file.
    pub fn html(&self) -> String {
        html::page(&self.data, self.history.as_ref(), None)
    }

    /// The page as HTML that loads the style and the script of a site.
    pub fn html_on_site(&self, frame: &SiteFrame) -> String {
        html::page(&self.data, self.history.as_ref(), Some(frame))
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

/// The style of all pages, for a site whose pages share one file.
pub fn page_style() -> &'static str {
    html::STYLE
}

/// The script of pages with runs, for a site whose pages share one file.
pub fn page_script() -> String {
    script(Contents { has_runs: true, has_history: false })
}

/// The script of pages with a history, for a site whose pages share one file.
pub fn history_script() -> String {
    script(Contents { has_runs: false, has_history: true })
}
