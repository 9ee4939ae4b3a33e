//! The history of metrics: a file to which the results of runs are added, and the change points in this file.

mod series;
mod store;

pub use series::{Change, HistoryRun, Series, series};
pub use store::{add, add_command, entries};
