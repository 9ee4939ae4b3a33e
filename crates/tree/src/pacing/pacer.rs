//! The state of delayed writes: the rule, its clock, and the payments of a memtable.

use std::time::Instant;

use parking_lot::Mutex;

use super::rule::DelayRule;

/// The delays of a tree whose design delays writes.
pub(crate) struct Pacer {
    /// The rule.
    pub(crate) rule: Mutex<DelayRule>,
    /// The time 0 of the rule.
    start: Instant,
}

/// The bytes of the active memtable at which a writer pays for the bytes before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payment {
    /// The bytes of the memtable from which the next writer pays; `u64::MAX` if writes cost nothing.
    pub(crate) due_from: u64,
    /// The bytes of the memtable that are paid.
    pub(crate) paid_bytes: u64,
}

impl Payment {
    /// No write costs anything.
    pub(crate) const FREE: Self = Self { due_from: u64::MAX, paid_bytes: 0 };

    /// The first write of a new memtable asks for the price.
    pub(crate) const ASK: Self = Self { due_from: 0, paid_bytes: 0 };
}

impl Pacer {
    /// Creates the delays of a tree that begins now.
    pub(crate) fn new() -> Self {
        Self { rule: Mutex::new(DelayRule::default()), start: Instant::now() }
    }

    /// Returns the time of the rule in nanoseconds.
    pub(crate) fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}
