//! The state of a slice that the threads of a phase share. A slice is a number of operations that a process runs in
//! one turn.

use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::Mutex;

use crate::turn::Used;

/// The slice that the threads of a phase run now.
#[derive(Default)]
pub(super) struct SharedSlice {
    /// The number of operations of the slice, over all threads.
    pub(super) operations: AtomicU64,
    /// The time for which the process waited for its turn before this slice, in nanoseconds.
    pub(super) waited_ns: AtomicU64,
    /// The number of finished operations of the slice.
    pub(super) done: AtomicU64,
    /// The time in which threads were ready to run in the slice and had no CPU, in nanoseconds.
    pub(super) run_queue_ns: AtomicU64,
    /// Whether some thread has operations after the slice.
    pub(super) has_more: AtomicBool,
    /// Whether the slices of the phase are over.
    pub(super) is_over: AtomicBool,
    /// The CPU time of the process before the slice; `None` before the first slice.
    pub(super) used: Mutex<Option<Used>>,
}
