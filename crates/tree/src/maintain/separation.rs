//! Separates values from keys while a sorted run is written, and relocates values of blob files.

use std::collections::HashSet;
use std::sync::Arc;

use types::avalanche;

use super::subcompaction::Input;
use crate::blob::{BlobFile, BlobWriter, Pointer, References, Stored, record_bytes};
use crate::error::Result;
use crate::inner::Inner;
use crate::merge_operands::is_operand;
use crate::values::Writing;
use crate::version::Version;

/// The decisions about values in one flush or compaction: which values move from SSTables to blob files, and which blob
/// values move to new blob files.
pub(super) struct SeparationPlan {
    writing: Writing,
    /// The size, in bytes, from which values are written to blob files. `None` if all values stay in SSTables.
    threshold: Option<u64>,
    /// The numbers of the blob files whose values this compaction moves to other files.
    relocated: HashSet<u64>,
    /// Whether stored values in the input SSTables begin with a tag byte, which distinguishes values from pointers.
    reads_marks: bool,
    /// Whether stored values in the output SSTables begin with a tag byte, which distinguishes values from pointers.
    writes_marks: bool,
}

impl SeparationPlan {
    /// Returns whether stored values in the input SSTables begin with a tag byte, which distinguishes values from
    /// pointers.
    #[inline]
    pub(super) fn reads_marks(&self) -> bool {
        self.reads_marks
    }
}

impl Inner {
    /// Returns which values a flush writes to blob files.
    pub(super) fn plan_of_flush(&self) -> SeparationPlan {
        let threshold = self.values.separates_from(Writing::Flush);
        let (relocated, writes_marks) = (HashSet::new(), threshold.is_some());
        SeparationPlan { writing: Writing::Flush, threshold, relocated, reads_marks: false, writes_marks }
    }

    /// Returns which values a compaction of `inputs` to `level` writes to blob files, and which blob files it empties.
    pub(super) fn plan_of_compaction(
        &self,
        version: &Version,
        inputs: &[Input],
        level: usize,
    ) -> Result<SeparationPlan> {
        let writing = Writing::Compaction { level };
        let threshold = self.values.separates_from(writing);
        let references = || inputs.iter().flatten().filter_map(|table| table.references());
        let reads_marks = references().next().is_some();
        let relocated: HashSet<u64> = match reads_marks {
            true => {
                let files = version.blob_files()?;
                let collected = self.collected_blobs.lock();
                self.values.relocates(&files).into_iter().chain(collected.iter().copied()).collect()
            }
            false => HashSet::new(),
        };
        let keeps_pointers = references().any(|references| references.any(|file| !relocated.contains(&file)));
        let writes_marks = threshold.is_some() || keeps_pointers;
        Ok(SeparationPlan { writing, threshold, relocated, reads_marks, writes_marks })
    }
}

/// Writes the large values of one sorted run to blob files. For each value, returns the bytes that the SSTable stores:
/// the value itself, or a pointer into a blob file.
pub(super) struct Separation<'a> {
    inner: &'a Inner,
    plan: &'a SeparationPlan,
    /// The current blob file of each partition, or `None` for a partition without a current file. A partition is a
    /// share of the keys, selected by hash, with its own blob files.
    writers: Vec<Option<BlobWriter>>,
    /// The bytes that the SSTable stores for the current value: the value itself, or a pointer into a blob file.
    stored: Vec<u8>,
}

/// The blob file that contains a value, and the length of its record in bytes.
pub(super) type RecordReference = (Arc<BlobFile>, u64);

impl<'a> Separation<'a> {
    /// Begins to separate the values of a new run from their keys. Returns `None` if neither the inputs nor the output
    /// can have values in blob files, because all values are then copied unchanged.
    pub(super) fn begin(inner: &'a Inner, plan: &'a SeparationPlan) -> Option<Self> {
        let is_needed = plan.reads_marks || plan.writes_marks;
        let writers = || (0..inner.values.partitions().max(1)).map(|_| None).collect();
        is_needed.then(|| Self { inner, plan, writers: writers(), stored: Vec::new() })
    }

