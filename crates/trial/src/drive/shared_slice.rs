//! Defines the state that all threads of a phase share during a slice. In a slice, a process executes a number of
//! operations without a pause.

use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::Mutex;

use crate::turn::Used;

/// The slice that the threads of a phase currently execute.
#[derive(Default)]
pub(super) struct SharedSlice {
    /// The number of operations in the slice, summed over all threads.
    pub(super) operations: AtomicU64,
    /// The time for which the process waited for its turn before this slice, in nanoseconds.
    pub(super) waited_ns: AtomicU64,
    /// The number of finished operations of the slice.
    pub(super) done: AtomicU64,
    /// The time for which threads were ready to run but had no CPU during the slice, in nanoseconds.
    pub(super) run_queue_ns: AtomicU64,
    /// Whether any thread still has operations after this slice.
    pub(super) has_more: AtomicBool,
    /// Whether the phase has no further slices.
    pub(super) is_over: AtomicBool,
    /// The CPU time that the process had used at the start of the slice. `None` before the first slice.
    pub(super) used: Mutex<Option<Used>>,
}
