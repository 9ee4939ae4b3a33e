//! Records the metrics of runs in a history file, and finds change points in this history.

mod series;
mod store;

pub use series::{Change, HistoryRun, Series, series};
pub use store::{add, add_command, entries};
