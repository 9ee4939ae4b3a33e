//! The limits of a server: what its clients may cost.

use types::{MAX_KEY_BYTES, MAX_VALUE_BYTES};

/// The limits of a server. Each is enforced with an error that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Connections at a time. A further client gets an error and is disconnected.
    pub connections: usize,
    /// Bytes of one request. A longer one is an error, and its client is disconnected.
    pub request_bytes: usize,
    /// Bytes of one reply. A longer one is an error in its place.
    pub reply_bytes: usize,
    /// Bytes of the buffers of all clients together. The client that exceeds them is disconnected.
    pub client_memory_bytes: usize,
}

/// Bytes of the longest argument of a request: the limit of values.
pub(crate) const MAX_ARGUMENT_BYTES: usize = MAX_VALUE_BYTES;

/// Bytes of the longest key of a request. The tree stores it with up to one byte more.
pub(crate) const MAX_NAME_BYTES: usize = MAX_KEY_BYTES - 1;

/// Arguments of one request, the command included.
pub(crate) const MAX_ARGUMENTS: usize = 1 << 20;

/// Bytes of one request in the inline form.
pub(crate) const MAX_INLINE_BYTES: usize = 64 << 10;

/// Bytes of an argument, before the client has sent the password.
pub(crate) const MAX_STRANGER_ARGUMENT_BYTES: usize = 16 << 10;

/// Arguments of a request, before the client has sent the password.
pub(crate) const MAX_STRANGER_ARGUMENTS: usize = 10;

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            request_bytes: 128 << 20,
            reply_bytes: 256 << 20,
            client_memory_bytes: 1 << 30,
        }
    }
}
