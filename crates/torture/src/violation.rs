//! Defines the violations of a store's contract after a crash, an error or corruption.

use std::fmt;

use thiserror::Error;

/// A failed check of a store, with a description of the evidence.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{check}: {what}")]
pub struct Violation {
    /// The check that failed, such as a check of durability.
    pub check: Check,
    /// A description of the evidence, such as the wrong value.
    pub what: String,
}

impl Violation {
    /// Creates a violation of the check `check`. `what` describes the evidence.
    pub fn new(check: Check, what: impl Into<String>) -> Self {
        Self { check, what: what.into() }
    }
}

/// A check of a store: an invariant that every store must satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// The store opens on every disk state that a crash can leave.
    Opens,
    /// The store contains every write that its WAL mode promises to keep.
    Promise,
    /// The store contains only data that the test wrote.
    Invention,
    /// The store contains either all writes of a batch or none of them.
    Batch,
    /// The content of the store results from its first n commits, for some n.
    Order,
    /// Deleted keys stay deleted.
    Deletion,
    /// Gets, scans and the expected content agree.
    Reads,
    /// `verify` reports no corruption in a disk state that a crash leaves.
    CleanBefore,
    /// `verify` reports no corruption in a store that was recovered and written to.
    CleanAfter,
    /// A killed store satisfies all other checks, and is as durable as its engine declares.
    AfterKill,
    /// The store accepts writes and flushes, and opens again after it was closed, unless it reported a fault.
    GoesOn,
    /// A crash during recovery does not change the recovered content. A crash after recovery keeps all promises of the
    /// WAL mode.
    Recovery,
    /// A completed checkpoint opens as a store. An interrupted checkpoint may fail to open.
    Checkpoint,
    /// Every error reaches the caller, and names the file and the cause.
    Report,
    /// After a failed sync, no write is acknowledged until the store is reopened.
    Stops,
    /// No operation panics.
    Panic,
    /// `verify` reports every harmful corruption in one call.
    Told,
    /// A report of corruption names the corrupted file.
    Named,
    /// A corrupted store returns either the right answer or an error.
    Answer,
    /// If the corrupted files are moved to the quarantine, the store returns all other data and accepts writes.
    Quarantine,
    /// `verify` does not change the files of the store.
    Unchanged,
    /// A read returns every write that was acknowledged before the call of the read.
    Stale,
    /// A read returns no write that began after the read returned.
    Future,
    /// A read finds every key that is present.
    Missing,
    /// All entries that a read returns come from one consistent state of the store.
    Moments,
    /// Reads and writes of one key are linearizable.
    Register,
    /// All operations are serializable.
    Serial,
    /// A cursor returns each key of its range once, in key order.
    Cursor,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Opens => "the store does not open",
            Self::Promise => "a write is lost although the store promised to keep it",
            Self::Invention => "the store contains data that was never written",
            Self::Batch => "a batch is only partly present",
            Self::Order => "a write is missing although a later write is present",
            Self::Deletion => "a deleted key is present again",
            Self::Reads => "gets and scans do not return the expected content",
            Self::CleanBefore => "verify reports corruption in a state that is normal after a crash",
            Self::CleanAfter => "verify finds corruption after recovery",
            Self::AfterKill => "after the kill",
            Self::GoesOn => {
                "the store rejects writes or flushes, or does not open again, although it reported no \
                 fault"
            }
            Self::Recovery => {
                "a crash during or after the recovery changes recovered or acknowledged content"
            }
            Self::Checkpoint => "a checkpoint is incomplete",
            Self::Report => "the caller receives no error, or an error without its file and cause",
            Self::Stops => "writes are acknowledged after a failed sync",
            Self::Panic => "a call panicked",
            Self::Told => "verify does not report all corruption",
            Self::Named => "the corruption error does not name the corrupt file",
            Self::Answer => "a corrupt store returns wrong data instead of an error",
            Self::Quarantine => "the intact data of a corrupt store cannot be used",
            Self::Unchanged => "verify changes the store",
            Self::Stale => "a read misses a write that was acknowledged before the read began",
            Self::Future => "a read returns a write that began after the read returned",
            Self::Missing => "a present key is not found",
            Self::Moments => "the entries of one read come from several states of the store",
            Self::Register => "no order of the writes of one key explains its reads",
            Self::Serial => "no order of all operations explains the reads",
            Self::Cursor => "a cursor returns wrong keys",
        })
    }
}
