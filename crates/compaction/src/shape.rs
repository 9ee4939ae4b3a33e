//! The shape of a tree as plain data: levels of runs of tables. The tree and the simulator hold different
//! tables in the same levels, so both move them by the same code.

use std::collections::HashSet;
use std::sync::Arc;

use thiserror::Error;

/// The number of a table, unique in its tree; it is the number of its file.
pub type TableId = u64;

/// The number of a run, unique in its tree.
pub type RunId = u64;

/// What levels must know of a table to keep it in its place.
pub trait Placed {
    /// Its number.
    fn id(&self) -> TableId;
    /// Its smallest key.
    fn smallest(&self) -> &[u8];
    /// Its largest key.
    fn largest(&self) -> &[u8];
}

/// What a policy sees of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShape {
    /// Its number.
    pub id: TableId,
    /// Key and value bytes of its entries, with [`types::ENTRY_CHARGE_BYTES`] for each, before any encoding.
    /// Policies go by these, so that a change of codec or block format leaves the shape of the tree as it
    /// is.
    pub bytes: u64,
    /// The number of entries, tombstones included.
    pub entries: u64,
    /// The number of tombstones.
    pub tombstones: u64,
    /// Its smallest key.
    pub smallest: Arc<[u8]>,
    /// Its largest key.
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

/// Tables that do not overlap, in key order: together one sorted sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run<T> {
    /// Its number.
    pub id: RunId,
    /// Its tables, in key order; at least one.
    pub tables: Vec<T>,
}

/// Two of `tables` with keys between the smallest and the largest of each other, if there are such.
pub(crate) fn overlap<'a, T: Placed>(tables: impl Iterator<Item = &'a T>) -> Option<(&'a T, &'a T)> {
    let mut tables: Vec<&T> = tables.collect();
    tables.sort_by(|a, b| a.smallest().cmp(b.smallest()));
    tables.windows(2).find(|pair| pair[0].largest() >= pair[1].smallest()).map(|pair| (pair[0], pair[1]))
}

/// The runs of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level<T> {
    /// Its runs, the newest first. Every key in a run is newer than the same key in a run behind it.
    pub runs: Vec<Run<T>>,
}

/// All levels. Level 0 takes the flushes; every key in a level is newer than the same key in a level below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels<T> {
    /// The levels, the newest first. The last one is never empty.
    pub levels: Vec<Level<T>>,
}

/// The sorted run that receives the output tables of a flush or compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputRun {
    /// The level.
    pub level: usize,
    /// The run: one that is there, which they join, or a new one. A new run takes the place of the newest
    /// run of the level that gives tables to it; where none does, it becomes the newest of the level.
    pub run: RunId,
}

/// The picture that a policy decides from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The bytes that one flush of new keys brings at least, counted as in [`TableShape::bytes`]: the unit of
    /// level capacities.
    pub buffer_bytes: u64,
    /// The levels.
    pub levels: Levels<TableShape>,
}

/// Why tables cannot stand where an edit wants them.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum InvalidEdit {
    /// A table to be removed is not there.
    #[error("table {0} is not in the tree")]
    NoSuchTable(TableId),
    /// Two tables of one run overlap.
    #[error("tables {0} and {1} of run {2} overlap or are out of order")]
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
    /// The tables' sum of `measure`.
    pub fn sum(&self, measure: impl Fn(&T) -> u64) -> u64 {
        self.tables.iter().map(measure).sum()
    }
}

impl Run<TableShape> {
    /// The bytes of its tables, as [`TableShape::bytes`].
    pub fn bytes(&self) -> u64 {
        self.sum(|table| table.bytes)
    }
}

impl Level<TableShape> {
    /// The bytes of its tables, as [`TableShape::bytes`].
    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(Run::bytes).sum()
    }
}

impl Shape {
    /// The runs of a level, the newest first; none where there is no such level.
    pub fn runs_of(&self, level: usize) -> &[Run<TableShape>] {
        self.levels.runs_of(level)
    }

    /// The bytes of a level, as [`TableShape::bytes`].
    pub fn bytes_of(&self, level: usize) -> u64 {
        self.levels.levels.get(level).map_or(0, Level::bytes)
    }

    /// The number of the last level that holds anything, or 0 for an empty tree.
    pub fn last_level(&self) -> usize {
        self.levels.levels.len().saturating_sub(1)
    }
}

impl<T> Levels<T> {
    /// All tables with their places, from the newest run to the oldest, in key order inside a run.
    pub fn tables(&self) -> impl Iterator<Item = (OutputRun, &T)> {
        self.levels.iter().enumerate().flat_map(|(level, runs)| {
            runs.runs.iter().flat_map(move |run| {
                run.tables.iter().map(move |table| (OutputRun { level, run: run.id }, table))
            })
        })
    }

    /// All runs with their level, from the newest to the oldest.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = (usize, &Run<T>)> {
        self.levels.iter().enumerate().flat_map(|(level, runs)| runs.runs.iter().map(move |run| (level, run)))
    }

    /// The runs of a level; none where there is no such level.
    pub fn runs_of(&self, level: usize) -> &[Run<T>] {
        self.levels.get(level).map_or(&[], |level| &level.runs)
    }

    /// The same levels and runs with `map` of every table.
    pub fn map<U>(&self, map: impl Fn(&T) -> U) -> Levels<U> {
        let run = |run: &Run<T>| Run { id: run.id, tables: run.tables.iter().map(&map).collect() };
        let level = |level: &Level<T>| Level { runs: level.runs.iter().map(run).collect() };
        Levels { levels: self.levels.iter().map(level).collect() }
    }
}

impl<T: Placed> Levels<T> {
    /// Where in its level a new run stands that takes over from the tables `removed`.
    pub(crate) fn new_run_index(&self, removed: &HashSet<TableId>, level: usize) -> usize {
        let gives = |run: &Run<T>| run.tables.iter().any(|table| removed.contains(&table.id()));
        self.runs_of(level).iter().position(gives).unwrap_or(0)
    }
}

impl<T: Placed + Clone> Levels<T> {
    /// These levels without the tables in `removed` and with `added` at `place`; both may be empty.
    ///
    /// # Errors
    /// If a table to remove is not there, or `added` does not fit between the tables of its run.
    pub fn edit(&self, removed: &[TableId], place: OutputRun, added: &[T]) -> Result<Self, InvalidEdit> {
        let mut next = self.clone();
        next.apply(removed, place, added)?;
        Ok(next)
    }

    /// Does the same to these levels themselves; after an error they are of no use.
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
