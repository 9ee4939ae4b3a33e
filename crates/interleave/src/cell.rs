//! Plain memory that a model watches: whoever reads it must know that the write is done, whoever writes it
//! that nobody reads.

#![allow(unsafe_code)]

use loom::cell::UnsafeCell;

/// A watched value.
pub(crate) struct Watched<T>(UnsafeCell<T>);

// SAFETY: loom ends the model where an access is not ordered with another one, of which one writes.
unsafe impl<T: Send + Sync> Sync for Watched<T> {}

impl<T> Watched<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Reads it, or ends the model.
    pub(crate) fn get(&self) -> &T {
        // SAFETY: loom checks that every write is behind or before this read. Nobody writes what was lent:
        // values are set once, before threads are handed the way to them, or are numbers that are copied.
        self.0.with(|value| unsafe { &*value })
    }

    /// Writes it, or ends the model.
    pub(crate) fn set(&self, value: T) {
        // SAFETY: as in `get`.
        self.0.with_mut(|place| unsafe { *place = value });
    }
}
