//! Handles of blob files, which read and verify the values in a file.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use cache::{BlockId, Cache};
use storage::{Purpose, ReadFile, Storage};
use types::Bytes;

use super::record::{FOOTER_BYTES, Footer, HEAD_BYTES, Record, record_bytes};
use super::stored::Pointer;
use crate::error::{Error, Result};
use crate::stats::Counters;
use crate::values::BlobFileShape;

/// A blob file. The file is opened at its first read, because SSTables with pointers to the file are opened before
/// the file is complete.
pub(crate) struct BlobFile {
    pub(super) number: u64,
    pub(super) seal: u64,
    pub(super) path: PathBuf,
    pub(super) source: Arc<BlobSource>,
    opened: OnceLock<Opened>,
    /// Whether no version of the tree uses the blob file. This is the case before the first version with the file is
    /// installed, and after the last SSTable with a pointer to the file is removed. An obsolete file is removed from
    /// storage when the last reference to its handle is dropped.
    obsolete: AtomicBool,
}

/// The components that all blob files of a tree share.
pub(crate) struct BlobSource {
    /// The storage that contains the files of the tree.
    pub(crate) storage: Arc<dyn Storage>,
    /// The block cache, which also contains values of blob files.
    pub(crate) cache: Arc<dyn Cache>,
    /// The number that distinguishes this tree from other trees in the block cache.
    pub(crate) tree: u64,
    /// Whether reads take values directly from memory-mapped blob files, without the block cache.
    pub(crate) reads_in_place: bool,
}

/// An open blob file and its footer.
struct Opened {
    file: Arc<dyn ReadFile>,
    footer: Footer,
}

impl BlobFile {
    /// Creates the handle of a blob file without opening the file.
    pub(super) fn new(number: u64, seal: u64, path: PathBuf, source: Arc<BlobSource>) -> Self {
        Self { number, seal, path, source, opened: OnceLock::new(), obsolete: AtomicBool::new(false) }
    }

    /// Returns the file number of the blob file.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Opens the blob file and verifies its footer. Does nothing if the file is open already.
    pub(crate) fn open(&self) -> Result<()> {
        self.opened().map(|_| ())
    }

    /// Returns the description of the blob file for the garbage collection: its number, the total length of its
    /// records, its partition and its live bytes (see [`BlobFileShape`]). `live_bytes` is the total length of the
    /// records to which SSTables refer.
    pub(super) fn shape(&self, live_bytes: u64) -> Result<BlobFileShape> {
        let Footer { bytes, partition, .. } = self.opened()?.footer;
        Ok(BlobFileShape { id: self.number, bytes, live_bytes: live_bytes.min(bytes), partition })
    }

    /// Marks the blob file as obsolete, or as used again. No version of the tree uses an obsolete file.
    pub(crate) fn set_obsolete(&self, obsolete: bool) {
        self.obsolete.store(obsolete, Ordering::Release);
    }

