//! Analyzes a whole sweep: the effects of factors, a ranking of the configurations with ties, and the Pareto front over
//! several metrics.

mod front;
mod measured;
mod render;
mod rows;

pub use measured::{Effects, Selection};
