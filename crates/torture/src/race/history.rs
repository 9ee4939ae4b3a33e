//! The operations of one round of a race, as each thread recorded them.

use std::fmt;
use std::ops::Range;

use super::keys::{Key, Keys, Version, named};

/// A logical timestamp: the value of a counter that all threads share, so that all timestamps are ordered.
pub(crate) type Moment = u64;

/// A key, with the version that an operation wrote or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The key that was written or read.
    pub(crate) key: Key,
    /// The version that was written or read. [`NOTHING`](super::keys::NOTHING) stands for a delete or an absent key.
    pub(crate) version: Version,
}

/// The kind of an operation of a race, such as a get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationKind {
    /// An atomic batch of writes.
    Commit,
    /// A read of one key (a get).
    Get,
    /// A read of many keys (a multi-get).
    MultiGet,
    /// A scan of a key range through a cursor. It takes effect when the cursor is opened.
    Cursor,
    /// All reads of a snapshot. They take effect when the snapshot is taken.
    Snapshot,
    /// The content of a checkpoint, as one read. It takes effect when the checkpoint is made.
    Checkpoint,
    /// The content of a store after it was closed and opened again, as one read.
    Reopened,
    /// The content of a store that was opened on a copy of the disk, as one read. It takes effect when the disk is
    /// copied.
    Crashed,
}

/// An operation of a race, with the times of its call and of its return.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// The kind of the operation.
    pub(crate) kind: OperationKind,
    /// The logical timestamp of the call of the operation.
    pub(crate) called: Moment,
    /// The logical timestamp of the return of the operation.
    pub(crate) returned: Moment,
    /// The keys and versions of the operation, as an index range in [`Log::cells`].
    pub(crate) cells: Range<usize>,
}

/// The operations of one thread in a round of a race, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// The operations of the thread, in the order in which it executed them.
    pub(crate) operations: Vec<Operation>,
    /// The keys and versions of all operations of the thread.
    pub(crate) cells: Vec<Cell>,
}

impl Log {
    /// Returns the keys and versions that an operation wrote or read.
    pub(crate) fn cells(&self, operation: &Operation) -> &[Cell] {
        &self.cells[operation.cells.clone()]
    }

    /// Appends an operation with its keys and versions to the log.
    pub(crate) fn add(&mut self, kind: OperationKind, (called, returned): (Moment, Moment), cells: &[Cell]) {
        let from = self.cells.len();
        self.cells.extend_from_slice(cells);
        self.operations.push(Operation { kind, called, returned, cells: from..self.cells.len() });
    }
}

/// The recorded operations of one round of a race. There is one log per thread: first the writers, in the order of
/// their numbers, and then threads that only read.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// The number of the round, which is a part of each version that the round writes.
    pub(crate) round: u32,
    /// The keys of the race, and the writer that owns each key.
    pub(crate) keys: Keys,
    /// The version that each key had before the round.
    pub(crate) initial: Vec<Version>,
    /// The operations of the round, one log per thread.
    pub(crate) logs: Vec<Log>,
}

/// An operation of a race, with its number among all operations and the number of its thread.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) history: &'a History,
    pub(crate) number: u32,
    pub(crate) thread: usize,
    pub(crate) operation: &'a Operation,
}

impl<'a> At<'a> {
    pub(crate) fn cells(&self) -> &'a [Cell] {
        self.history.logs[self.thread].cells(self.operation)
    }
}

impl History {
    /// Returns all operations of the round, thread by thread.
    pub(crate) fn operations(&self) -> impl Iterator<Item = At<'_>> {
        let threads = self.logs.iter().enumerate();
        let all =
            threads.flat_map(|(thread, log)| log.operations.iter().map(move |operation| (thread, operation)));
        (0..).zip(all).map(|(number, (thread, operation))| At { history: self, number, thread, operation })
    }
}

/// The maximum number of keys and versions that are printed per operation.
const MOST_CELLS: usize = 6;

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Operation { kind, called, returned, .. } = self.operation;
        write!(f, "[{called}, {returned}] thread {} {kind:?}:", self.thread)?;
        let cells = self.cells();
        for Cell { key, version } in cells.iter().take(MOST_CELLS) {
            write!(f, " {key}={}", named(*version))?;
        }
        if cells.len() > MOST_CELLS { write!(f, " and {} more", cells.len() - MOST_CELLS) } else { Ok(()) }
    }
}
