//! The shape of a tree as plain data. A tree has levels, a level has sorted runs, and a run has SSTables. The type
//! [`Levels`] is generic over the type of SSTables, so the tree and the simulator share the code that changes levels.

use std::collections::HashSet;
use std::sync::Arc;

use thiserror::Error;

use crate::operations::Operations;

/// The number of an SSTable, which is unique in its tree. The file of the SSTable has the same number.
pub type TableId = u64;

/// The number of a sorted run, which is unique in its tree.
pub type RunId = u64;

/// An SSTable whose number and key range are known. These properties determine its position in a tree.
pub trait Placed {
    /// Returns the number of the SSTable.
    fn id(&self) -> TableId;
    /// Returns the smallest key of the SSTable.
    fn smallest(&self) -> &[u8];
    /// Returns the largest key of the SSTable.
    fn largest(&self) -> &[u8];
}

/// The properties of an SSTable that a compaction policy can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShape {
    /// The number of the SSTable.
    pub id: TableId,
    /// The size in bytes of all keys and values before encoding, plus [`types::ENTRY_CHARGE_BYTES`] for each entry. The
    /// codec and the block format do not change this size, so they do not change the decisions of a policy.
    pub bytes: u64,
    /// The number of entries in the SSTable, including tombstones.
    pub entries: u64,
    /// The number of tombstones in the SSTable.
    pub tombstones: u64,
    /// The smallest key of the SSTable.
    pub smallest: Arc<[u8]>,
    /// The largest key of the SSTable.
    pub largest: Arc<[u8]>,
}

impl Placed for TableShape {
    fn id(&self) -> TableId {
        self.id
    }
    fn smallest(&self) -> &[u8] {
        &self.smallest
    }
    fn largest(&self) -> &[u8] {
        &self.largest
    }
}

/// A sorted run: a list of SSTables that do not overlap, in key order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run<T> {
    /// The number of the run.
    pub id: RunId,
    /// The SSTables of the run in key order. The list is not empty.
    pub tables: Vec<T>,
}

/// Returns two SSTables of `tables` whose key ranges overlap. Returns `None` if all key ranges are disjoint.
pub(crate) fn overlap<'a, T: Placed>(tables: impl Iterator<Item = &'a T>) -> Option<(&'a T, &'a T)> {
    let mut tables: Vec<&T> = tables.collect();
    tables.sort_by(|a, b| a.smallest().cmp(b.smallest()));
    tables.windows(2).find(|pair| pair[0].largest() >= pair[1].smallest()).map(|pair| (pair[0], pair[1]))
}

/// The sorted runs of one level of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level<T> {
    /// The runs in the order of age, the newest first. If two runs have entries of the same key, the run with the
    /// newer entry comes first.
    pub runs: Vec<Run<T>>,
}

/// All levels of a tree. Flushes go to level 0. If two levels have entries of the same key, the entry in the upper
/// level is newer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels<T> {
    /// The levels of the tree from level 0 on. The last element has at least one run.
    pub levels: Vec<Level<T>>,
}

/// The sorted run that receives the output SSTables of a flush or compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputRun {
    /// The level of the output run.
    pub level: usize,
    /// The number of the existing run that the SSTables join, or the number of a new run. A new run takes the position
    /// of the newest input run in the output level. Without such an input, it becomes the newest run of this level.
    pub run: RunId,
}

/// The shape of a tree (levels, sorted runs and SSTables), which is the input of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The capacity of a memtable in bytes, counted as in [`TableShape::bytes`]. A flush of distinct keys has at
    /// least this size. The capacities of levels are multiples of this size.
    pub buffer_bytes: u64,
    /// The levels of the tree, with their runs and SSTables.
    pub levels: Levels<TableShape>,
    /// The recent operations of the tree, as far as the policy observes them. All counts are 0 if it observes none (see
    /// [`CompactionPolicy::observed_flushes`](crate::CompactionPolicy::observed_flushes)).
    pub operations: Operations,
}

/// The reason why a change of the levels of a tree is invalid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum InvalidEdit {
    /// The tree does not have an SSTable that the change removes.
    #[error("SSTable {0} cannot be removed from the tree, because the tree does not have it")]
    NoSuchTable(TableId),
    /// Two SSTables of a sorted run overlap after the change.
    #[error("SSTables {0} and {1} of run {2} overlap, or are not in key order")]
    Overlap(TableId, TableId, RunId),
}

