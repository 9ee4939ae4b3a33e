//! The blob files to which an SSTable refers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::file::BlobFile;
use super::registry::BlobFiles;
use super::stored::{Pointer, Stored};
use crate::codec::{Reader, put_varint};
use crate::error::Result;
use crate::stats::Counters;
use crate::values::BlobFileShape;

/// The list of blob files that contain values of one SSTable, sorted by file number.
#[derive(Default)]
pub(crate) struct References(Vec<Reference>);

/// A blob file that contains values of one SSTable, and the number and size of these values.
pub(crate) struct Reference {
    /// The blob file that contains values of the SSTable.
    pub(crate) file: Arc<BlobFile>,
    /// The number of records to which the SSTable refers in the blob file.
    pub(crate) records: u64,
    /// The total length of the records to which the SSTable refers in the blob file, in bytes.
    pub(crate) bytes: u64,
}

impl References {
    /// Counts one more record of the blob file `file` to which the SSTable refers. The record has `bytes` bytes.
    pub(crate) fn add(&mut self, file: &Arc<BlobFile>, bytes: u64) {
        let at = self.0.binary_search_by_key(&file.number(), |reference| reference.file.number());
        let at = at.unwrap_or_else(|at| {
            self.0.insert(at, Reference { file: Arc::clone(file), records: 0, bytes: 0 });
            at
        });
        self.0[at].records += 1;
        self.0[at].bytes = self.0[at].bytes.saturating_add(bytes);
    }

    /// Returns the blob files with values of the SSTable, sorted by file number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Reference> {
        self.0.iter()
    }

    /// Returns the blob file to which `pointer` refers. Returns `None` if the list does not contain the file.
    #[inline]
    pub(crate) fn file(&self, pointer: &Pointer) -> Option<&Arc<BlobFile>> {
        let at = self.0.binary_search_by_key(&pointer.file, |reference| reference.file.number()).ok()?;
        Some(&self.0[at].file)
    }

    /// Appends the value of `key` to `value`. `stored` is the value as stored in the SSTable: the value itself, or a
    /// pointer to a blob file. Returns `false` if `stored` is corrupt, or refers to a blob file that is not in the
    /// list.
    ///
    /// # Errors
    /// If the blob file cannot be read or is corrupt.
    #[inline]
    pub(crate) fn resolve(
        &self,
        stored: &[u8],
        key: &[u8],
        value: &mut Vec<u8>,
        counters: &Counters,
    ) -> Result<bool> {
        match Stored::decode(stored) {
            Some(Stored::Inline(inline)) => value.extend_from_slice(inline),
            Some(Stored::Apart(pointer)) => match self.file(&pointer) {
                Some(file) => file.read_into(&pointer, key, value, counters)?,
                None => return Ok(false),
            },
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Returns whether the SSTable refers to a blob file whose number `is_wanted` accepts.
    pub(crate) fn any(&self, is_wanted: impl Fn(u64) -> bool) -> bool {
        self.0.iter().any(|reference| is_wanted(reference.file.number()))
    }

    /// Appends the list of blob files to `out`, in the encoding of SSTables.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.0.len() as u64);
        for Reference { file, records, bytes } in &self.0 {
            [file.number(), *records, *bytes].into_iter().for_each(|number| put_varint(out, number));
        }
    }

    /// Decodes the list of blob files in an SSTable. Returns `None` if the bytes are corrupt.
    pub(crate) fn decode(reader: &mut Reader<'_>, files: &BlobFiles) -> Option<Self> {
        let mut references: Vec<Reference> = Vec::new();
        for _ in 0..reader.varint()? {
            let (number, records, bytes) = (reader.varint()?, reader.varint()?, reader.varint()?);
            let is_above = references.last().is_none_or(|last| last.file.number() < number);
            is_above.then_some(())?;
            references.push(Reference { file: files.file(number), records, bytes });
        }
        Some(Self(references))
    }
}

/// Returns a description of each blob file to which an SSTable refers, with its live bytes, from the oldest to the
/// newest file. `tables` contains the list of blob files of each SSTable.
///
/// # Errors
/// If a blob file cannot be opened.
pub(crate) fn shapes<'a>(tables: impl Iterator<Item = &'a References>) -> Result<Vec<BlobFileShape>> {
    let mut live: BTreeMap<u64, (&Arc<BlobFile>, u64)> = BTreeMap::new();
    for Reference { file, bytes, .. } in tables.flat_map(References::iter) {
        let (_, live_bytes) = live.entry(file.number()).or_insert((file, 0));
        *live_bytes = live_bytes.saturating_add(*bytes);
    }
    live.into_values().map(|(file, live_bytes)| file.shape(live_bytes)).collect()
}
