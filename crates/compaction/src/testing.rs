//! Shapes for the unit tests of policies.

use crate::shape::{Levels, Place, Shape, TableId, TableShape};

/// A tree with a buffer of one byte: for each level the bytes of its runs, the newest first. Every run is one
/// table over all keys; tables are numbered from 1 in this order.
pub(crate) fn shape(levels: &[&[u64]]) -> Shape {
    let mut id: TableId = levels.iter().map(|runs| runs.len() as u64).sum();
    let mut built = Levels::default();
    for (level, runs) in levels.iter().enumerate().rev() {
        for bytes in runs.iter().rev() {
            let (smallest, largest) = ([0].into(), [255].into());
            let table = TableShape { id, bytes: *bytes, entries: 1, tombstones: 0, smallest, largest };
            built = built.edit(&[], Place { level, run: id }, &[table]).expect("a new run fits");
            id -= 1;
        }
    }
    Shape { buffer_bytes: 1, levels: built }
}
