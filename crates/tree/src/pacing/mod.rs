//! Delays writes before the memtables or level 0 are full, so that no writer must stop.

mod pacer;
mod rule;

pub(crate) use pacer::{Pacer, Payment};
pub(crate) use rule::Room;
