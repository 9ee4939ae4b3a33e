//! The trait of all trace writers.

use std::io;

use workload::TraceRecord;

/// A writer of trace records in one trace format.
pub trait TraceWriter {
    /// Writes the next record. If the format cannot express the record, the writer skips and counts it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    fn write(&mut self, record: &TraceRecord) -> io::Result<()>;

    /// Writes the end of the file and all buffered bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    fn finish(&mut self) -> io::Result<()>;

    /// Returns one sentence for each property of the records that the format could not express.
    fn losses(&self) -> Vec<String>;
}

/// The numbers of records that a trace format could not express, by the kind of loss.
#[derive(Debug, Default)]
pub(crate) struct Losses(Vec<(&'static str, u64)>);

impl Losses {
    /// Counts one record that the writer has skipped or changed. `what` describes the loss.
    pub(crate) fn add(&mut self, what: &'static str) {
        match self.0.iter_mut().find(|(known, _)| *known == what) {
            Some((_, count)) => *count += 1,
            None => self.0.push((what, 1)),
        }
    }

    /// Returns one sentence for each kind of record that the format could not express, with the number of records.
    pub(crate) fn sentences(&self) -> Vec<String> {
        self.0.iter().map(|(what, count)| format!("{count} {what}")).collect()
    }
}
