//! The rings of a store. Only one call uses a ring at a time. If all rings are in use, a call creates a new ring, which
//! stays available for later calls.

use std::io;

use parking_lot::Mutex;
use rustix::io::Errno;

use super::ring::Ring;

/// Idle rings.
pub(super) struct Rings {
    depth: u32,
    idle: Mutex<Vec<Ring>>,
}

impl Rings {
    /// Creates an empty pool. The rings of the pool will run `depth` concurrent steps.
    pub(super) fn new(depth: u32) -> Self {
        Self { depth, idle: Mutex::new(Vec::new()) }
    }

    /// Number of concurrent steps of a ring.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// Checks whether rings can be created.
    ///
    /// # Errors
    /// If the kernel rejects them; the message names alternatives.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.idle.lock().is_empty() {
            self.lend(|_| Ok(()))?;
        }
        Ok(())
    }

    /// Lends a ring to `borrow`.
    pub(super) fn lend<R>(&self, borrow: impl FnOnce(&mut Ring) -> io::Result<R>) -> io::Result<R> {
        let kept = self.idle.lock().pop();
        let mut ring = match kept {
            Some(ring) => ring,
            None => Ring::new(self.depth).map_err(explain)?,
        };
        let outcome = borrow(&mut ring);
        if ring.is_idle() {
            ring.shrink();
            self.idle.lock().push(ring);
        }
        outcome
    }
}

/// Adds the meaning of missing rings to an error.
fn explain(error: io::Error) -> io::Error {
    let is_refusal = matches!(Errno::from_io_error(&error), Some(Errno::NOSYS | Errno::PERM | Errno::ACCESS));
    if !is_refusal {
        return error;
    }
    let message = format!("this kernel rejects io_uring ({error}); use storage = \"pread\" or \"direct\"");
    io::Error::new(io::ErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_refuses_is_named_with_the_way_out() {
        for errno in [Errno::NOSYS, Errno::PERM] {
            let error = explain(errno.into());
            assert_eq!(error.kind(), io::ErrorKind::Unsupported);
            let text = error.to_string();
            assert!(
                text.starts_with("this kernel rejects io_uring (") && text.contains("\"pread\""),
                "{text}"
            );
        }
        assert_eq!(explain(Errno::NOMEM.into()).kind(), io::ErrorKind::OutOfMemory);
    }
}
