//! Delayed writes: writers are slowed before a queue of the tree is full, so that no writer must stop.

mod pacer;
mod rule;

pub(crate) use pacer::{Pacer, Payment};
pub(crate) use rule::Room;
