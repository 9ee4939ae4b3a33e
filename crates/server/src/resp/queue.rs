//! Stores the requests that a client has sent between `MULTI` and `EXEC`.

use std::io::Write as _;

use super::pipeline::Request;
use super::work::{Names, Reading, Writing};

/// The requests of a transaction, which `EXEC` executes.
#[derive(Default)]
pub(crate) struct Queue {
    /// The queued requests as bytes of the Redis protocol.
    pub(crate) bytes: Vec<u8>,
    /// The function and the names (Redis keys) of each queued request.
    pub(crate) work: Vec<Queued>,
    /// Whether a request of the transaction was rejected. `EXEC` then executes no queued request.
    pub(crate) is_broken: bool,
}

/// A queued request of a transaction: its names (Redis keys), and the function that executes it.
pub(crate) struct Queued {
    pub(crate) names: Names,
    pub(crate) work: Work,
}

/// The function that executes one queued request of a transaction.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    Read(Reading),
    Write(Writing),
}

impl Queue {
    /// Adds a request to the queue of the transaction.
    pub(crate) fn add(&mut self, request: Request<'_>, queued: Queued) {
        // Writing into a vector cannot fail.
        let _ = write!(self.bytes, "*{}\r\n", request.len());
        for argument in request.arguments(0) {
            let _ = write!(self.bytes, "${}\r\n", argument.len());
            self.bytes.extend_from_slice(argument);
            self.bytes.extend_from_slice(b"\r\n");
        }
        self.work.push(queued);
    }

    /// Removes all requests from the queue, and marks the transaction as rejected. The next `EXEC` then returns an
    /// error.
    pub(crate) fn break_off(&mut self) {
        *self = Self { is_broken: true, ..Self::default() };
    }
}
