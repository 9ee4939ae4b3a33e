//! Represents one gRPC call of a client, and counts the memory that the call uses.

use std::sync::Arc;

use parking_lot::Mutex;
use tonic::Status;

use crate::budget::{MemoryShare, TOO_MUCH_MEMORY};
use crate::shared::Shared;

/// The number of bytes that a call may always use, even if all clients together exceed the memory limit.
const SMALL_BYTES: usize = 4 << 10;

/// A gRPC call, which exists from the first byte of its request to the last byte of its response.
pub(super) struct Call {
    pub(super) shared: Arc<Shared>,
    memory: Mutex<MemoryShare>,
}

impl Call {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), memory: Mutex::new(shared.memory.share()) }
    }

    /// Sets the number of bytes that the messages of this call use in memory.
    ///
    /// # Errors
    /// All clients together exceed the memory limit, and `bytes` is larger than [`SMALL_BYTES`].
    pub(super) fn set_memory(&self, bytes: usize) -> Result<(), Status> {
        let mut memory = self.memory.lock();
        if memory.set(bytes) || bytes <= SMALL_BYTES {
            return Ok(());
        }
        memory.set(0);
        Err(Status::resource_exhausted(TOO_MUCH_MEMORY))
    }

    /// Checks the size of a response, and counts its memory. `bytes` is the size of its keys and values.
    ///
    /// # Errors
    /// The response is larger than the limit, or all clients together exceed the memory limit.
    pub(super) fn admit_response(&self, bytes: usize) -> Result<(), Status> {
        let limit = self.shared.options.limits.reply_bytes;
        if bytes > limit {
            let message = format!("the response has {bytes} bytes; the limit is {limit} bytes");
            return Err(Status::resource_exhausted(message));
        }
        self.set_memory(bytes)
    }
}
