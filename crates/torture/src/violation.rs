//! What can be wrong with a store after a crash, an error or damage.

use std::fmt;

use thiserror::Error;

/// A check that a store did not pass, and what was found.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{check}: {what}")]
pub struct Violation {
    /// The check.
    pub check: Check,
    /// What was found.
    pub what: String,
}

impl Violation {
    /// A violation of `check`.
    pub fn new(check: Check, what: impl Into<String>) -> Self {
        Self { check, what: what.into() }
    }
}

/// What a store is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// The store opens on every state that a crash can leave.
    Opens,
    /// Every write that was promised is there.
    Promise,
    /// Nothing is there that was never written.
    Invention,
    /// A batch is there whole or not at all.
    Batch,
    /// What is there is a prefix of the writes, in their order.
    Order,
    /// What was deleted stays deleted.
    Deletion,
    /// Point reads, ranges and the model agree.
    Reads,
    /// `verify` takes nothing that a crash leaves for damage.
    CleanBefore,
    /// `verify` finds no damage in a store that was recovered and written to.
    CleanAfter,
    /// A recovered store takes writes, flushes and opens again.
    GoesOn,
    /// A crash during recovery changes nothing of what is recovered, and one in the life behind it keeps what
    /// that life was promised.
    Recovery,
    /// A checkpoint is a whole store of its own, or clearly none.
    Checkpoint,
    /// An error reaches the caller with its file and its cause.
    Report,
    /// After a sync that failed nothing is acknowledged until the store is opened again.
    Stops,
    /// Nothing panics.
    Panic,
    /// `verify` tells all damage that could do harm, in one pass.
    Told,
    /// What is told of damage names the file.
    Named,
    /// No answer of a damaged store is wrong: it is right or an error.
    Answer,
    /// Without the files that are damaged, the rest of a store can be read, and goes on.
    Quarantine,
    /// `verify` changes nothing.
    Unchanged,
    /// A read shows what was acknowledged before it was called.
    Stale,
    /// A read shows nothing that was begun after it returned.
    Future,
    /// A key that is there is found.
    Missing,
    /// All of a read is of one moment.
    Moments,
    /// Reads and writes of one key have an order.
    Register,
    /// All operations have one order.
    Serial,
    /// A cursor gives out the keys of its range, in order, each once.
    Cursor,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Opens => "the store does not open",
            Self::Promise => "a promised write is lost",
            Self::Invention => "something is there that was never written",
            Self::Batch => "a batch is there in part",
            Self::Order => "a write is missing before one that is there",
            Self::Deletion => "a deleted key is back",
            Self::Reads => "reads are wrong",
            Self::CleanBefore => "verify takes a crash for damage",
            Self::CleanAfter => "verify finds damage after recovery",
            Self::GoesOn => "the store does not go on",
            Self::Recovery => "a second crash changes what was recovered",
            Self::Checkpoint => "a checkpoint is neither whole nor absent",
            Self::Report => "an error does not reach the caller",
            Self::Stops => "writes are acknowledged after a failed sync",
            Self::Panic => "a panic",
            Self::Told => "damage is not told",
            Self::Named => "damage is told without its file",
            Self::Answer => "an answer is wrong",
            Self::Quarantine => "the rest of a damaged store cannot be used",
            Self::Unchanged => "verify changes the store",
            Self::Stale => "a read misses what was acknowledged before it",
            Self::Future => "a read shows what began after it",
            Self::Missing => "a key that is there is not found",
            Self::Moments => "one read shows several moments",
            Self::Register => "no order of one key explains its reads",
            Self::Serial => "no order of all operations explains the reads",
            Self::Cursor => "a cursor gives out keys that are not due",
        })
    }
}
