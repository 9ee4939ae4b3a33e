//! The description of a command: its name, its arguments, and the function that executes it.

use super::client::Context;
use super::failure::Failure;
use super::pipeline::Request;
use super::replies::Replies;
use super::work::{Names, Reading, Writing};
use crate::connection::Next;
use crate::keyspace::Keyspace;
use crate::stripes::Access;

/// A command of the protocol.
pub(crate) struct Command {
    /// The name in capitals.
    pub(crate) name: &'static str,
    /// The number of arguments with the name; negative where there may be more.
    pub(crate) arity: i32,
    /// The positions of the names among the arguments.
    pub(crate) names: Names,
    pub(crate) run: Run,
}

/// The function of a command.
pub(crate) enum Run {
    /// Concerns the connection or the server.
    Client(fn(&mut Context<'_>, Request<'_>, &mut Replies<'_>) -> Result<Next, Failure>),
    /// Like `Client`, but the function may wait for storage.
    Server(fn(&mut Context<'_>, Request<'_>, &mut Replies<'_>) -> Result<Next, Failure>),
    /// Reads names.
    Read(Reading),
    /// Reads very many names, or the fields of a hash.
    Scan(fn(&Keyspace, Request<'_>, &mut Replies<'_>) -> Result<(), Failure>),
    /// A command that writes names. `access` decides whether its batch excludes other batches.
    Write { access: fn(Request<'_>) -> Access, run: Writing },
}

impl Command {
    /// Checks the number of arguments.
    pub(crate) fn check(&self, request: Request<'_>) -> Result<(), Failure> {
        let least = self.arity.unsigned_abs() as usize;
        match request.len() == least || (self.arity < 0 && request.len() > least) {
            true => Ok(()),
            false => Err(Failure::arguments(self.name)),
        }
    }

    /// Whether the command may wait for storage or for locks. Such a command must not run on a thread that serves
    /// sockets.
    pub(crate) fn may_wait(&self) -> bool {
        !matches!(self.run, Run::Client(_))
    }
}
