//! An experiment of a report, with the results that there are of it.

use experiment::Experiment;
use results::{Folder, Manifest, Table};

/// An experiment with what it left.
pub(super) struct Found<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) folder: Folder,
    /// The rows, or why there are none.
    pub(super) rows: Result<(Manifest, Table), String>,
}
