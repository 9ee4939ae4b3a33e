//! A verdict for a whole sweep: the effects of its factors, a ranking of its configurations with ties, and the Pareto front
//! over several metrics.

mod front;
mod measured;
mod render;
mod rows;

pub use measured::{Effects, Selection};
