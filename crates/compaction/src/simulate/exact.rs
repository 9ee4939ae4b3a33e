//! Exact contents of a simulated tree. The simulated SSTables contain the keys of a real tree, but only the lengths of
//! its values.

use std::collections::HashMap;
use std::iter::Peekable;
use std::sync::Arc;

use types::ENTRY_CHARGE_BYTES;

use super::contents::{Contents, MergeTerms};
use crate::shape::{TableId, TableShape};

/// The newest version of a key in an SSTable or memtable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactEntry {
    /// The key of the entry.
    pub key: Arc<[u8]>,
    /// The length of the value in bytes, or `None` for a tombstone.
    pub value_bytes: Option<u32>,
}

impl ExactEntry {
    /// Returns the size of the entry: the bytes of key and value, plus the charge per entry. [`TableShape::bytes`]
    /// uses the same sizes.
    pub fn charged_bytes(&self) -> u64 {
        self.key.len() as u64 + u64::from(self.value_bytes.unwrap_or(0)) + ENTRY_CHARGE_BYTES
    }
}

/// The contents of a simulated tree whose SSTables have exact entries. As in the real tree, an SSTable is complete as
/// soon as its entries reach the capacity of an SSTable.
#[derive(Debug)]
pub struct ExactKeys {
    table_capacity: u64,
    tables: HashMap<TableId, Arc<[ExactEntry]>>,
}

impl ExactKeys {
    /// Creates the contents of an empty tree. An SSTable is complete as soon as its entries have `table_capacity`
    /// bytes.
    pub fn new(table_capacity: u64) -> Self {
        Self { table_capacity, tables: HashMap::new() }
    }

    /// Creates SSTables with `entries`, and returns them. `entries` are in key order and not empty. The first SSTable
    /// gets the number `first_table`, and the next SSTables get the next numbers.
    pub fn add(
        &mut self,
        entries: impl IntoIterator<Item = ExactEntry>,
        first_table: TableId,
    ) -> Vec<TableShape> {
        self.write(entries.into_iter(), first_table, &[])
    }

    /// Returns the entry of `key` in the SSTable `table`. Returns `None` if the SSTable does not contain the key.
    pub fn find(&self, table: TableId, key: &[u8]) -> Option<&ExactEntry> {
        let entries = self.tables.get(&table)?;
        entries.binary_search_by(|entry| (*entry.key).cmp(key)).ok().map(|at| &entries[at])
    }

    /// Returns the entries of an SSTable with keys from `low` (inclusive) to `high` (exclusive). If `high` is `None`,
    /// there is no upper bound.
    pub fn between(&self, table: TableId, low: &[u8], high: Option<&[u8]>) -> &[ExactEntry] {
        let entries: &[ExactEntry] = self.tables.get(&table).map_or(&[], |entries| entries);
        let start = entries.partition_point(|entry| *entry.key < *low);
        let end = high.map_or(entries.len(), |high| entries.partition_point(|entry| *entry.key < *high));
        &entries[start..end.max(start)]
    }

    fn write(
        &mut self,
        entries: impl Iterator<Item = ExactEntry>,
        first_table: TableId,
        cuts: &[Arc<[u8]>],
    ) -> Vec<TableShape> {
        let mut shapes: Vec<TableShape> = Vec::new();
        let (mut current, mut bytes) = (Vec::new(), 0);
        let mut cuts = cuts.iter().peekable();
        let mut close = |current: &mut Vec<ExactEntry>, bytes: &mut u64| {
            if let (Some(first), Some(last)) = (current.first(), current.last()) {
                let id = first_table + shapes.len() as u64;
                shapes.push(TableShape {
                    id,
                    bytes: *bytes,
                    entries: current.len() as u64,
                    tombstones: current.iter().filter(|entry| entry.value_bytes.is_none()).count() as u64,
                    smallest: Arc::clone(&first.key),
                    largest: Arc::clone(&last.key),
                });
                self.tables.insert(id, std::mem::take(current).into());
                *bytes = 0;
            }
        };
        for entry in entries {
            while cuts.next_if(|cut| *entry.key >= ***cut).is_some() {
                close(&mut current, &mut bytes);
            }
            bytes += entry.charged_bytes();
            current.push(entry);
            if bytes >= self.table_capacity {
                close(&mut current, &mut bytes);
            }
        }
        close(&mut current, &mut bytes);
        shapes
    }
}

