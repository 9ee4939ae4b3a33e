//! Creates a self-contained HTML page from results. The page shows the verdicts as sentences, a table of all
//! configurations, charts, and details of each configuration.
//!
//! The page is one file that a browser can open without a network. Without scripts, the verdicts and the table remain
//! readable, because they are HTML. With scripts, the reader can select any configuration as the baseline. The page
//! contains the values of every trial, and computes ratios, confidence intervals and verdicts like [`measure`]. The
//! page also contains the positions that the bootstrap draws, so its intervals equal the intervals in `verdicts.csv`.
//!
//! A [`Page`] reads only result files, so this crate does not depend on the tree.
//!
//! ```
//! # use results::{CellInfo, Folder, MANIFEST_VERSION, Manifest, Row, RowWriter, Schema, columns as c};
//! use lsmbench_page::Page;
//!
//! let folder = tempfile::tempdir()?;
//! # let files = Folder::new(folder.path());
//! # let schema = Schema::runs(&["design.bloom"])?;
//! # let mut writer = RowWriter::create(&files.runs(), &schema)?;
//! # let mut cells = Vec::new();
//! # for (cell, filter, rate) in [(0_u64, "none", 1e5), (1, "ribbon", 3e5)] {
//! #     let mut row = Row::new(&schema);
//! #     row.set(&c::EXPERIMENT, "filters").set(&c::CELL, cell).set(&c::LABEL, filter).set(&c::TRIAL, 0_u64);
//! #     row.set(&c::PHASE, "lookup").set(&c::OPERATION, "all").set(&c::MODE, "timed").set(&c::SEED, 42_u64);
//! #     row.set(&c::OPS_PER_SECOND, rate).set_swept("design.bloom", filter)?;
//! #     writer.append(&[row])?;
//! #     let swept = vec![filter.to_owned()];
//! #     cells.push(CellInfo { cell, label: filter.to_owned(), swept, ..CellInfo::default() });
//! # }
//! # let manifest = Manifest {
//! #     version: MANIFEST_VERSION,
//! #     experiment: "filters".to_owned(),
//! #     question: "Which filter is fastest?".to_owned(),
//! #     mode: "timed".to_owned(),
//! #     trials: 1,
//! #     swept: vec!["design.bloom".to_owned()],
//! #     phases: vec!["lookup".to_owned()],
//! #     cells,
//! #     runs: Some(writer.seal()?),
//! #     ..Manifest::default()
//! # };
//! # manifest.write(&files.manifest())?;
//! // The folder contains the results of an experiment with the filters "none" and "ribbon".
//! let page = Page::of(&[folder.path().to_owned()])?;
//! let file = folder.path().join(lsmbench_page::FILE_NAME);
//! page.write(&file)?;
//!
//! let html = std::fs::read_to_string(&file)?;
//! assert!(html.contains("Which filter is fastest?") && html.contains("ribbon"));
//! assert!(!html.contains("src=\"http"), "the page loads nothing from a network");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod best;
mod charts_of_cells;
mod compared;
mod data;
mod escape;
mod groups;
mod history;
mod html;
mod latencies;
mod mismatches;
mod numbers;
mod opened;
mod rows;
mod script;
mod selection;

use std::path::{Path, PathBuf};

use results::targets::check_file;
use types::{Outcome, Problem};

use best::best_sentences;
use data::{Criteria, PageData, RunData};
use history::HistoryData;
use opened::Opened;
use script::{Contents, script};

pub use compared::{ComparedConfiguration, bytes_text};
pub use escape::escape;
pub use html::SiteFrame;

/// The default file name of an HTML page about results.
pub const FILE_NAME: &str = "page.html";

/// An HTML page that shows the results in one or more folders, and optionally a history of metrics.
pub struct Page {
    opened: Vec<Opened>,
    data: PageData,
    history: Option<HistoryData>,
}

impl Page {
    /// Reads results folders for a page.
    ///
    /// # Errors
    /// A folder has no results, or its results cannot be read or have changed since the run wrote them.
    pub fn of(folders: &[PathBuf]) -> Outcome<Self> {
        let opened: Vec<Opened> =
            folders.iter().map(|folder| Opened::read(folder)).collect::<Outcome<_>>()?;
        let mut runs: Vec<RunData> = opened.iter().map(RunData::of).collect();
        for run in runs.iter_mut().filter(|run| run.conclusions.is_empty()) {
            run.conclusions = best_sentences(run);
        }
        let data = PageData { criteria: Criteria::default(), draws: data::draws(&runs), runs };
        Ok(Self { opened, data, history: None })
    }

    /// Returns the comparisons of configurations in each results folder, in the order of the folders.
    pub fn compared(&self) -> Vec<Vec<ComparedConfiguration>> {
        let folders = self.opened.iter().zip(&self.data.runs);
        folders.map(|(opened, run)| compared::compared(opened, run)).collect()
    }

    /// Adds a history file to the page.
    ///
    /// # Errors
    /// The file does not exist, or is not a history.
    pub fn with_history(self, store: &Path) -> Outcome<Self> {
        Ok(Self { history: Some(HistoryData::read(store)?), ..self })
    }

    /// Returns the page as a single HTML file.
    pub fn html(&self) -> String {
        html::page(&self.data, self.history.as_ref(), None)
    }

    /// Returns the page as HTML that loads the shared style sheet and the shared script of a site.
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

/// Returns the style sheet of all HTML pages. The pages of a site load it as one shared file.
pub fn page_style() -> &'static str {
    html::STYLE
}

/// Returns the JavaScript of pages that show benchmark runs. The pages of a site load it as one shared file.
pub fn page_script() -> String {
    script(Contents { has_runs: true, has_history: false })
}

/// Returns the JavaScript of pages that show a history of runs. The pages of a site load it as one shared file.
pub fn history_script() -> String {
    script(Contents { has_runs: false, has_history: true })
}
