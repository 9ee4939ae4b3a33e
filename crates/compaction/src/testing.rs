//! Helper functions for the tests of policies: shapes, and measurements of simulated trees.

use std::sync::{Arc, Mutex};

use crate::job::{Action, Job};
use crate::operations::Operations;
use crate::policy::CompactionPolicy;
use crate::shape::{Levels, OutputRun, Shape, TableId, TableShape};
use crate::simulate::{SimulatedLoad, simulate};

/// Builds a tree whose memtable has one byte. Each element of `levels` is a level, as a list of run sizes in bytes,
/// newest run first. Every run is one SSTable that covers all keys. SSTables are numbered from 1 in this order.
pub(crate) fn shape(levels: &[&[u64]]) -> Shape {
    let mut id: TableId = levels.iter().map(|runs| runs.len() as u64).sum();
    let mut built = Levels::default();
    for (level, runs) in levels.iter().enumerate().rev() {
        for bytes in runs.iter().rev() {
            let (smallest, largest) = ([0].into(), [255].into());
            let table = TableShape { id, bytes: *bytes, entries: 1, tombstones: 0, smallest, largest };
            built = built
                .edit(&[], OutputRun { level, run: id }, &[table])
                .expect("the test tree must accept a new run with a new number");
            id -= 1;
        }
    }
    Shape { buffer_bytes: 1, levels: built, operations: Operations::default() }
}

/// A run of a test tree: its level, a number that distinguishes the runs of this level, and the key range of each
/// SSTable.
pub(crate) type CutRun<'a> = (usize, u64, &'a [(u8, u8)]);

/// Builds a tree for tests from its runs, newest run first. The memtable has 100 bytes. Each SSTable has 100 bytes and
/// ten entries. SSTables are numbered from 1 in this order.
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
        built =
            built.edit(&[], place, &tables).expect("the SSTables of a run in a test tree must not overlap");
        id = first - 1;
    }
    Shape { buffer_bytes: 100, levels: built, operations: Operations::default() }
}

/// A wrapper around a policy. It records the input size of the largest merge, in bytes.
struct Noting(Box<dyn CompactionPolicy>, Mutex<u64>);

impl CompactionPolicy for Noting {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let job = self.0.pick(shape)?;
        let inputs = shape.levels.tables().filter(|(_, table)| job.inputs.contains(&table.id));
        let bytes: u64 = inputs.map(|(_, table)| table.bytes).sum();
        if job.action == Action::Merge {
            let mut most = self.1.lock().unwrap();
            *most = bytes.max(*most);
        }
        Some(job)
    }

    fn cuts(&self, shape: &Shape, job: &Job) -> Vec<Arc<[u8]>> {
        self.0.cuts(shape, job)
    }
}

/// Simulates a policy for `flushes` flushes. Returns the write amplification, and the input size of the largest merge
/// as a fraction of the flushed data.
pub(crate) fn largest_merge(label: &str, load: SimulatedLoad, flushes: u64) -> (f64, f64) {
    let policy = crate::CATALOG.build(&crate::CATALOG.choose(&label.into()).unwrap()).unwrap();
    let policy = Noting(policy, Mutex::new(0));
    let report = simulate(&policy, load, flushes).unwrap();
    (report.write_amp(), policy.1.into_inner().unwrap() as f64 / report.flush_bytes as f64)
}
