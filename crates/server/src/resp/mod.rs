//! Implements the Redis protocol, RESP2 and RESP3: requests, replies and commands.
//!
//! Requests are parsed in place, each byte once, within limits ([`Pipeline`]). The codecs of client libraries are not
//! suitable, because they parse replies, and parse an incomplete message again for every packet.
//!
//! Successive writes of a pipeline form one batch. The batch locks its names until the tree has executed it. The locks
//! are shared if the batch only sets names, and exclusive if it also reads them, so that `INCR` and `HSET` are atomic.
//! A read ends the current batch, so a client sees its own writes.

mod client;
mod command;
mod failure;
mod generic;
mod glob;
mod hashes;
mod info;
mod inline;
mod multi;
mod pipeline;
mod queue;
mod replies;
mod session;
mod strings;
mod table;
mod transaction;
mod work;

pub use pipeline::{Pipeline, ProtocolError, Request, RequestLimits};
pub(crate) use session::RespSession;
