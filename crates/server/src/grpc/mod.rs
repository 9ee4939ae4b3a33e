//! The protocol gRPC with the service of `proto/lsmbench.proto`.
//!
//! * A connection is an HTTP/2 connection. The calls of a connection run at the same time, so their writes share
//!   syncs, like the writes of several connections.
//! * A write is executed without interruption after its request is complete. A call that is cancelled or cut off
//!   before that step writes nothing.
//! * A scan reads its next entries only when the client can receive them. A slow client therefore uses the memory of
//!   one response.

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