impl<T> Default for Level<T> {
    fn default() -> Self {
        Self { runs: Vec::new() }
    }
}

impl<T> Default for Levels<T> {
    fn default() -> Self {
        Self { levels: Vec::new() }
    }
}

impl<T> Run<T> {
    /// Returns the sum of the results of `measure` for all SSTables of the run.
    pub fn sum(&self, measure: impl Fn(&T) -> u64) -> u64 {
        self.tables.iter().map(measure).sum()
    }
}

impl Run<TableShape> {
    /// Returns the size of the run in bytes, as the sum of [`TableShape::bytes`].
    pub fn bytes(&self) -> u64 {
        self.sum(|table| table.bytes)
    }
}

impl Level<TableShape> {
    /// Returns the size of the level in bytes, as the sum of [`TableShape::bytes`].
    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(Run::bytes).sum()
    }
}

impl Shape {
    /// Returns the runs of a level, the newest first. Returns an empty slice if the level does not exist.
    pub fn runs_of(&self, level: usize) -> &[Run<TableShape>] {
        self.levels.runs_of(level)
    }

    /// Returns the size of a level in bytes, as the sum of [`TableShape::bytes`].
    pub fn bytes_of(&self, level: usize) -> u64 {
        self.levels.levels.get(level).map_or(0, Level::bytes)
    }

    /// Returns the index of the last level with data, or 0 for an empty tree.
    pub fn last_level(&self) -> usize {
        self.levels.levels.len().saturating_sub(1)
    }
}

impl<T> Levels<T> {
    /// Iterates over all SSTables with their positions, from the newest run to the oldest run, and in key order
    /// within each run.
    pub fn tables(&self) -> impl Iterator<Item = (OutputRun, &T)> {
        self.levels.iter().enumerate().flat_map(|(level, runs)| {
            runs.runs.iter().flat_map(move |run| {
                run.tables.iter().map(move |table| (OutputRun { level, run: run.id }, table))
            })
        })
    }

    /// Iterates over all runs with their levels, from the newest run to the oldest run.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = (usize, &Run<T>)> {
        self.levels.iter().enumerate().flat_map(|(level, runs)| runs.runs.iter().map(move |run| (level, run)))
    }

    /// Returns the runs of a level. Returns an empty slice if the level does not exist.
    pub fn runs_of(&self, level: usize) -> &[Run<T>] {
        self.levels.get(level).map_or(&[], |level| &level.runs)
    }

    /// Returns a copy of the levels in which `map` is applied to every SSTable.
    pub fn map<U>(&self, map: impl Fn(&T) -> U) -> Levels<U> {
        let run = |run: &Run<T>| Run { id: run.id, tables: run.tables.iter().map(&map).collect() };
        let level = |level: &Level<T>| Level { runs: level.runs.iter().map(run).collect() };
        Levels { levels: self.levels.iter().map(level).collect() }
    }
}

impl<T: Placed> Levels<T> {
    /// Returns the index that a new run gets in `level` if it replaces the SSTables `removed`. The new run takes the
    /// index of the newest run of the level that has one of these SSTables, or 0 if no run has one.
    pub(crate) fn new_run_index(&self, removed: &HashSet<TableId>, level: usize) -> usize {
        let gives = |run: &Run<T>| run.tables.iter().any(|table| removed.contains(&table.id()));
        self.runs_of(level).iter().position(gives).unwrap_or(0)
    }
}

impl<T: Placed + Clone> Levels<T> {
    /// Returns a copy of the levels without the SSTables `removed` and with the SSTables `added` in the run `place`.
    /// Either list may be empty.
    ///
    /// # Errors
    /// An SSTable of `removed` does not exist, or an SSTable of `added` overlaps another SSTable of its run.
    pub fn edit(&self, removed: &[TableId], place: OutputRun, added: &[T]) -> Result<Self, InvalidEdit> {
        let mut next = self.clone();
        next.apply(removed, place, added)?;
        Ok(next)
    }

