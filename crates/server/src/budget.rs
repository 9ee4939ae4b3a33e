//! Limits the memory of all clients together, and counts the memory of each client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The error message for a client whose buffers would exceed the memory limit of all clients.
pub(crate) const TOO_MUCH_MEMORY: &str = "the clients of this server use more memory than the limit; try \
                                          again later";

/// The memory budget of a server: the number of bytes in the buffers of all clients, and the limit of this number.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    taken_bytes: AtomicUsize,
    limit_bytes: usize,
}

impl MemoryBudget {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self { taken_bytes: AtomicUsize::new(0), limit_bytes }
    }

    /// Returns the number of bytes that the buffers of all clients use now.
    pub(crate) fn taken_bytes(&self) -> usize {
        self.taken_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// Creates the account for the memory of a new client in this memory budget.
    pub(crate) fn share(self: &Arc<Self>) -> MemoryShare {
        MemoryShare { budget: Arc::clone(self), bytes: 0 }
    }
}

/// The account of one client in the memory budget of a server. Dropping this value returns the client's bytes to the
/// budget.
#[derive(Debug)]
pub(crate) struct MemoryShare {
    budget: Arc<MemoryBudget>,
    bytes: usize,
}

impl MemoryShare {
    /// Sets the number of bytes in the buffers of this client. Returns `false` if the number grows and all clients
    /// together then exceed the limit. The number is set in this case, too.
    pub(crate) fn set(&mut self, bytes: usize) -> bool {
        let before = std::mem::replace(&mut self.bytes, bytes);
        if bytes <= before {
            self.budget.taken_bytes.fetch_sub(before - bytes, Ordering::Relaxed);
            return true;
        }
        let others = self.budget.taken_bytes.fetch_add(bytes - before, Ordering::Relaxed);
        others + (bytes - before) <= self.budget.limit_bytes
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_all_clients_meet_one_limit() {
        let budget = Arc::new(MemoryBudget::new(100));
        let (mut first, mut second) = (budget.share(), budget.share());
        assert!(first.set(60) && second.set(40) && !second.set(41));
        assert_eq!(budget.taken_bytes(), 101);
        assert!(first.set(10) && second.set(90));
        drop(first);
        assert_eq!(budget.taken_bytes(), 90);
    }
}
