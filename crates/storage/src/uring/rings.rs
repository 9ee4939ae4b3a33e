//! A pool with the rings of a store. Only one call uses a ring at a time. If all rings are in use, a call creates
//! another ring, which stays in the pool for later calls.

use std::io;

use parking_lot::Mutex;
use rustix::io::Errno;

use super::ring::Ring;

/// The rings that are not in use.
pub(super) struct Rings {
    depth: u32,
    idle: Mutex<Vec<Ring>>,
}

impl Rings {
    /// Creates an empty pool. Each ring of the pool can execute up to `depth` concurrent steps.
    pub(super) fn new(depth: u32) -> Self {
        Self { depth, idle: Mutex::new(Vec::new()) }
    }

    /// Returns the maximum number of concurrent steps of a ring.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// Checks that the kernel allows rings.
    ///
    /// # Errors
    /// The kernel rejects rings. The message names alternatives.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.idle.lock().is_empty() {
            self.lend(|_| Ok(()))?;
        }
        Ok(())
    }

    /// Calls `borrow` with a ring that no other call uses during this time.
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

/// Adds an explanation to the error of a kernel that rejects rings.
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
