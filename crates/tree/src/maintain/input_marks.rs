//! Reads the marks of single deletes in the inputs of a compaction. From these marks, determines the kind of each
//! version of a key, such as a value or a single delete.

use std::collections::HashMap;

use types::Entry;

use super::subcompaction::Input;
use crate::blob::{References, Stored};
use crate::error::Result;
use crate::inner::Inner;
use crate::merge_operands::is_operand;
use crate::single_deletes::VersionKind;
use crate::table::{RunCursor, SingleMarks};

/// The marks of entries in the inputs of a compaction. A mark shows that the entry is a single delete, or has replaced
/// one.
pub(super) struct InputMarks {
    /// The marks of each input SSTable that has marks, by the file number of the SSTable.
    of_tables: HashMap<u64, SingleMarks>,
}

impl Inner {
    /// Reads the marks of entries in the inputs of a compaction to `level`. A mark shows that the entry is a single
    /// delete, or has replaced one. Returns `None` if no input has marks.
    pub(super) fn marks_of(&self, inputs: &[Input], level: usize) -> Result<Option<InputMarks>> {
        let counters = self.counters.local();
        let mut of_tables = HashMap::new();
        for table in inputs.iter().flatten() {
            let (marks, bytes) = table.single_marks()?;
            if bytes > 0 {
                counters.compaction_bytes_read.add(bytes);
                counters.level(level).bytes_read.add(bytes);
                of_tables.insert(table.id(), marks);
            }
        }
        Ok((!of_tables.is_empty()).then_some(InputMarks { of_tables }))
    }
}

impl InputMarks {
    /// Returns the kind of the current version in an input run, such as a value, a merge operand or a single delete.
    /// Set `has_operator` if the tree has a merge operator, because only then can a version be a merge operand.
    pub(super) fn kind(&self, cursor: &RunCursor<'_>, has_operator: bool) -> VersionKind {
        let (entry, is_marked) = (cursor.entry(), self.has(cursor));
        let is_operand = || has_operator && inline_value(&entry, cursor.references()).is_some_and(is_operand);
        match entry.value {
            None if is_marked => VersionKind::SingleDelete,
            None => VersionKind::Delete,
            Some(_) if is_operand() => VersionKind::Operand,
            Some(_) => VersionKind::Value { is_marked },
        }
    }

    /// Returns whether the current entry of an input run has a mark, because it is a single delete or has replaced one.
    fn has(&self, cursor: &RunCursor<'_>) -> bool {
        cursor.position().is_some_and(|(table, block, entry)| {
            self.of_tables.get(&table).is_some_and(|marks| marks.contain(block, entry))
        })
    }
}

/// Returns the value of an entry if the SSTable itself contains the value. Returns `None` for a tombstone, for a value
/// in a blob file and for corrupt bytes. `source` lists the blob files of the SSTable, or is `None` if the SSTable has
/// no tag bytes before its values.
pub(super) fn inline_value<'e>(entry: &Entry<'e>, source: Option<&References>) -> Option<&'e [u8]> {
    match (source, entry.value?) {
        (None, value) => Some(value),
        (Some(_), stored) => match Stored::decode(stored)? {
            Stored::Inline(value) => Some(value),
            Stored::Apart(_) => None,
        },
    }
}
