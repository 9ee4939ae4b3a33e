//! Delayed writes: the tree slows writers before a queue is full, so that no writer must stop.

mod pacer;
mod rule;

pub(crate) use pacer::{Pacer, Payment};
pub(crate) use rule::Room;
