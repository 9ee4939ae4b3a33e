//! Defines the functions of Redis commands that read and write names, and the positions of the names in their requests.

use super::failure::Failure;
use super::pipeline::Request;
use super::replies::Replies;
use super::transaction::Transaction;
use crate::view::View;

/// A function that reads names (Redis keys) and writes the reply.
pub(crate) type Reading = fn(&dyn View, Request<'_>, &mut Replies<'_>) -> Result<(), Failure>;

/// A function that executes a write command: it changes names (Redis keys), and writes the reply.
pub(crate) type Writing = fn(&mut Transaction<'_>, Request<'_>, &mut Replies<'_>) -> Result<(), Failure>;

/// The positions of the names (Redis keys) among the arguments of a command: `first`, and every `step`-th position
/// after it, up to `last`.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    pub(crate) first: usize,
    pub(crate) last: Option<usize>,
    pub(crate) step: usize,
}

impl Names {
    pub(crate) const NONE: Self = Self { first: 1, last: Some(0), step: 1 };
    pub(crate) const ONE: Self = Self { first: 1, last: Some(1), step: 1 };
    pub(crate) const ALL: Self = Self { first: 1, last: None, step: 1 };
    pub(crate) const PAIRS: Self = Self { first: 1, last: None, step: 2 };

    /// Returns whether requests of the command contain no names (Redis keys).
    pub(crate) fn is_none(self) -> bool {
        self.last == Some(0)
    }

    /// Returns the arguments of a request that are names (Redis keys).
    pub(crate) fn of(self, request: Request<'_>) -> impl Iterator<Item = &[u8]> {
        let last = self.last.unwrap_or(usize::MAX).min(request.len() - 1);
        (self.first..=last).step_by(self.step).map(move |place| request.argument(place))
    }
}
