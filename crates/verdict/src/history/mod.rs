//! What became of numbers from run to run: a store that results are added to, and the changes in it.

mod series;
mod store;

pub use series::{Change, Run, Series, series};
pub use store::{add, entries};
