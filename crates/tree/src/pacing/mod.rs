//! Delayed writes: writers are slowed before a queue of the tree is full, so that no writer has to stop.

mod law;
mod pacer;

pub(crate) use law::Room;
pub(crate) use pacer::{Pacer, Payment};
