//! Writes traces as CSV, with the columns that the trace format `csv` expects by default.

use std::fmt::Write as _;
use std::io::{self, Write};

use workload::{CSV_HEADER, TraceRecord};

use crate::writer::{Losses, TraceWriter};

/// A writer of traces in CSV.
pub(crate) struct CsvWriter<W> {
    out: W,
    losses: Losses,
}

impl<W: Write> CsvWriter<W> {
    /// Creates a writer that writes a CSV trace to `out`, and writes the header.
    pub(crate) fn new(mut out: W) -> io::Result<Self> {
        writeln!(out, "{CSV_HEADER}")?;
        Ok(Self { out, losses: Losses::default() })
    }
}

impl<W: Write> TraceWriter for CsvWriter<W> {
    fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        if record.backward {
            self.losses.add("backward scans are stored as forward scans");
        }
        if record.family > 0 {
            self.losses.add("operations are stored without their column family");
        }
        let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        let end = record.end.as_deref().map_or_else(String::new, escaped);
        writeln!(
            self.out,
            "{},{},{},{end},{},{}",
            number(record.time_ns),
            record.operation.name(),
            escaped(&record.key),
            number(record.count.map(u64::from)),
            number(record.value_bytes.map(u64::from)),
        )
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn losses(&self) -> Vec<String> {
        self.losses.sentences()
    }
}

/// Returns a key as text for CSV. Bytes that are not printable ASCII, or that are special characters of CSV, become
/// `\xHH`.
fn escaped(key: &[u8]) -> String {
    let mut text = String::new();
    for byte in key {
        match byte {
            b'!'..=b'~' if !b",\"\\".contains(byte) => text.push(char::from(*byte)),
            _ => {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
    }
    text
}