    /// Edits these levels in place, as [`edit`](Self::edit) describes. After an error, the levels must not be used.
    pub(crate) fn apply(
        &mut self,
        removed: &[TableId],
        place: OutputRun,
        added: &[T],
    ) -> Result<(), InvalidEdit> {
        let to_remove: HashSet<TableId> = removed.iter().copied().collect();
        let at = self.new_run_index(&to_remove, place.level);
        self.remove(to_remove)?;
        self.insert(place, at, added)?;
        for level in &mut self.levels {
            level.runs.retain(|run| !run.tables.is_empty());
        }
        while self.levels.last().is_some_and(|level| level.runs.is_empty()) {
            self.levels.pop();
        }
        Ok(())
    }

    fn remove(&mut self, mut removed: HashSet<TableId>) -> Result<(), InvalidEdit> {
        if !removed.is_empty() {
            for run in self.levels.iter_mut().flat_map(|level| &mut level.runs) {
                run.tables.retain(|table| !removed.remove(&table.id()));
            }
        }
        removed.into_iter().min().map_or(Ok(()), |missing| Err(InvalidEdit::NoSuchTable(missing)))
    }

    fn insert(&mut self, place: OutputRun, new_run_index: usize, added: &[T]) -> Result<(), InvalidEdit> {
        if added.is_empty() {
            return Ok(());
        }
        if self.levels.len() <= place.level {
            self.levels.resize_with(place.level + 1, Level::default);
        }
        let runs = &mut self.levels[place.level].runs;
        let at = runs.iter().position(|run| run.id == place.run).unwrap_or_else(|| {
            runs.insert(new_run_index, Run { id: place.run, tables: Vec::new() });
            new_run_index
        });
        let tables = &mut runs[at].tables;
        tables.extend_from_slice(added);
        tables.sort_by(|a, b| a.smallest().cmp(b.smallest()));
        match overlap(tables.iter()) {
            Some((one, other)) => Err(InvalidEdit::Overlap(one.id(), other.id(), place.run)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(id: TableId, smallest: &str, largest: &str) -> TableShape {
        TableShape {
            id,
            bytes: 100,
            entries: 10,
            tombstones: 0,
            smallest: smallest.as_bytes().into(),
            largest: largest.as_bytes().into(),
        }
    }

    #[test]
    fn new_runs_are_the_newest_of_their_level() {
        let empty: Levels<TableShape> = Levels::default();
        let one = empty.edit(&[], OutputRun { level: 0, run: 1 }, &[table(1, "a", "m")]).unwrap();
        let two = one.edit(&[], OutputRun { level: 0, run: 2 }, &[table(2, "b", "z")]).unwrap();
        assert_eq!(two.runs().map(|(_, run)| run.id).collect::<Vec<_>>(), [2, 1]);
        let merged = two
            .edit(&[1, 2], OutputRun { level: 1, run: 3 }, &[table(3, "a", "f"), table(4, "g", "z")])
            .unwrap();
        assert!(merged.runs_of(0).is_empty());
        assert_eq!(merged.runs_of(1)[0].tables.len(), 2);
        assert_eq!(merged.edit(&[3, 4], OutputRun { level: 0, run: 9 }, &[]).unwrap(), Levels::default());
    }

    #[test]
    fn a_new_run_stands_where_the_newest_it_takes_over_from_stood() {
        let mut levels = Levels::default();
        for id in 1..=4 {
            levels = levels.edit(&[], OutputRun { level: 1, run: id }, &[table(id, "a", "z")]).unwrap();
        }
        let merged = levels.edit(&[1, 2, 3], OutputRun { level: 1, run: 9 }, &[table(9, "a", "z")]).unwrap();
        assert_eq!(merged.runs().map(|(_, run)| run.id).collect::<Vec<_>>(), [4, 9]);
        let below = levels.edit(&[4], OutputRun { level: 3, run: 9 }, &[table(9, "a", "z")]).unwrap();
        let runs: Vec<_> = below.runs().map(|(level, run)| (level, run.id)).collect();
        assert_eq!(runs, [(1, 3), (1, 2), (1, 1), (3, 9)]);
    }

    #[test]
    fn edits_that_break_the_order_are_refused() {
        let place = OutputRun { level: 0, run: 1 };
        let levels = Levels::default().edit(&[], place, &[table(1, "a", "m")]).unwrap();
        assert_eq!(levels.edit(&[1, 7], place, &[]), Err(InvalidEdit::NoSuchTable(7)));
        assert_eq!(levels.edit(&[], place, &[table(2, "m", "z")]), Err(InvalidEdit::Overlap(1, 2, 1)));
    }
}
