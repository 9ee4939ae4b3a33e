//! The limits of a server for its clients.

use types::{MAX_KEY_BYTES, MAX_VALUE_BYTES};

/// The limits of a server. If a client exceeds a limit, the client receives an error that names the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Maximum number of connections at the same time. A further client gets an error and is disconnected.
    pub connections: usize,
    /// Maximum number of bytes of one request. A longer request is an error, and its client is disconnected.
    pub request_bytes: usize,
    /// Maximum number of bytes of one reply. An error is sent instead of a longer reply.
    pub reply_bytes: usize,
    /// Maximum number of bytes in the buffers of all clients together. The client that exceeds this limit is
    /// disconnected.
    pub client_memory_bytes: usize,
}

/// Maximum number of bytes of one argument of a request. This limit is equal to the limit for the size of values.
pub(crate) const MAX_ARGUMENT_BYTES: usize = MAX_VALUE_BYTES;

/// Maximum number of bytes of one name. The tree stores a name as a key with up to one additional byte.
pub(crate) const MAX_NAME_BYTES: usize = MAX_KEY_BYTES - 1;

/// Maximum number of arguments of one request, including the command.
pub(crate) const MAX_ARGUMENTS: usize = 1 << 20;

/// Maximum number of bytes of one request in the inline form.
pub(crate) const MAX_INLINE_BYTES: usize = 64 << 10;

/// Maximum number of bytes of an argument, before the client has sent the password.
pub(crate) const MAX_STRANGER_ARGUMENT_BYTES: usize = 16 << 10;

/// Maximum number of arguments of a request, before the client has sent the password.
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
