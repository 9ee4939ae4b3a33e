//! Records the first write error of a tree. After this error, the tree accepts no writes.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::error::{Error, Result};

/// The first write error of a tree. After this error, the tree accepts no writes.
#[derive(Default)]
pub(crate) struct Failure {
    is_set: AtomicBool,
    message: Mutex<Option<String>>,
}

impl Failure {
    /// Returns whether a write error has occurred, so that the tree accepts no writes.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Returns [`Error::Failed`] with the first write error if the tree has failed.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_set() { Err(self.error()) } else { Ok(()) }
    }

    fn error(&self) -> Error {
        Error::Failed(self.message.lock().clone().unwrap_or_default())
    }

    /// Records the first write error of the tree. Later errors have no effect.
    pub(crate) fn set(&self, error: &Error) {
        self.message.lock().get_or_insert_with(|| error.to_string());
        self.is_set.store(true, Ordering::Release);
    }
}
