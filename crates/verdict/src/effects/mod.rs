//! The verdict for a whole sweep: effects of factors, a ranking of configurations with ties, and the Pareto front over
//! several metrics.

mod front;
mod measured;
mod render;
mod rows;

pub use measured::{Effects, Selection};
