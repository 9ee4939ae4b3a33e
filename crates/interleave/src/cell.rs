//! Plain memory in a model. `loom` checks that each read happens after the previous write, and that each write
//! happens after all previous reads.

#![allow(unsafe_code)]

use loom::cell::UnsafeCell;

/// A value in plain memory of a model. `loom` checks that no two threads access this value at the same time if one of
/// them writes.
pub(crate) struct Watched<T>(UnsafeCell<T>);

// SAFETY: loom fails the model where two accesses are not ordered and one of them writes.
unsafe impl<T: Send + Sync> Sync for Watched<T> {}

impl<T> Watched<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Reads the value. If another thread may write the value at the same time, the model fails.
    pub(crate) fn get(&self) -> &T {
        // SAFETY: loom checks that every write is ordered before or after this read. A borrowed value is never
        // overwritten: values are set once, before threads receive a reference to them, or are numbers that are copied.
        self.0.with(|value| unsafe { &*value })
    }

    /// Writes the value. If another thread may read or write the value at the same time, the model fails.
    pub(crate) fn set(&self, value: T) {
        // SAFETY: as in `get`.
        self.0.with_mut(|place| unsafe { *place = value });
    }
}