    fn opened(&self) -> Result<&Opened> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let file = self.source.storage.open(&self.path, Purpose::Table)?;
        let footer_at = file.len().checked_sub(FOOTER_BYTES as u64);
        let footer_at =
            footer_at.ok_or_else(|| self.damaged(0, "the blob file is shorter than its footer"))?;
        let footer = file.read(footer_at, FOOTER_BYTES)?;
        let footer = Footer::decode(&footer, self.seal, footer_at);
        let footer = footer.map_err(|what| self.damaged(footer_at, what))?;
        Ok(self.opened.get_or_init(|| Opened { file, footer }))
    }

    /// Returns the error for corruption at `offset` of the blob file. `what` describes the corruption.
    pub(crate) fn damaged(&self, offset: u64, what: impl Into<String>) -> Error {
        Error::damaged(&self.path, offset, what)
    }

    /// Reads the value of a key and appends it to `value`. `pointer` is the position of the value in this blob file.
    /// The value comes from the memory-mapped file if `reads_in_place` is set, or else from the block cache, or else
    /// from storage.
    pub(crate) fn read_into(
        &self,
        pointer: &Pointer,
        key: &[u8],
        value: &mut Vec<u8>,
        counters: &Counters,
    ) -> Result<()> {
        let Opened { file, footer } = self.opened()?;
        let len = self.record_len(pointer, key, footer)?;
        if self.source.reads_in_place
            && let Some(mapped) = file.mapped()
        {
            let record = mapped.get(pointer.offset as usize..).and_then(|rest| rest.get(..len));
            let record = record.ok_or_else(|| {
                self.damaged(pointer.offset, "an SSTable refers to a record outside of the blob file")
            })?;
            value.extend_from_slice(&record[self.verify(record, pointer, key)?]);
            counters.blob_values_in_place.bump();
            return Ok(());
        }
        let name = BlockId { tree: self.source.tree, table: self.number, offset: pointer.offset };
        let take = &mut |cached: &[u8]| value.extend_from_slice(cached);
        if self.source.cache.read(&name, take) {
            counters.blob_values_from_cache.bump();
            return Ok(());
        }
        let record = file.read(pointer.offset, len)?;
        let found = record.slice(self.verify(&record, pointer, key)?);
        counters.blob_values_read.bump();
        counters.blob_read_bytes.add(len as u64);
        value.extend_from_slice(&found);
        self.source.cache.insert(name, found);
        Ok(())
    }

    /// Reads the value of a key from storage without the block cache, as compactions do. Returns the value and the
    /// number of bytes read.
    pub(crate) fn read_apart(&self, pointer: &Pointer, key: &[u8]) -> Result<(Bytes, u64)> {
        let Opened { file, footer } = self.opened()?;
        let record = file.read(pointer.offset, self.record_len(pointer, key, footer)?)?;
        Ok((record.slice(self.verify(&record, pointer, key)?), record.len() as u64))
    }

    /// Returns the length in bytes of the blob file record to which `pointer` refers.
    ///
    /// # Errors
    /// If the record would end after the last record of the blob file.
    fn record_len(&self, pointer: &Pointer, key: &[u8], footer: &Footer) -> Result<usize> {
        let len = pointer.value_bytes.checked_add(record_bytes(key.len(), 0));
        let end = len.and_then(|len| len.checked_add(pointer.offset));
        match (len, end) {
            (Some(len), Some(end)) if end <= footer.bytes => Ok(len as usize),
            _ => Err(self.damaged(pointer.offset, "an SSTable refers to a record outside of the blob file")),
        }
    }

    /// Verifies the blob file record of a key, and returns the byte range of the value in the record.
    fn verify(&self, record: &[u8], pointer: &Pointer, key: &[u8]) -> Result<std::ops::Range<usize>> {
        let decoded = Record::decode(record, self.seal, pointer.offset);
        let Record { key: found, value } = decoded.map_err(|what| self.damaged(pointer.offset, what))?;
        match record[found] == *key {
            true => Ok(value),
            false => Err(self.damaged(
                pointer.offset,
                "a record of the blob file has another key than the SSTable entry that refers to the record",
            )),
        }
    }

    /// Reads the whole blob file and passes every corruption to `report`. The check ends at a record with impossible
    /// lengths, because the start of the next record is unknown.
    pub(crate) fn check(&self, report: &mut dyn FnMut(Error)) {
        let Opened { file, footer } = match self.opened() {
            Ok(opened) => opened,
            Err(error) => return report(error),
        };
        let (mut at, mut records) = (0, 0);
        while at < footer.bytes {
            match self.check_record(&**file, at, footer.bytes) {
                Ok((end, damage)) => {
                    damage.into_iter().for_each(&mut *report);
                    at = end;
                    records += 1;
                }
                Err(error) => return report(error),
            }
        }
        if records != footer.records {
            let what = format!(
                "the footer of the blob file states {} records, but the file has {records}",
                footer.records
            );
            report(self.damaged(footer.bytes, what));
        }
    }

    /// Checks the record at the offset `at` of the blob file, which must end at or before `data_end`. Returns the
    /// offset at which the record ends, with an error if the record is corrupt.
    ///
    /// # Errors
    /// If the record cannot be read, or if its lengths are impossible, so that its end is unknown.
    fn check_record(&self, file: &dyn ReadFile, at: u64, data_end: u64) -> Result<(u64, Option<Error>)> {
        let head = file.read(at, HEAD_BYTES.min((data_end - at) as usize))?;
        let end = Record::of_head(&head).map(|record| at + record.value.end as u64);
        let end = end.filter(|end| *end <= data_end);
        let end =
            end.ok_or_else(|| self.damaged(at, "the record in the blob file does not match its checksum"))?;
        let record = file.read(at, (end - at) as usize)?;
        let damage = Record::decode(&record, self.seal, at).err();
        Ok((end, damage.map(|what| self.damaged(at, what))))
    }
}

impl Drop for BlobFile {
    fn drop(&mut self) {
        if self.obsolete.load(Ordering::Acquire) {
            self.source.cache.remove_table(self.source.tree, self.number);
            // If this removal fails, the file is an orphan, and the next open removes it.
            let _ = self.source.storage.remove(&self.path);
        }
    }
}
