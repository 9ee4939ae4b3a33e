//! The Redis protocol, RESP2 and RESP3: requests, replies and commands.
//!
//! Requests are read in place, each byte once, under limits ([`Pipeline`]). Codecs of clients are not used for that:
//! they read replies, which nest without a limit, and start again with every packet.
//!
//! Successive writes of a pipeline form one batch. It holds the locks of its names until the tree has it: shared where
//! it only sets names, else exclusive, so that `INCR` and `HSET` are atomic. A read in between ends the batch, so that
//! a client sees its own writes and nobody sees them in another order.

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
