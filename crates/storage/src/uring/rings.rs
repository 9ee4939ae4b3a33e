//! A pool of the `io_uring` rings of a store. Only one call uses a ring at a time. If all rings are in use, a call
//! creates another ring, which stays in the pool for later calls.

use std::io;

use parking_lot::Mutex;
use rustix::io::Errno;

use super::ring::Ring;

/// A pool of the `io_uring` rings of a store that are not in use.
pub(super) struct Rings {
    depth: u32,
    idle: Mutex<Vec<Ring>>,
}

impl Rings {
    /// Creates an empty pool. Each `io_uring` ring of the pool can execute up to `depth` concurrent reads or writes.
    pub(super) fn new(depth: u32) -> Self {
        Self { depth, idle: Mutex::new(Vec::new()) }
    }

    /// Returns the maximum number of concurrent reads or writes in a ring of the pool.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// Checks that the kernel supports `io_uring`.
    ///
    /// # Errors
    /// The kernel rejects `io_uring`. The message names other back ends.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.idle.lock().is_empty() {
            self.lend(|_| Ok(()))?;
        }
        Ok(())
    }

    /// Calls `borrow` with an `io_uring` ring that no other call uses at the same time.
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

/// Adds advice to the error with which a kernel rejects `io_uring`. Returns all other errors unchanged.
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
