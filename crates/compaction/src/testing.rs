//! Shapes for the unit tests of policies.

use crate::shape::{Levels, OutputRun, Shape, TableId, TableShape};

/// Builds a tree with a buffer of one byte. For each level, `levels` has the bytes of its runs, newest first. Every run
/// is one table over all keys. Tables are numbered from 1 in this order.
pub(crate) fn shape(levels: &[&[u64]]) -> Shape {
    let mut id: TableId = levels.iter().map(|runs| runs.len() as u64).sum();
    let mut built = Levels::default();
    for (level, runs) in levels.iter().enumerate().rev() {
        for bytes in runs.iter().rev() {
            let (smallest, largest) = ([0].into(), [255].into());
            let table = TableShape { id, bytes: *bytes, entries: 1, tombstones: 0, smallest, largest };
            built = built.edit(&[], OutputRun { level, run: id }, &[table]).expect("a new run fits");
            id -= 1;
        }
    }
    Shape { buffer_bytes: 1, levels: built }
}

/// A run of a tree: its level, its number above 100, and the smallest and largest key of each of its tables.
pub(crate) type CutRun<'a> = (usize, u64, &'a [(u8, u8)]);

/// Builds a tree with a buffer of 100 bytes from runs, the newest first, cut into tables of 100 bytes and ten entries.
/// Tables are numbered from 1 in this order.
pub(crate) fn cut_shape(runs: &[CutRun<'_>]) -> Shape {
    let mut id: TableId = runs.iter().map(|(_, _, tables)| tables.len() as u64).sum();
    let mut built = Levels::default();
    for (level, run, keys) in runs.iter().rev() {
        let first = id - keys.len() as u64 + 1;
        let table = |(id, keys): (TableId, &(u8, u8))| {
            let (smallest, largest) = ([keys.0].into(), [keys.1].into());
            TableShape { id, bytes: 100, entries: 10, tombstones: 0, smallest, largest }
        };
        let tables: Vec<TableShape> = (first..).zip(*keys).map(table).collect();
        let place = OutputRun { level: *level, run: 100 * (*level as u64 + 1) + run };
        built = built.edit(&[], place, &tables).expect("a new run fits");
        id = first - 1;
    }
    Shape { buffer_bytes: 100, levels: built }
}
