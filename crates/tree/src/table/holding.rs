//! What a range takes hold of when it is opened: the tables of a run, and readers of them if they are made at once.

use std::ops::Range;
use std::sync::Arc;

use types::Direction;

use super::block_cursor::BlockCursor;
use super::reader::Table;
use crate::design::{RangeOptions, TableReaders, TableReferences};

/// The tables of a run that a range walks.
pub(crate) struct Holding {
    /// The tables, in key order.
    pub(super) tables: Arc<[Arc<Table>]>,
    /// The number of the table that is walked first.
    pub(super) first: usize,
    /// Readers of the tables that can have keys of the range, if they are made at once.
    pub(super) readers: Option<Box<Readers>>,
}

/// A reader for each of several tables that lie side by side, until it is taken.
pub(super) struct Readers {
    /// The number of the first table that has one.
    from: usize,
    readers: Vec<Option<Reader>>,
}

/// What it takes to walk a table from its first block in the direction of the range. No block of it was read.
pub(super) struct Reader {
    /// The block that is walked first.
    pub(super) first_block: u32,
    /// The walk over a block.
    pub(super) cursor: BlockCursor,
}

impl Holding {
    /// Takes hold of the tables `inside` of a run, which can have keys of the range and are not none, to be walked in
    /// `direction`.
    pub(crate) fn new(
        run: &Arc<[Arc<Table>]>,
        inside: Range<usize>,
        direction: Direction,
        options: RangeOptions,
    ) -> Self {
        let (tables, inside) = match options.references {
            TableReferences::Run => (Arc::clone(run), inside),
            TableReferences::Table => {
                let tables: Arc<[_]> = run[inside].into();
                let all = 0..tables.len();
                (tables, all)
            }
        };
        let first = match direction {
            Direction::Forward => inside.start,
            Direction::Backward => inside.end - 1,
        };
        let readers = match options.readers {
            TableReaders::Lazy => None,
            TableReaders::Eager => Some(Box::new(Readers::new(&tables, inside, direction))),
        };
        Self { tables, first, readers }
    }
}

impl Readers {
    fn new(tables: &[Arc<Table>], inside: Range<usize>, direction: Direction) -> Self {
        let reader = |table: &Arc<Table>| {
            Some(Reader { first_block: first_block(table, direction), cursor: BlockCursor::default() })
        };
        Self { from: inside.start, readers: tables[inside].iter().map(reader).collect() }
    }

    /// The reader of table number `at`, if it has one that was not taken.
    pub(super) fn take(&mut self, at: usize) -> Option<Reader> {
        self.readers.get_mut(at.checked_sub(self.from)?)?.take()
    }
}

/// The block of a table that is walked first in `direction`.
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
    use crate::seals::Seals;
    use crate::tree::table_context;

    /// A run of ten tables.
    fn run() -> Arc<[Arc<Table>]> {
        let (storage, mut seals) = (Arc::new(Memory::default()), Seals::default());
        seals.begin(0, 1);
        let context = table_context(&Design::default(), storage, None, Path::new(""), seals);
        let context = Arc::new(context.unwrap());
        let table = |id: u64| {
            let mut writer = TableWriter::new(&context, id, 1, None).unwrap();
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
                    let options = RangeOptions { references: kind, readers };
                    let mut holding = Holding::new(&tables, 2..7, direction, options);
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
