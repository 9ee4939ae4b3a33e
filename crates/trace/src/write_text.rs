//! Writes traces as text commands, which `lsmbench shell` and a replay of kind `text` can read.

use std::io::{self, Write};

use workload::{Command, TraceOperation, TraceRecord};

use crate::writer::{Losses, TraceWriter};

/// The byte that fills a value whose content the trace did not record.
const FILLER: u8 = b'x';

/// A writer of traces as text commands.
pub(crate) struct TextWriter<W> {
    out: W,
    losses: Losses,
}

impl<W: Write> TextWriter<W> {
    /// Creates a writer that writes text commands to `out`, which must be empty.
    pub(crate) fn new(out: W) -> Self {
        Self { out, losses: Losses::default() }
    }

    fn put(&mut self, record: &TraceRecord) -> io::Result<()> {
        let value = self.value(record);
        writeln!(self.out, "{}", Command::Put { key: record.key.clone(), value })
    }

    fn value(&mut self, record: &TraceRecord) -> Vec<u8> {
        record.value.clone().unwrap_or_else(|| {
            self.losses.add("values were not recorded, so these values consist of the letter x");
            vec![FILLER; record.value_bytes.unwrap_or_default() as usize]
        })
    }
}

impl<W: Write> TraceWriter for TextWriter<W> {
    fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        if record.family > 0 {
            self.losses.add("operations are stored without their column family");
        }
        let key = record.key.clone();
        match record.operation {
            TraceOperation::Get => writeln!(self.out, "{}", Command::Get { key }),
            TraceOperation::Delete => writeln!(self.out, "{}", Command::Delete { key }),
            TraceOperation::SingleDelete => writeln!(self.out, "{}", Command::SingleDelete { key }),
            TraceOperation::Put => self.put(record),
            TraceOperation::ReadModifyWrite => {
                writeln!(self.out, "{}", Command::Get { key })?;
                self.put(record)
            }
            TraceOperation::Merge => {
                let operand = self.value(record);
                writeln!(self.out, "{}", Command::Merge { key, operand })
            }
            TraceOperation::Scan => match &record.end {
                Some(end) if record.count.is_none() && !record.backward => {
                    writeln!(self.out, "{}", Command::Range { low: key, high: end.clone() })
                }
                _ => {
                    self.losses.add(
                        "scans are left out, because the text format has only forward scans that end at a key",
                    );
                    Ok(())
                }
            },
            TraceOperation::DeleteRange => {
                let high = record.end.clone().unwrap_or_default();
                writeln!(self.out, "{}", Command::DeleteRange { low: key, high })
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn losses(&self) -> Vec<String> {
        self.losses.sentences()
    }
}
