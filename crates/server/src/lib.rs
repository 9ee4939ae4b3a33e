//! Serves one store to many concurrent clients. Clients use the Redis protocol (RESP2 and RESP3), the text language of
//! `lsmbench shell`, or gRPC (feature `grpc`).
//!
//! A [`Server`] listens on a socket until it is stopped, and serves a [`ServedStore`]. Sockets are asynchronous, so an
//! idle client uses no thread and no buffer. Calls to the tree block, so they run on separate threads. Concurrent
//! writes enter the write queue of the tree, where they can share syncs. This crate is above [`tree`] and below the
//! command line (`lsmbench serve`).
//!
//! * A *pipeline* is the list of requests of a client that are not yet answered. Successive writes of a pipeline form
//!   one write batch of the tree ([`resp`]).
//! * A write locks its keys with a fixed number of locks, the stripes. Reads take no lock.
//! * Each column family of the store is a separate database. All databases share the WAL of the store.
//! * [`ServerLimits`] limit the resources of each client.
//!
//! The text language also works without a socket ([`answer_command`]):
//!
//! ```
//! use lsmbench_server::answer_command;
//! use workload::CommandReader;
//!
//! let design = tree::Design::default().with(&"storage = \"memory\"".parse()?)?;
//! let store = tree::OpenOptions::new(design).open("db")?;
//! let (commands, limit_bytes, mut answers) = ("p apple red\ng apple\n", 1024, Vec::new());
//! for command in CommandReader::new(commands.as_bytes()) {
//!     answer_command(&store, &command?, limit_bytes, &mut answers)?;
//! }
//! assert_eq!(answers, b"red\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod budget;
mod connection;
mod counters;
mod cursors;
mod databases;
mod exposition;
#[cfg(feature = "grpc")]
pub mod grpc;
mod keyspace;
mod limits;
mod listener;
mod names;
mod options;
mod password;
pub mod resp;
mod shared;
mod space;
mod stripes;
mod text;
mod view;

pub use databases::ServedStore;
pub use limits::ServerLimits;
pub use listener::{ServeError, Server};
pub use options::{Protocol, ServerOptions};
pub use text::{TextError, TextStore, answer_command};
