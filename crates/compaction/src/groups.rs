//! Groups of overlapping SSTables in a level. Also picks the job that adds the data of level 0 to level 1 without
//! rewriting the SSTables of level 1.

use std::sync::Arc;

use crate::job::{Action, Job};
use crate::shape::{RunId, Shape, TableId, TableShape, overlap};
use crate::tables::overlapping;

/// A group: SSTables of a level that overlap each other, directly or through other SSTables.
pub(crate) struct Group<'a> {
    pub(crate) smallest: &'a Arc<[u8]>,
    pub(crate) largest: &'a [u8],
    pub(crate) tables: Vec<&'a TableShape>,
    /// For each SSTable of the group, the index of its run in the level. The newest run of the level has the index 0.
    pub(crate) runs: Vec<usize>,
}

impl Group<'_> {
    /// Returns the indexes of the runs that have an SSTable in the group, in ascending order and each once. The newest
    /// run of the level has the index 0.
    pub(crate) fn fragments(&self) -> Vec<usize> {
        let mut runs = self.runs.clone();
        runs.sort_unstable();
        runs.dedup();
        runs
    }

    pub(crate) fn inputs(&self) -> Vec<TableId> {
        self.tables.iter().map(|table| table.id).collect()
    }
}

/// Divides the SSTables of a level into groups, and returns the groups in key order. The SSTables of a group overlap
/// each other, directly or through other SSTables.
pub(crate) fn groups(shape: &Shape, level: usize) -> Vec<Group<'_>> {
    let runs = shape.runs_of(level).iter().enumerate();
    let mut tables: Vec<(usize, &TableShape)> =
        runs.flat_map(|(at, run)| run.tables.iter().map(move |table| (at, table))).collect();
    tables.sort_by(|(_, one), (_, other)| one.smallest.cmp(&other.smallest));
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (run, table) in tables {
        match groups.last_mut() {
            Some(group) if *table.smallest <= *group.largest => {
                group.largest = group.largest.max(&table.largest);
                group.tables.push(table);
                group.runs.push(run);
            }
            _ => groups.push(Group {
                smallest: &table.smallest,
                largest: &table.largest,
                tables: vec![table],
                runs: vec![run],
            }),
        }
    }
    groups
}

/// Returns the oldest run of a level that can receive SSTables with keys from `smallest` to `largest` (both inclusive).
/// Neither this run nor a newer run of the level has an SSTable that overlaps this key range. Returns `None` if these
/// SSTables need a new run.
pub(crate) fn oldest_with_room(
    shape: &Shape,
    level: usize,
    smallest: &[u8],
    largest: &[u8],
) -> Option<RunId> {
    let has_room = |run: &&crate::Run<TableShape>| overlapping(run, smallest, largest).is_empty();
    shape.runs_of(level).iter().take_while(has_room).last().map(|run| run.id)
}

/// Returns the job that compacts all runs of level 0 into level 1 without rewriting the SSTables of level 1. The inputs
/// are moved if they overlap neither each other nor an SSTable of level 1. Otherwise, the inputs are merged.
pub(crate) fn push_level_0(shape: &Shape) -> Job {
    let tables = || shape.runs_of(0).iter().flat_map(|run| &run.tables);
    let (smallest, largest) = (tables().map(|table| &*table.smallest), tables().map(|table| &*table.largest));
    let (smallest, largest) = (smallest.min().unwrap_or_default(), largest.max().unwrap_or_default());
    let is_free = |table: &TableShape| {
        shape.runs_of(1).iter().all(|run| overlapping(run, &table.smallest, &table.largest).is_empty())
    };
    let is_moved = overlap(tables()).is_none() && tables().all(is_free);
    Job {
        inputs: tables().map(|table| table.id).collect(),
        level: 1,
        run: oldest_with_room(shape, 1, smallest, largest),
        action: if is_moved { Action::Move } else { Action::Merge },
    }
}
