//! Shared code of text formats in which each line contains one or a few operations.

use std::collections::VecDeque;
use std::str::FromStr;

use super::input::{RecordError, TraceInput};
use super::reader::TraceRecords;
use super::record::TraceRecord;

/// Parser of one text format of traces, which parses one line at a time.
pub(super) trait LineFormat: Send {
    /// Parses one line, and appends the line's records to `records`. The line may contain no records.
    ///
    /// # Errors
    /// Returns a description of the error.
    fn parse(&mut self, line: &[u8], records: &mut Records) -> Result<(), String>;

    /// Returns notes about skipped records, and about the assumptions that the parser has made so far.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A queue of the parsed records of a trace. With each record, the queue stores how many more times a reader must
/// return the record.
#[derive(Default)]
pub(super) struct Records(VecDeque<(TraceRecord, u32)>);

/// The records of a trace in a text format whose lines contain operations.
pub(super) struct LineRecords<F> {
    input: TraceInput,
    format: F,
    line: Vec<u8>,
    records: Records,
}

impl Records {
    /// Appends a parsed record, which is returned once.
    pub(super) fn push(&mut self, record: TraceRecord) {
        self.0.push_back((record, 1));
    }

    /// Appends a record that occurs `times` times in succession.
    pub(super) fn push_times(&mut self, record: TraceRecord, times: u32) {
        if times > 0 {
            self.0.push_back((record, times));
        }
    }

    /// Removes and returns the next parsed record.
    pub(super) fn pop(&mut self) -> Option<TraceRecord> {
        match self.0.front_mut() {
            Some((record, times)) if *times > 1 => {
                *times -= 1;
                Some(record.clone())
            }
            _ => self.0.pop_front().map(|(record, _)| record),
        }
    }
}

impl<F: LineFormat> LineRecords<F> {
    /// Creates the reader of the records in `input`.
    pub(super) fn new(input: TraceInput, format: F) -> Self {
        Self { input, format, line: Vec::new(), records: Records::default() }
    }
}

impl<F: LineFormat> TraceRecords for LineRecords<F> {
    fn read(&mut self) -> Result<Option<TraceRecord>, RecordError> {
        loop {
            if let Some(record) = self.records.pop() {
                return Ok(Some(record));
            }
            if !self.input.read_line(&mut self.line)? {
                return Ok(None);
            }
            if !self.line.is_empty() {
                let parsed = self.format.parse(&self.line, &mut self.records);
                parsed.map_err(|message| self.input.wrong_line(message))?;
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        self.format.notes()
    }
}

/// Parses a field as a number. Blanks around the number are ignored.
pub(super) fn number<T: FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.trim().parse().ok()
}

/// Parses the field `name` as a number. The message of the error contains the text of the field.
pub(super) fn field<T: FromStr>(name: &str, field: &[u8]) -> Result<T, String> {
    number(field).ok_or_else(|| format!("{name} is \"{}\"; expected a whole number", quoted(field)))
}

/// Returns the first characters of a field in quotes, for an error message.
pub(super) fn quoted(field: &[u8]) -> String {
    const SHOWN: usize = 40;
    let dots = if field.len() > SHOWN { "…" } else { "" };
    format!("{}{dots}", field[..field.len().min(SHOWN)].escape_ascii())
}

/// Splits a line into words, which are separated by blanks.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Returns the recorded key, padded with the digit `0` to `bytes` bytes. `CacheBench` pads keys in the same way.
pub(super) fn padded(key: &[u8], bytes: usize) -> Vec<u8> {
    let mut key = key.to_vec();
    key.resize(key.len().max(bytes.min(types::MAX_KEY_BYTES)), b'0');
    key
}
