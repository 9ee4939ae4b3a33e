//! Checks a whole SSTable: decodes every block, and verifies that the filter and the fence find every key.

use types::{Direction, HashedKey};

use super::block_cursor::BlockCursor;
use super::reader::Table;
use super::single_marks::SingleMarks;
use crate::blob::{References, Stored, record_bytes};
use crate::error::{Error, Result};
use crate::merge_operands::is_marked;
use crate::stats::Counters;

/// Totals over the entries of an SSTable, which the check compares with the properties of the SSTable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    entries: u64,
    tombstones: u64,
    key_bytes: u64,
    value_bytes: u64,
    /// The number of marked entries. A mark shows that an entry is a single delete, or has replaced one.
    marked: u64,
    /// The number of values that the SSTable stores in blob files.
    blob_records: u64,
    blob_bytes: u64,
}

/// The data that the check of an SSTable carries from one data block to the next.
struct Visit<'a> {
    seen: &'a mut Seen,
    last_key: &'a mut Option<Vec<u8>>,
    marks: &'a SingleMarks,
}

impl Table {
    /// Reads the whole SSTable and passes every corruption to `report`. If `has_operator` is set, the tree has a merge
    /// operator, so the last byte of each value must be a tag: 0 for a value, 1 for a merge operand.
    pub(crate) fn check(&self, has_operator: bool, report: &mut dyn FnMut(Error)) {
        let mut seen = Seen::default();
        let mut last_key: Option<Vec<u8>> = None;
        let (marks, mut is_whole) = match self.single_marks() {
            Ok((marks, _)) => (marks, true),
            Err(error) => {
                report(error);
                (SingleMarks::default(), false)
            }
        };
        for index in 0..self.block_count() {
            let mut visit = Visit { seen: &mut seen, last_key: &mut last_key, marks: &marks };
            if let Err(error) = self.check_block(index, has_operator, &mut visit, report) {
                is_whole = false;
                report(error);
            }
        }
        if let Err(error) = self.check_padding() {
            report(error);
        }
        if is_whole {
            self.check_totals(seen, marks.count(), last_key.as_deref(), report);
        }
    }

    fn check_block(
        &self,
        index: u32,
        has_operator: bool,
        visit: &mut Visit<'_>,
        report: &mut dyn FnMut(Error),
    ) -> Result<()> {
        let Visit { seen, last_key, marks } = visit;
        let mut cursor = BlockCursor::default();
        let mut keys = Vec::new();
        let block = self.block(index, &Counters::default())?;
        cursor.enter(block, Direction::Forward).ok_or_else(|| self.damaged_block(index))?;
        while cursor.advance().ok_or_else(|| self.damaged_block(index))? {
            let key = cursor.key();
            if last_key.as_deref().is_some_and(|last| last >= key) {
                report(self.damage_in_block(index, "the keys of the SSTable are not in ascending order"));
            }
            self.check_key(index, key, has_operator, report);
            seen.entries += 1;
            seen.tombstones += u64::from(cursor.is_tombstone());
            seen.marked += u64::from(marks.contain(index, keys.len() as u32));
            seen.key_bytes += key.len() as u64;
            let value = cursor.entry().value;
            seen.value_bytes += value.map_or(0, <[u8]>::len) as u64;
            if let (Some(_), Some(Stored::Apart(pointer))) =
                (self.references(), value.and_then(Stored::decode))
            {
                seen.blob_records += 1;
                let bytes = record_bytes(key.len(), pointer.value_bytes);
                seen.blob_bytes = seen.blob_bytes.saturating_add(bytes);
            }
            let last = last_key.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
            keys.push(key.to_vec());
        }
        self.check_backward(index, &keys)
    }

    /// Checks that a backward scan of a block returns `keys` in reverse order. A backward scan depends on every restart
    /// point of the block.
    fn check_backward(&self, index: u32, keys: &[Vec<u8>]) -> Result<()> {
        let mut cursor = BlockCursor::default();
        let block = self.block(index, &Counters::default())?;
        cursor.enter(block, Direction::Backward).ok_or_else(|| self.damaged_block(index))?;
        let mut keys = keys.iter().rev();
        while cursor.advance().ok_or_else(|| self.damaged_block(index))? {
            if keys.next().is_none_or(|key| *key != cursor.key()) {
                return Err(self.damaged_block(index));
            }
        }
        match keys.next() {
            Some(_) => Err(self.damaged_block(index)),
            None => Ok(()),
        }
    }

    /// Checks one key of a data block. The filter must accept the key, the fence must find its block, and a lookup must
    /// find the key. If `has_operator` is set, the last byte of the value must be the tag of a value or of a merge
    /// operand.
    fn check_key(&self, index: u32, key: &[u8], has_operator: bool, report: &mut dyn FnMut(Error)) {
        let counters = Counters::default();
        let hashed = HashedKey { bytes: key, hash: self.hash(key) };
        if !self.passes_filter(hashed, &counters) {
            report(
                self.damage_in_block(
                    index,
                    "the filter of the SSTable reports a key of this block as absent",
                ),
            );
        }
        if !self.covers(key) {
            report(self.damage_in_block(
                index,
                "a key of this block is not between the smallest and the largest key of the SSTable",
            ));
        }
        let mut value = Vec::new();
        match self.find(hashed, &mut value, &counters) {
            Ok(types::Lookup::Absent) => {
                report(
                    self.damage_in_block(index, "a lookup in the SSTable does not find a key of this block"),
                );
            }
            Ok(types::Lookup::Found) if has_operator && !is_marked(&value) => {
                report(self.damage_in_block(
                    index,
                    "the last byte of a value is neither the tag of a value (0) nor the tag of a merge \
                     operand (1)",
                ));
            }
            Ok(_) => {}
            Err(error) => report(error),
        }
    }

    fn check_totals(&self, seen: Seen, marked: u64, last_key: Option<&[u8]>, report: &mut dyn FnMut(Error)) {
        let properties = self.properties();
        let references = || self.references().into_iter().flat_map(References::iter);
        let stated = Seen {
            entries: properties.entries,
            tombstones: properties.tombstones,
            marked,
            key_bytes: properties.key_bytes,
            value_bytes: properties.value_bytes,
            blob_records: references().fold(0, |sum: u64, reference| sum.saturating_add(reference.records)),
            blob_bytes: references().fold(0, |sum: u64, reference| sum.saturating_add(reference.bytes)),
        };
        if stated != seen {
            report(self.damage_in_block(
                0,
                format!("the properties of the SSTable state {stated:?}, but its blocks contain {seen:?}"),
            ));
        }
        if last_key != Some(&*properties.largest) {
            report(self.damage_in_block(
                self.block_count() - 1,
                "the last key of the SSTable differs from the largest key in its properties",
            ));
        }
    }
}
