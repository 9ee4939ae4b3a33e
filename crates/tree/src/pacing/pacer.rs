//! The state of delayed writes: the delay rule, its clock, and the memtable size at which the next writer waits.

use std::time::Instant;

use parking_lot::Mutex;

use super::rule::DelayRule;

/// The delay rule of a tree whose design delays writes, and the clock of the rule.
pub(crate) struct Pacer {
    /// The delay rule.
    pub(crate) rule: Mutex<DelayRule>,
    /// The time that the delay rule treats as time 0.
    start: Instant,
}

/// The delay state of the active memtable. Each wait covers the bytes that were written since the last wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payment {
    /// The size of the memtable, in bytes, at which the next writer waits. `u64::MAX` if writes are not delayed.
    pub(crate) due_from: u64,
    /// The size of the memtable, in bytes, at the last wait.
    pub(crate) paid_bytes: u64,
}

impl Payment {
    /// The delay state of a memtable whose writes are not delayed.
    pub(crate) const FREE: Self = Self { due_from: u64::MAX, paid_bytes: 0 };

    /// The delay state of a new memtable. The first write to the memtable computes the delay.
    pub(crate) const ASK: Self = Self { due_from: 0, paid_bytes: 0 };
}

impl Pacer {
    /// Creates the pacer of a tree that is being opened.
    pub(crate) fn new() -> Self {
        Self { rule: Mutex::new(DelayRule::default()), start: Instant::now() }
    }

    /// Returns the current time of the pacer's clock, in nanoseconds.
    pub(crate) fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}
