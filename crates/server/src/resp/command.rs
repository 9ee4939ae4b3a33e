//! The description of a command: its name, its arguments, and the function that executes it.

use super::client::Context;
use super::failure::Failure;
use super::pipeline::Request;
use super::replies::Replies;
use super::transaction::Transaction;
use crate::connection::Next;
use crate::keyspace::Keyspace;
use crate::stripes::Access;

/// A command of the protocol.
pub(crate) struct Command {
    /// The name in capitals.
    pub(crate) name: &'static str,
    /// The number of arguments with the name; negative where there may be more.
    pub(crate) arity: i32,
    /// The places of the names among the arguments.
    pub(crate) names: Names,
    pub(crate) run: Run,
}

/// The places of names among the arguments: every `step`-th one from `first` on, up to number `last` if there is an end.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    pub(crate) first: usize,
    pub(crate) last: Option<usize>,
    pub(crate) step: usize,
}

impl Names {
    pub(crate) const NONE: Self = Self { first: 0, last: Some(0), step: 0 };
    pub(crate) const ONE: Self = Self { first: 1, last: Some(1), step: 1 };
    pub(crate) const ALL: Self = Self { first: 1, last: None, step: 1 };
    pub(crate) const PAIRS: Self = Self { first: 1, last: None, step: 2 };

    /// The names in a request.
    pub(crate) fn of<'a>(self, request: Request<'a>) -> impl Iterator<Item = &'a [u8]> {
        let last = self.last.unwrap_or(usize::MAX).min(request.len().saturating_sub(1));
        let places = if self.step == 0 { 1..=0 } else { self.first..=last };
        places.step_by(self.step.max(1)).map(move |place| request.argument(place))
    }
}

/// The function of a command.
pub(crate) enum Run {
    /// Concerns the connection or the server.
    Client(fn(&mut Context<'_>, Request<'_>, &mut Replies<'_>) -> Result<Next, Failure>),
    /// Reads names.
    Read(fn(&Keyspace, Request<'_>, &mut Replies<'_>) -> Result<(), Failure>),
    /// Reads very many names, or the fields of a hash.
    Scan(fn(&Keyspace, Request<'_>, &mut Replies<'_>) -> Result<(), Failure>),
    /// Writes names. `access` decides whether the batch excludes others.
    Write {
        access: fn(Request<'_>) -> Access,
        run: fn(&mut Transaction<'_>, Request<'_>, &mut Replies<'_>) -> Result<(), Failure>,
    },
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

    /// Whether it may wait for storage, so that it must not run where sockets are served.
    pub(crate) fn may_wait(&self) -> bool {
        match self.run {
            Run::Client(_) => self.names.step == 0 && matches!(self.name, "FLUSHDB" | "FLUSHALL" | "INFO"),
            Run::Read(_) | Run::Scan(_) | Run::Write { .. } => true,
        }
    }
}