    /// Returns whether stored values in the output run begin with a tag byte, which distinguishes values from pointers.
    pub(super) fn writes_marks(&self) -> bool {
        self.plan.writes_marks
    }

    /// Returns the bytes that the output SSTable stores for a value of an input SSTable. If the value is in a blob
    /// file, also returns the reference to its record. Returns `None` if `value` is corrupt.
    ///
    /// If the input SSTable can contain pointers, `value` begins with a tag byte and `source` lists the blob files of
    /// this SSTable. Otherwise, `source` is `None` and `value` is the value itself.
    ///
    /// # Errors
    /// If a blob file cannot be read or written.
    pub(super) fn store(
        &mut self,
        key: &[u8],
        value: &[u8],
        source: Option<&References>,
    ) -> Result<Option<(&[u8], Option<RecordReference>)>> {
        self.stored.clear();
        let Some(source) = source else {
            let reference = self.place(key, value)?;
            return Ok(Some((&self.stored, reference)));
        };
        let reference = match Stored::decode(value) {
            Some(Stored::Inline(value)) => self.place(key, value)?,
            Some(stored @ Stored::Apart(pointer)) => {
                let Some(file) = source.file(&pointer) else { return Ok(None) };
                if self.plan.relocated.contains(&pointer.file) {
                    let (value, bytes) = file.read_apart(&pointer, key)?;
                    let counters = self.inner.counters.local();
                    counters.compaction_bytes_read.add(bytes);
                    counters.blob_values_relocated.bump();
                    self.place(key, &value)?
                } else {
                    stored.encode(&mut self.stored);
                    Some((Arc::clone(file), record_bytes(key.len(), pointer.value_bytes)))
                }
            }
            None => return Ok(None),
        };
        Ok(Some((&self.stored, reference)))
    }

    /// Writes a value to a blob file if it has at least `threshold` bytes and is not a merge operand. Returns a
    /// reference to the record of the value, or `None` if the value stays in the SSTable. In both cases, appends the
    /// bytes for the SSTable to `self.stored`.
    fn place(&mut self, key: &[u8], value: &[u8]) -> Result<Option<RecordReference>> {
        // A compaction combines operands, so operands stay in the SSTable with their keys.
        let is_operand = self.inner.merge_operator().is_some() && is_operand(value);
        if is_operand || self.plan.threshold.is_none_or(|threshold| (value.len() as u64) < threshold) {
            match self.plan.writes_marks {
                true => Stored::Inline(value).encode(&mut self.stored),
                false => self.stored.extend_from_slice(value),
            }
            return Ok(None);
        }
        let partition = match self.writers.len() as u64 {
            1 => 0,
            partitions => avalanche(self.inner.hashed(key).hash.0) % partitions,
        };
        let writer = match &mut self.writers[partition as usize] {
            Some(writer) => writer,
            none => {
                let number = self.inner.new_file();
                none.insert(BlobWriter::new(&self.inner.context.blobs, number, partition as u32)?)
            }
        };
        let pointer @ Pointer { value_bytes, .. } = writer.add(key, value)?;
        let reference = (Arc::clone(writer.handle()), record_bytes(key.len(), value_bytes));
        let is_full = writer.bytes() >= self.inner.values.file_bytes();
        Stored::Apart(pointer).encode(&mut self.stored);
        if is_full {
            self.finish_file(partition as usize)?;
        }
        Ok(Some(reference))
    }

    /// Completes all open blob files of the sorted run.
    pub(super) fn finish(&mut self) -> Result<()> {
        (0..self.writers.len()).try_for_each(|partition| self.finish_file(partition))
    }

    /// Completes the current blob file of a partition. Does nothing if the partition has no current file.
    fn finish_file(&mut self, partition: usize) -> Result<()> {
        let Some(writer) = self.writers[partition].take() else { return Ok(()) };
        let bytes = writer.finish()?;
        let counters = self.inner.counters.local();
        counters.blob_bytes_written.add(bytes);
        let (level, all) = match self.plan.writing {
            Writing::Flush => (0, &counters.flush_bytes),
            Writing::Compaction { level } => (level, &counters.compaction_bytes_written),
        };
        all.add(bytes);
        counters.level(level).bytes_written.add(bytes);
        Ok(())
    }
}
