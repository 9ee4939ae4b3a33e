//! An index from the keys of a tree to their SSTables. Gets search this index instead of one filter per run.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use fence::culling::{Culling, FileKeys, KeyIndex};
use types::KeyHash;

use crate::error::Result;
use crate::merge::Source;
use crate::stats::AllCounters;
use crate::table::{RunCursor, Table};

/// The index from the keys of one version of the tree to the SSTables that may contain the keys.
pub(crate) struct FileIndex {
    index: Box<dyn KeyIndex>,
    /// Maps the file number of each SSTable to the smaller number that the index uses for this SSTable.
    numbers: HashMap<u64, u32>,
    /// The position of each SSTable in the tree. The element n is the position of the SSTable that the index numbers n.
    /// `None` if the index does not use the number n.
    places: Vec<Option<FilePlace>>,
}

/// The position of an SSTable in a version of the tree. SSTables of newer runs sort first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FilePlace {
    /// The position of the SSTable's run in the list of all sorted runs, where the newest run has the position 0.
    pub(crate) run: usize,
    /// The position of the SSTable in its sorted run.
    pub(crate) table: usize,
}

impl FileIndex {
    /// Builds the index of `runs` from the index of the previous version. The construction reads all keys of the
    /// SSTables that the previous index lacks. These reads count as reads of compactions in `counters`.
    ///
    /// Returns `None` if the culling variant has no index of keys, or if a block cannot be read. Gets then search one
    /// run after another.
    pub(crate) fn build(
        previous: Option<&Self>,
        runs: &[Arc<[Arc<Table>]>],
        culling: &dyn Culling,
        counters: &AllCounters,
    ) -> Option<Self> {
        let empty = culling.key_index(&[])?;
        let none = Self { index: empty, numbers: HashMap::new(), places: Vec::new() };
        previous.unwrap_or(&none).next(runs, culling, counters).ok().flatten()
    }

    fn next(
        &self,
        runs: &[Arc<[Arc<Table>]>],
        culling: &dyn Culling,
        counters: &AllCounters,
    ) -> Result<Option<Self>> {
        let tables = || {
            let runs = runs.iter().enumerate();
            runs.flat_map(|(run, tables)| {
                tables.iter().enumerate().map(move |(table, file)| (file, FilePlace { run, table }))
            })
        };
        let kept: HashMap<u64, u32> = tables()
            .filter_map(|(file, _)| self.numbers.get(&file.id()).map(|number| (file.id(), *number)))
            .collect();
        let removed: Vec<u32> =
            self.numbers.iter().filter(|(id, _)| !kept.contains_key(id)).map(|(_, number)| *number).collect();
        let used: BTreeSet<u32> = kept.values().copied().collect();
        let mut unused = (0u32..).filter(|number| !used.contains(number));
        let mut numbers = kept;
        let mut added = Vec::new();
        for (file, _) in tables() {
            if !numbers.contains_key(&file.id())
                && let Some(number) = unused.next()
            {
                numbers.insert(file.id(), number);
                added.push(FileKeys { file: number, hashes: hashes(file, counters)? });
            }
        }
        let index = if let Some(index) = self.index.edited(&removed, &added) {
            index
        } else {
            let mut all = added;
            let is_added: BTreeSet<u32> = all.iter().map(|keys| keys.file).collect();
            for (file, _) in tables() {
                let number = numbers[&file.id()];
                if !is_added.contains(&number) {
                    all.push(FileKeys { file: number, hashes: hashes(file, counters)? });
                }
            }
            let Some(index) = culling.key_index(&all) else { return Ok(None) };
            index
        };
        let mut places = vec![None; numbers.values().max().map_or(0, |last| *last as usize + 1)];
        tables().for_each(|(file, place)| places[numbers[&file.id()] as usize] = Some(place));
        Ok(Some(Self { index, numbers, places }))
    }

    /// Returns the positions of the SSTables that may contain a key with this hash, from the newest to the oldest
    /// SSTable.
    pub(crate) fn files_of(&self, hash: KeyHash) -> Vec<FilePlace> {
        let mut files = Vec::new();
        self.index
            .files(hash.0, &mut |number| files.extend(self.places.get(number as usize).copied().flatten()));
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Returns the memory of the index from keys to SSTables, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let places = self.places.len() * size_of::<Option<FilePlace>>();
        self.index.memory_bytes() + places + self.numbers.len() * size_of::<(u64, u32)>()
    }
}

/// Reads an SSTable, and returns the hashes of all its keys in key order.
fn hashes(table: &Arc<Table>, counters: &AllCounters) -> Result<Vec<u64>> {
    let mut hashes = Vec::with_capacity(table.properties().entries as usize);
    let Some(mut cursor) = RunCursor::stream(std::slice::from_ref(table), None, None, counters)? else {
        return Ok(hashes);
    };
    loop {
        hashes.push(table.hash(cursor.key()).0);
        if !cursor.advance(counters)? {
            return Ok(hashes);
        }
    }
}
