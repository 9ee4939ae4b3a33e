//! Describes a command: its name, its arguments, and the function that executes it.

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
    /// The name of the command in capitals.
    pub(crate) name: &'static str,
    /// The number of arguments, including the name of the command. A negative value is a minimum: the command needs at
    /// least as many arguments as the absolute value.
    pub(crate) arity: i32,
    /// The positions of the names (Redis keys) among the arguments.
    pub(crate) names: Names,
    pub(crate) run: Run,
}

/// The function that executes a command, by the kind of the command.
pub(crate) enum Run {
    /// A function that concerns the connection or the server, and never waits for storage.
    Client(fn(&mut Context<'_>, Request<'_>, &mut Replies<'_>) -> Result<Next, Failure>),
    /// A function that concerns the connection or the server, and may wait for storage.
    Server(fn(&mut Context<'_>, Request<'_>, &mut Replies<'_>) -> Result<Next, Failure>),
    /// A function that reads the values of a few names (Redis keys).
    Read(Reading),
    /// A function that reads many names (Redis keys), or all fields of a hash.
    Scan(fn(&Keyspace, Request<'_>, &mut Replies<'_>) -> Result<(), Failure>),
    /// A function that writes to the names (Redis keys) of a request. `access` returns which lock these names need. The
    /// lock is exclusive if the command also reads the names, as `INCR` does.
    Write { access: fn(Request<'_>) -> Access, run: Writing },
}

impl Command {
    /// Returns an error if a request has a wrong number of arguments for this command.
    pub(crate) fn check(&self, request: Request<'_>) -> Result<(), Failure> {
        let least = self.arity.unsigned_abs() as usize;
        match request.len() == least || (self.arity < 0 && request.len() > least) {
            true => Ok(()),
            false => Err(Failure::arguments(self.name)),
        }
    }

    /// Returns whether the command may wait for storage or for locks. A command that may wait must not run on a
    /// thread that serves sockets.
    pub(crate) fn may_wait(&self) -> bool {
        !matches!(self.run, Run::Client(_))
    }
}
