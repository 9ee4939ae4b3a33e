//! Defines the state that all threads of a phase share during a slice. In a slice, a process executes a number of
//! operations without a pause.

use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::Mutex;

use crate::turn::Used;

/// The slice that the threads of a phase execute now. A slice is the number of operations that a process executes in
/// one turn.
#[derive(Default)]
pub(super) struct SharedSlice {
    /// The number of operations that all threads together must execute in the slice.
    pub(super) operations: AtomicU64,
    /// The time for which the process waited for its turn before this slice, in nanoseconds.
    pub(super) waited_ns: AtomicU64,
    /// The number of operations of the slice that have finished, over all threads.
    pub(super) done: AtomicU64,
    /// The time for which threads were ready to run but had no CPU during the slice, in nanoseconds.
    pub(super) run_queue_ns: AtomicU64,
    /// Whether any thread still has operations after this slice.
    pub(super) has_more: AtomicBool,
    /// Whether the phase has ended, so that no further slice follows.
    pub(super) is_over: AtomicBool,
    /// The CPU time that the process had used at the start of the slice. `None` before the first slice.
    pub(super) used: Mutex<Option<Used>>,
}
