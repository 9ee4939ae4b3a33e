//! Metrics across runs: a file to which results are added, and the change points in it.

mod series;
mod store;

pub use series::{Change, HistoryRun, Series, series};
pub use store::{add, entries};
