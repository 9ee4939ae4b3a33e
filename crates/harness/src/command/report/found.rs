//! An experiment that a report evaluates, together with its results.

use experiment::Experiment;
use results::{Folder, Manifest, Table};

/// An experiment of a report, together with the folder and the content of its results.
pub(super) struct Found<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) folder: Folder,
    /// The manifest and the rows of the results, or the reason why they are missing.
    pub(super) rows: Result<(Manifest, Table), String>,
}
