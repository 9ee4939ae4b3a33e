//! Implements the gRPC service of `proto/lsmbench.proto`.
//!
//! * A connection is an HTTP/2 connection. Its calls run concurrently, so their writes can share syncs.
//! * The server executes a write after it has received the complete request. If the client cancels the call earlier,
//!   the call writes nothing.
//! * A scan reads its next entries only when the client can receive them. A slow client therefore uses the memory of
//!   only one response.

mod batch;
mod body;
mod call;
mod connection;
mod counted;
mod local;
pub mod messages;
mod method;
mod prefix;
mod scan;
mod service;
mod status;
mod work;

pub(crate) use connection::{serve, turn_away};
pub use local::LocalService;