impl Contents for ExactKeys {
    fn merge(&mut self, inputs: &[Vec<TableShape>], terms: &MergeTerms<'_>) -> Vec<TableShape> {
        let runs: Vec<Vec<Arc<[ExactEntry]>>> = inputs
            .iter()
            .map(|run| run.iter().filter_map(|table| self.tables.get(&table.id).cloned()).collect())
            .collect();
        let entries = runs.iter().map(|run| run.iter().flat_map(|table| table.iter()).peekable()).collect();
        let kept = Merge { runs: entries }
            .filter(|entry| entry.value_bytes.is_some() || !terms.drops_tombstones)
            .cloned();
        self.write(kept, terms.first_table, terms.cuts)
    }

    fn forget(&mut self, tables: &[TableId]) {
        for table in tables {
            self.tables.remove(table);
        }
    }
}

/// Merges the entries of several runs: an iterator over the newest version of each key, in key order. The newest run
/// is the first input.
struct Merge<I: Iterator> {
    runs: Vec<Peekable<I>>,
}

impl<'a, I: Iterator<Item = &'a ExactEntry>> Iterator for Merge<I> {
    type Item = &'a ExactEntry;

    fn next(&mut self) -> Option<&'a ExactEntry> {
        let smallest = self.runs.iter_mut().filter_map(|run| run.peek().map(|entry| &*entry.key)).min()?;
        let mut newest = None;
        for run in &mut self.runs {
            let found = run.next_if(|entry| *entry.key == *smallest);
            newest = newest.or(found);
        }
        newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &str, value_bytes: Option<u32>) -> ExactEntry {
        ExactEntry { key: key.as_bytes().into(), value_bytes }
    }

    fn keys(exact: &ExactKeys, tables: &[TableShape]) -> Vec<String> {
        let keys = |table: &TableShape| -> String {
            exact.tables[&table.id].iter().map(|entry| String::from_utf8_lossy(&entry.key)).collect()
        };
        tables.iter().map(keys).collect()
    }

    #[test]
    fn the_newest_version_of_each_key_survives_a_merge() {
        let mut exact = ExactKeys::new(u64::MAX);
        let old = exact.add(["a", "b", "d"].map(|key| entry(key, Some(5))), 1);
        let new = exact.add([entry("b", None), entry("c", Some(1))], 2);
        let terms = |first_table, drops_tombstones| MergeTerms { first_table, cuts: &[], drops_tombstones };
        let kept = exact.merge(&[new.clone(), old.clone()], &terms(3, false));
        assert_eq!((kept[0].entries, kept[0].tombstones), (4, 1));
        assert_eq!(kept[0].bytes, 4 * (1 + ENTRY_CHARGE_BYTES) + 5 + 1 + 5);
        let dropped = exact.merge(&[new, old], &terms(4, true));
        assert_eq!(keys(&exact, &dropped), ["acd"]);
        assert_eq!(exact.find(4, b"c"), Some(&entry("c", Some(1))));
        exact.forget(&[4]);
        assert_eq!(exact.find(4, b"c"), None);
    }

    #[test]
    fn tables_are_closed_at_their_capacity_and_at_cuts() {
        let mut exact = ExactKeys::new(20);
        let all = ["a", "b", "c", "d", "e"].map(|key| entry(key, Some(1)));
        let tables = exact.add(all.clone(), 7);
        assert_eq!(
            (keys(&exact, &tables), tables[1].id),
            (vec!["ab".to_owned(), "cd".into(), "e".into()], 8)
        );
        let cuts: Vec<Arc<[u8]>> = vec![(*b"b").into(), (*b"bb").into()];
        let cut =
            exact.merge(&[tables], &MergeTerms { first_table: 20, cuts: &cuts, drops_tombstones: false });
        assert_eq!(keys(&exact, &cut), ["a", "b", "cd", "e"]);
    }
}
