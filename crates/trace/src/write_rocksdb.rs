//! Writes RocksDB query traces of version 0.2, which `trace_analyzer` and `db_bench --benchmarks=replay` can read.

use std::io::{self, Write};

use workload::{TraceOperation, TraceRecord};

use crate::writer::{Losses, TraceWriter};

/// The payload of the first record of a RocksDB trace. It names the version of RocksDB whose tools were tested with
/// this writer.
const HEADER: &[u8] =
    b"feedcafedeadbeef\tTrace Version: 0.2\tRocksDB Version: 7.8\tFormat: Timestamp OpType Payload\n";

/// The type of the first record of a RocksDB trace. The next constants are the types of the other records.
const BEGIN: u8 = 1;
const END: u8 = 2;
const WRITE: u8 = 3;
const GET: u8 = 4;
const SEEK: u8 = 5;
const SEEK_FOR_PREV: u8 = 6;

/// The bit mask at the start of the payload of a write record, which names the fields that follow. The next constants
/// are the masks of other records and of the optional bounds of a scan.
const WRITE_FIELDS: u64 = 1 << 1;
const GET_FIELDS: u64 = 1 << 2 | 1 << 3;
const SEEK_FIELDS: u64 = 1 << 4 | 1 << 5;
const LOWER_BOUND: u64 = 1 << 6;
const UPPER_BOUND: u64 = 1 << 7;

/// The tag of a delete in a RocksDB write batch. The next constants are the tags of the other writes.
const DELETION: u8 = 0x4;
const VALUE: u8 = 0x5;
const MERGE: u8 = 0x6;
const SINGLE_DELETION: u8 = 0x8;
const RANGE_DELETION: u8 = 0xe;

/// A writer of a RocksDB trace.
pub(crate) struct RocksDbWriter<W> {
    out: W,
    last_us: u64,
    is_begun: bool,
    losses: Losses,
}

impl<W: Write> RocksDbWriter<W> {
    /// Creates a writer that writes a RocksDB trace to `out`, which must be empty.
    pub(crate) fn new(out: W) -> Self {
        Self { out, last_us: 0, is_begun: false, losses: Losses::default() }
    }

    fn record(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        self.out.write_all(&self.last_us.to_le_bytes())?;
        self.out.write_all(&[kind])?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(payload)
    }

    /// Returns the payload of a record that writes: a RocksDB write batch with one write.
    fn batch(&mut self, record: &TraceRecord) -> Vec<u8> {
        let tag = match record.operation {
            TraceOperation::Delete => DELETION,
            TraceOperation::DeleteRange => RANGE_DELETION,
            TraceOperation::SingleDelete => SINGLE_DELETION,
            TraceOperation::Merge => MERGE,
            TraceOperation::ReadModifyWrite => {
                self.losses.add(
                    "read-modify-writes are stored as merges, because the format has no read-modify-writes",
                );
                MERGE
            }
            _ => VALUE,
        };
        let mut batch = vec![0; 8];
        batch.extend_from_slice(&1u32.to_le_bytes());
        // A write to the default column family has another tag, and no number of a column family.
        match record.family {
            0 => batch.push(match tag {
                RANGE_DELETION => tag + 1,
                SINGLE_DELETION => tag - 1,
                _ => tag - DELETION,
            }),
            family => {
                batch.push(tag);
                push_number(family, &mut batch);
            }
        }
        push(&record.key, &mut batch);
        match record.operation {
            TraceOperation::Delete | TraceOperation::SingleDelete => {}
            TraceOperation::DeleteRange => push(record.end.as_deref().unwrap_or_default(), &mut batch),
            _ if record.value.is_none() => {
                self.losses.add("values were not recorded, so these values contain zeros");
                push(&vec![0; record.value_bytes.unwrap_or_default() as usize], &mut batch);
            }
            _ => push(record.value.as_deref().unwrap_or_default(), &mut batch),
        }
        let mut payload = WRITE_FIELDS.to_le_bytes().to_vec();
        push(&batch, &mut payload);
        payload
    }

    fn seek(&mut self, record: &TraceRecord) -> Vec<u8> {
        if record.count.is_some_and(|count| count != 1) {
            self.losses
                .add("scans are stored without their number of entries, which RocksDB does not record");
        }
        let bound = match (&record.end, record.backward) {
            (None, _) => 0,
            (Some(_), true) => LOWER_BOUND,
            (Some(_), false) => UPPER_BOUND,
        };
        let mut payload = (SEEK_FIELDS | bound).to_le_bytes().to_vec();
        payload.extend_from_slice(&record.family.to_le_bytes());
        push(&record.key, &mut payload);
        record.end.iter().for_each(|end| push(end, &mut payload));
        payload
    }
}

impl<W: Write> TraceWriter for RocksDbWriter<W> {
    fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        match record.time_ns {
            Some(time_ns) => self.last_us = time_ns / 1000,
            None => self.losses.add("operations have no time, so the time between two operations is 1 us"),
        }
        if !self.is_begun {
            self.is_begun = true;
            self.record(BEGIN, HEADER)?;
        }
        if record.time_ns.is_none() {
            self.last_us += 1;
        }
        match record.operation {
            TraceOperation::Get => {
                if record.value_bytes.is_some() {
                    self.losses.add("gets are stored without the size of their value");
                }
                let mut payload = GET_FIELDS.to_le_bytes().to_vec();
                payload.extend_from_slice(&record.family.to_le_bytes());
                push(&record.key, &mut payload);
                self.record(GET, &payload)
            }
            TraceOperation::Scan => {
                let kind = if record.backward { SEEK_FOR_PREV } else { SEEK };
                let payload = self.seek(record);
                self.record(kind, &payload)
            }
            _ => {
                let payload = self.batch(record);
                self.record(WRITE, &payload)
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.is_begun {
            self.record(BEGIN, HEADER)?;
        }
        self.record(END, &[])?;
        self.out.flush()
    }

    fn losses(&self) -> Vec<String> {
        self.losses.sentences()
    }
}

/// Appends a number to `out` as a varint: 7 bits of the number per byte, low bits first.
fn push_number(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the length of `bytes` to `out`, followed by `bytes`.
fn push(bytes: &[u8], out: &mut Vec<u8>) {
    push_number(u32::try_from(bytes.len()).unwrap_or(u32::MAX), out);
    out.extend_from_slice(bytes);
}
