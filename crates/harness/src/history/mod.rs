//! What became of numbers from run to run: a store that results are added to, and the changes in it.

mod series;
mod store;

pub(crate) use series::{Series, series};
pub(crate) use store::{add, entries};
