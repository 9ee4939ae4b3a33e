//! What was done in a round of a race, as each thread recorded it.

use std::fmt;
use std::ops::Range;

use super::keys::{Key, Keys, Version, named};

/// A moment: the value of a counter that all threads take numbers from, so that of two moments one is earlier.
pub(crate) type Moment = u64;

/// A key, and what was written to it or seen there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The key.
    pub(crate) key: Key,
    /// The version; [`NOTHING`](super::keys::NOTHING) for a delete, or where nothing was seen.
    pub(crate) version: Version,
}

/// What an operation was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationKind {
    /// Writes that happen together.
    Commit,
    /// A read of one key.
    Get,
    /// A read of many keys.
    MultiGet,
    /// A read of all keys between two, through a cursor; the moment is that of opening it.
    Cursor,
    /// All that was read of a snapshot; the moment is that of taking it.
    Snapshot,
    /// What a checkpoint holds; the moment is that of making it.
    Checkpoint,
    /// What a store held that was closed and opened again.
    Reopened,
    /// What a store held that was opened on a copy of the disk; the moment is that of the copy.
    Crashed,
}

/// An operation, from its call to its return.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// What it was.
    pub(crate) kind: OperationKind,
    /// When it was called.
    pub(crate) called: Moment,
    /// When it returned.
    pub(crate) returned: Moment,
    /// Its cells in the log.
    pub(crate) cells: Range<usize>,
}

/// The operations of one thread, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// The operations.
    pub(crate) operations: Vec<Operation>,
    /// The cells of all of them.
    pub(crate) cells: Vec<Cell>,
}

impl Log {
    /// The cells of an operation.
    pub(crate) fn cells(&self, operation: &Operation) -> &[Cell] {
        &self.cells[operation.cells.clone()]
    }

    /// Notes an operation with its cells.
    pub(crate) fn add(&mut self, kind: OperationKind, (called, returned): (Moment, Moment), cells: &[Cell]) {
        let from = self.cells.len();
        self.cells.extend_from_slice(cells);
        self.operations.push(Operation { kind, called, returned, cells: from..self.cells.len() });
    }
}

/// A round: all logs. The first ones are those of the writers, by their numbers; others only read.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// Its number, which its versions carry.
    pub(crate) round: u32,
    /// The keys.
    pub(crate) keys: Keys,
    /// What each key held before.
    pub(crate) initial: Vec<Version>,
    /// The logs.
    pub(crate) logs: Vec<Log>,
}

/// An operation of a history, with its number there and its thread.
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
    /// All operations, thread by thread.
    pub(crate) fn operations(&self) -> impl Iterator<Item = At<'_>> {
        let threads = self.logs.iter().enumerate();
        let all =
            threads.flat_map(|(thread, log)| log.operations.iter().map(move |operation| (thread, operation)));
        (0..).zip(all).map(|(number, (thread, operation))| At { history: self, number, thread, operation })
    }
}

/// The most cells that are told of one operation.
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
