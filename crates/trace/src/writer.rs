//! The trait of writers of traces.

use std::io;

use workload::TraceRecord;

/// Writer of records in one format.
pub trait TraceWriter {
    /// Writes the next record. A record that the format cannot express is left out and counted.
    ///
    /// # Errors
    /// The file cannot be written.
    fn write(&mut self, record: &TraceRecord) -> io::Result<()>;

    /// Writes the end of the file and all buffered bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    fn finish(&mut self) -> io::Result<()>;

    /// Returns the properties that the format could not express, one sentence each.
    fn losses(&self) -> Vec<String>;
}

/// Counts of the records that a format could not express.
#[derive(Debug, Default)]
pub(crate) struct Losses(Vec<(&'static str, u64)>);

impl Losses {
    /// Counts one record that is left out or changed, with the description `what`.
    pub(crate) fn add(&mut self, what: &'static str) {
        match self.0.iter_mut().find(|(known, _)| *known == what) {
            Some((_, count)) => *count += 1,
            None => self.0.push((what, 1)),
        }
    }

    /// Returns a sentence for each kind.
    pub(crate) fn sentences(&self) -> Vec<String> {
        self.0.iter().map(|(what, count)| format!("{count} {what}")).collect()
    }
}
