//! A simulated store that is small enough to check every key after each job. Its SSTables contain their entries, and
//! compactions merge these entries.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Action, Job, Levels, Operations, OutputRun, Placed, Shape, TableId, TableShape};

/// The size of an entry of a simulated store in bytes. A memtable has space for ten entries.
const ENTRY_BYTES: u64 = 10;
const BUFFER_BYTES: u64 = 10 * ENTRY_BYTES;

/// The exclusive upper bound of the keys of a simulated store. Keys start at 0.
pub(crate) const KEYS: u16 = 64;

/// The content of a sorted run that a history writes, by key. The value is `true` for a tombstone, and `false` for a
/// put.
pub(crate) type RunPlan = BTreeMap<u16, bool>;

/// The newest version of a key in a simulated SSTable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    sequence: u64,
    deleted: bool,
}

#[derive(Clone, Debug)]
struct Table {
    id: TableId,
    /// The entries of a simulated SSTable, by key. The map is never empty.
    entries: BTreeMap<[u8; 2], Version>,
}

impl Placed for Table {
    fn id(&self) -> TableId {
        self.id
    }

    fn smallest(&self) -> &[u8] {
        self.entries.first_key_value().expect("a simulated SSTable must have at least one entry").0
    }

    fn largest(&self) -> &[u8] {
        self.entries.last_key_value().expect("a simulated SSTable must have at least one entry").0
    }
}

/// A simulated tree whose SSTables contain their entries.
#[derive(Clone, Default)]
pub(crate) struct Store {
    levels: Levels<Table>,
    /// The last number that the store has used for a sequence number, an SSTable or a run. All these numbers come from
    /// this counter.
    next: u64,
}

impl Store {
    /// Builds a store whose levels contain the given runs. The newest run of a level is first.
    pub(crate) fn planned(levels: &[Vec<RunPlan>]) -> Self {
        let mut store = Self::default();
        for (level, runs) in levels.iter().enumerate().rev() {
            for run in runs.iter().rev() {
                store.add_run(level, run);
            }
        }
        store
    }

    /// Flushes the sorted run `run` into level 0.
    pub(crate) fn flush(&mut self, run: &RunPlan) {
        self.add_run(0, run);
    }

    fn add_run(&mut self, level: usize, run: &RunPlan) {
        let sequence = self.count();
        let version = |(key, deleted): (&u16, &bool)| {
            assert!(*key < KEYS);
            (key.to_be_bytes(), Version { sequence, deleted: *deleted })
        };
        let tables = self.cut(run.iter().map(version).collect(), &[]);
        let place = OutputRun { level, run: self.count() };
        self.levels = self
            .levels
            .edit(&[], place, &tables)
            .expect("the simulated store must accept a new run with a new number");
    }

    /// Divides entries into simulated SSTables of one to four entries. A new SSTable also begins at each key of `cuts`.
    fn cut(&mut self, entries: BTreeMap<[u8; 2], Version>, cuts: &[Arc<[u8]>]) -> Vec<Table> {
        let entries: Vec<_> = entries.into_iter().collect();
        let part = |key: &[u8; 2]| cuts.partition_point(|cut| **cut <= key[..]);
        let parts = entries.chunk_by(|(one, _), (other, _)| part(one) == part(other));
        let table = |chunk: &[([u8; 2], Version)]| Table {
            id: self.count(),
            entries: chunk.iter().copied().collect(),
        };
        parts.flat_map(|part| part.chunks(4)).map(table).collect()
    }

    fn count(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Returns the shape of the simulated tree, which is the input of a policy.
    pub(crate) fn shape(&self) -> Shape {
        let table = |table: &Table| TableShape {
            id: table.id,
            bytes: table.entries.len() as u64 * ENTRY_BYTES,
            entries: table.entries.len() as u64,
            tombstones: table.entries.values().filter(|version| version.deleted).count() as u64,
            smallest: table.smallest().into(),
            largest: table.largest().into(),
        };
        Shape {
            buffer_bytes: BUFFER_BYTES,
            levels: self.levels.map(table),
            operations: Operations::default(),
        }
    }

    /// Returns the result of a lookup for each key of the store. The result is the sequence number of the newest write,
    /// or `None` if the key is absent or deleted.
    pub(crate) fn answers(&self) -> Vec<Option<u64>> {
        let newest = |key: u16| {
            let versions =
                self.levels.tables().filter_map(|(_, table)| table.entries.get(&key.to_be_bytes()));
            versions.copied().next().filter(|version| !version.deleted).map(|version| version.sequence)
        };
        (0..KEYS).map(newest).collect()
    }

    /// Applies a valid compaction job to the store. A new output SSTable begins at each key of `cuts`.
    pub(crate) fn apply(&mut self, job: &Job, cuts: &[Arc<[u8]>]) -> Result<(), String> {
        let inputs: Vec<Table> = self.inputs(job);
        let outputs = match job.action {
            Action::Move => inputs,
            Action::Drop => Vec::new(),
            Action::Merge => {
                // The newest run comes first, so an entry that is already in the map is newer.
                let mut merged = BTreeMap::new();
                for (key, version) in inputs.iter().flat_map(|table| &table.entries) {
                    merged.entry(*key).or_insert(*version);
                }
                if job.reaches_bottom(&self.levels) {
                    merged.retain(|_, version: &mut Version| !version.deleted);
                }
                self.cut(merged, cuts)
            }
        };
        let place = job.place(self.count());
        self.levels = self.levels.edit(&job.inputs, place, &outputs).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Returns whether an SSTable that is no input of `job` is older than the output of the job and overlaps the key
    /// range of the output.
    pub(crate) fn has_older_than(&self, job: &Job) -> bool {
        let inputs = self.inputs(job);
        let marker =
            Table { id: u64::MAX, entries: inputs.into_iter().flat_map(|table| table.entries).collect() };
        let place = job.place(u64::MAX);
        let after = self
            .levels
            .edit(&job.inputs, place, std::slice::from_ref(&marker))
            .expect("a valid job must write no SSTable that overlaps another SSTable of its run");
        let tables = after.tables().skip_while(|(_, table)| table.id != marker.id).skip(1);
        let mut older = tables.filter(|(place, _)| *place != job.place(u64::MAX));
        older.any(|(_, table)| table.smallest() <= marker.largest() && table.largest() >= marker.smallest())
    }

    fn inputs(&self, job: &Job) -> Vec<Table> {
        let tables = self.levels.tables().map(|(_, table)| table);
        tables.filter(|table| job.inputs.contains(&table.id)).cloned().collect()
    }
}
