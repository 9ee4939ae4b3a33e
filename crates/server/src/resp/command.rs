//! Describes a Redis command: its name, its arguments, and the function that executes it.

use super::client::Context;
use super::failure::Failure;
use super::pipeline::Request;
use super::replies::Replies;
use super::work::{Names, Reading, Writing};
use crate::connection::Next;
use crate::keyspace::Keyspace;
use crate::stripes::Access;

/// A command of the Redis protocol.
pub(crate) struct Command {
    /// The name of the command in capitals, such as `GET`.
    pub(crate) name: &'static str,
    /// The number of arguments, including the name of the command. A negative number -n means at least n arguments.
    pub(crate) arity: i32,
    /// The positions of the names (Redis keys) among the arguments of the command.
    pub(crate) names: Names,
    pub(crate) run: Run,
}

/// The function that executes a command. The variants differ in the data that the function needs, and in whether it may
/// wait.
pub(crate) enum Run {
    /// A function that needs only the connection or the server, and never waits for storage.
    Client(fn(&mut Context<'_>, Request<'_>, &mut Replies<'_>) -> Result<Next, Failure>),
    /// A function that needs only the connection or the server, but may wait for storage.
    Server(fn(&mut Context<'_>, Request<'_>, &mut Replies<'_>) -> Result<Next, Failure>),
    /// A function that reads the values of a few names (Redis keys).
    Read(Reading),
    /// A function that reads many names (Redis keys), or all fields of a hash.
    Scan(fn(&Keyspace, Request<'_>, &mut Replies<'_>) -> Result<(), Failure>),
    /// A function that writes to the names (Redis keys) of a request. `access` returns whether the request also reads
    /// these names, as `INCR` does, and therefore needs an exclusive lock.
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

    /// Returns whether the command may wait for storage or for locks, so that it must not run on a thread that serves
    /// sockets.
    pub(crate) fn may_wait(&self) -> bool {
        !matches!(self.run, Run::Client(_))
    }
}
