//! The SSTables of a run that a scan reads, with the references and readers that the options `range.references` and
//! `range.readers` require.

use std::ops::Range;
use std::sync::Arc;

use types::Direction;

use super::block_cursor::BlockCursor;
use super::read_ahead::ReadAhead;
use super::reader::Table;
use crate::design::{RangeOptions, TableReaders, TableReferences};

/// The SSTables of a sorted run that a scan reads, with references and readers as the design requires.
pub(crate) struct RunReaders<'t> {
    /// The SSTables that can contain keys of the scanned range, in key order.
    pub(super) tables: &'t [Arc<Table>],
    /// The index of the first SSTable that the scan reads.
    pub(super) first: usize,
    /// References that keep the SSTables open, if `range.references` is "table". Otherwise empty, because the version
    /// of the tree that the scan reads keeps them open.
    pub(super) references: Vec<Arc<Table>>,
    /// The prepared readers of the SSTables, if `range.readers` is "eager".
    pub(super) readers: Option<Readers<'t>>,
    /// Decides how many data blocks the scan reads from storage at once.
    pub(super) read_ahead: ReadAhead,
    /// The number of entries that the scan is expected to read from the sorted run, if known.
    pub(super) expected: Option<u64>,
}

/// A prepared reader for each SSTable of a sorted run. The scan removes a reader from the list when it enters the
/// SSTable.
pub(super) struct Readers<'t>(Vec<Option<Reader<'t>>>);

/// A prepared reader of one SSTable. The scan has not read any data block of the SSTable yet.
pub(super) struct Reader<'t> {
    /// The number of the data block that the scan reads first in the SSTable.
    pub(super) first_block: u32,
    /// The iterator for the entries of the first data block.
    pub(super) cursor: BlockCursor<'t>,
}

impl<'t> RunReaders<'t> {
    /// Prepares a scan in `direction` over the SSTables `run[inside]`, which overlap the scanned range. `inside` must
    /// not be empty. `expected` is the number of entries that the scan is expected to read from this sorted run, if
    /// known.
    #[inline]
    pub(crate) fn new(
        run: &'t [Arc<Table>],
        inside: Range<usize>,
        direction: Direction,
        options: RangeOptions,
        expected: Option<u64>,
    ) -> Self {
        let tables = &run[inside];
        let references = match options.references {
            TableReferences::Run => Vec::new(),
            TableReferences::Table => tables.to_vec(),
        };
        let first = match direction {
            Direction::Forward => 0,
            Direction::Backward => tables.len() - 1,
        };
        let readers = match options.readers {
            TableReaders::Lazy => None,
            TableReaders::Eager => Some(Readers::new(tables, direction)),
        };
        let read_ahead = ReadAhead::new(&tables[first], options.read_ahead, expected);
        Self { tables, first, references, readers, read_ahead, expected }
    }
}

impl<'t> Readers<'t> {
    fn new(tables: &[Arc<Table>], direction: Direction) -> Self {
        let reader = |table: &Arc<Table>| {
            Some(Reader { first_block: first_block(table, direction), cursor: BlockCursor::default() })
        };
        Self(tables.iter().map(reader).collect())
    }

    /// Removes and returns the reader of the SSTable number `at`. Returns `None` if the SSTable has no reader.
    pub(super) fn take(&mut self, at: usize) -> Option<Reader<'t>> {
        self.0.get_mut(at)?.take()
    }
}

/// Returns the number of the data block at which a scan in this direction enters an SSTable.
pub(super) fn first_block(table: &Table, direction: Direction) -> u32 {
    match direction {
        Direction::Forward => 0,
        Direction::Backward => table.block_count() - 1,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use storage::Memory;
    use types::Entry;

    use super::super::TableWriter;
    use super::*;
    use crate::Design;
    use crate::assemble::{table_context, tree_cache};
    use crate::seals::Seals;

    /// Returns a run of ten tables.
    fn run() -> Arc<[Arc<Table>]> {
        let (storage, mut seals) = (Arc::new(Memory::default()), Seals::default());
        seals.begin(0, 1);
        let design = Design::default();
        let context =
            table_context(&design, storage, tree_cache(&design, None).unwrap(), Path::new(""), seals);
        let context = Arc::new(context.unwrap());
        let table = |id: u64| {
            let mut writer = TableWriter::new(&context, id, 1, None, None).unwrap();
            writer.add(Entry { key: &id.to_be_bytes(), value: Some(b"value") }).unwrap();
            Arc::new(writer.finish().unwrap())
        };
        (0..10).map(table).collect()
    }

    #[test]
    fn references_and_readers_are_as_many_as_the_options_say() {
        let tables = run();
        let references = || tables.iter().map(Arc::strong_count).sum::<usize>();
        let alone = references();
        for direction in [Direction::Forward, Direction::Backward] {
            for (kind, more) in [(TableReferences::Run, 0), (TableReferences::Table, 5)] {
                for (readers, made) in [(TableReaders::Lazy, 0), (TableReaders::Eager, 5)] {
                    let options = RangeOptions { references: kind, readers, ..RangeOptions::default() };
                    let mut holding = RunReaders::new(&tables, 2..7, direction, options, None);
                    assert_eq!(references(), alone + more, "{options:?}");
                    let expected = if direction == Direction::Forward { 2 } else { 6 };
                    let first = &holding.tables[holding.first];
                    assert_eq!(first.id(), tables[expected].id(), "{options:?}");
                    let mut taken =
                        |at| holding.readers.as_mut().and_then(|readers| readers.take(at)).is_some();
                    let all = (0..tables.len()).filter(|at| taken(*at)).count();
                    assert_eq!(all, made, "{options:?}");
                    assert!(!(0..tables.len()).any(taken), "each is taken once");
                }
            }
        }
    }
}
