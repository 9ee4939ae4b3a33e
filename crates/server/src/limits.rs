//! Defines the limits of a server for its clients.

use types::{MAX_KEY_BYTES, MAX_VALUE_BYTES};

/// The limits of a server for its clients. A client that exceeds a limit receives an error that names the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// The maximum number of concurrent connections. The server answers a further client with an error and disconnects
    /// it.
    pub connections: usize,
    /// The maximum size of one request in bytes. The server answers a longer request with an error and disconnects the
    /// client.
    pub request_bytes: usize,
    /// The maximum size of one reply in bytes. The server sends an error instead of a longer reply.
    pub reply_bytes: usize,
    /// The maximum size of the buffers of all clients together, in bytes. The server disconnects a client whose buffers
    /// would exceed this limit.
    pub client_memory_bytes: usize,
}

/// The maximum size of one argument of a request in bytes, which is also the maximum size of a value.
pub(crate) const MAX_ARGUMENT_BYTES: usize = MAX_VALUE_BYTES;

/// The maximum size of one name (a Redis key) in bytes. The key of a string in the tree may be one byte longer than its
/// name.
pub(crate) const MAX_NAME_BYTES: usize = MAX_KEY_BYTES - 1;

/// The maximum number of arguments of one request, including the command.
pub(crate) const MAX_ARGUMENTS: usize = 1 << 20;

/// The maximum size of one request in the inline form (one line of words), in bytes.
pub(crate) const MAX_INLINE_BYTES: usize = 64 << 10;

/// The maximum size of an argument before the client has sent the password, in bytes.
pub(crate) const MAX_STRANGER_ARGUMENT_BYTES: usize = 16 << 10;

/// The maximum number of arguments of a request before the client has sent the password.
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
