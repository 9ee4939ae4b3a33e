//! The state of delayed writes: the formula that computes the delays, its clock, and the memtable size at which the
//! next writer waits.

use std::time::Instant;

use parking_lot::Mutex;

use super::rule::DelayRule;

/// Delays the writes of a tree. Contains the formula that computes how long a write waits, and the clock of the
/// formula.
pub(crate) struct Pacer {
    /// The formula that computes how long a write waits.
    pub(crate) rule: Mutex<DelayRule>,
    /// The start of the clock with which the delays of writes are computed.
    start: Instant,
}

/// The delay state of the active memtable: its size at the next wait of a writer, and its size at the last wait. Each
/// wait covers the bytes that were written since the last wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payment {
    /// The size of the active memtable, in bytes, at which the next writer waits. `u64::MAX` if writes are not delayed.
    pub(crate) due_from: u64,
    /// The size of the active memtable, in bytes, at the last wait.
    pub(crate) paid_bytes: u64,
}

impl Payment {
    /// The delay state of a memtable whose writes never wait.
    pub(crate) const FREE: Self = Self { due_from: u64::MAX, paid_bytes: 0 };

    /// The delay state of a new memtable, whose first write computes how long it must wait.
    pub(crate) const ASK: Self = Self { due_from: 0, paid_bytes: 0 };
}

impl Pacer {
    /// Creates the pacer, which delays the writes of a tree.
    pub(crate) fn new() -> Self {
        Self { rule: Mutex::new(DelayRule::default()), start: Instant::now() }
    }

    /// Returns the current time, in nanoseconds, of the clock with which delays are computed.
    pub(crate) fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}
