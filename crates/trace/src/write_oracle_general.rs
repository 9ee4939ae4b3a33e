//! Writes traces in the oracleGeneral format of libCacheSim. A record contains the position of the next access to its
//! object. This position is unknown when the record is written, so it is filled in when the next access is written.

use std::collections::HashMap;
use std::fs::File;
use std::hash::BuildHasherDefault;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;

use types::AlreadyHashed;
use workload::{TraceOperation, TraceRecord};
use xxhash_rust::xxh3::xxh3_64;

use crate::keys::hash_of;
use crate::writer::{Losses, TraceWriter};

/// The size of a record in bytes in the oracleGeneral format.
const RECORD_BYTES: u64 = 24;
/// The offset in a record of the number of the next access to the same object.
const NEXT_OFFSET: u64 = 16;

/// The maximum number of next accesses that the writer collects in memory before it writes their positions to the file.
const MOST_PENDING: usize = 1 << 20;

/// Nanoseconds per second.
const SECOND_NS: u64 = 1_000_000_000;

/// A writer of a trace in the oracleGeneral format.
pub(crate) struct OracleGeneralWriter {
    out: BufWriter<File>,
    written: u64,
    /// The number of the last record of each object (a key of the trace), by the hash of its key.
    last: HashMap<u64, u64, BuildHasherDefault<AlreadyHashed>>,
    /// The next accesses that are not in the file yet, each as the number of a record and the number of the next record
    /// of the same object.
    pending: Vec<(u64, u64)>,
    first_ns: Option<u64>,
    losses: Losses,
}

impl OracleGeneralWriter {
    /// Creates a writer that writes an oracleGeneral trace to `file`, which must be empty.
    pub(crate) fn new(file: File) -> Self {
        Self {
            out: BufWriter::new(file),
            written: 0,
            last: HashMap::default(),
            pending: Vec::new(),
            first_ns: None,
            losses: Losses::default(),
        }
    }

    /// Writes the collected positions of next accesses into their records in the file.
    fn set_next(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.pending.sort_unstable();
        for (record, next) in self.pending.drain(..) {
            let next = i64::try_from(next).map_err(io::Error::other)?;
            self.out.get_ref().write_all_at(&next.to_le_bytes(), record * RECORD_BYTES + NEXT_OFFSET)?;
        }
        Ok(())
    }
}

impl TraceWriter for OracleGeneralWriter {
    fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        match record.operation {
            TraceOperation::Get => {}
            TraceOperation::Put | TraceOperation::ReadModifyWrite | TraceOperation::Merge => {
                self.losses.add("writes are stored as requests for the object");
            }
            TraceOperation::Delete | TraceOperation::SingleDelete => {
                self.losses.add("deletes are left out, because the format has no deletes");
                return Ok(());
            }
            TraceOperation::Scan | TraceOperation::DeleteRange => {
                self.losses.add("operations on ranges are left out, because the format has no ranges");
                return Ok(());
            }
        }
        let time_ns = record.time_ns.unwrap_or_default();
        let first_ns = *self.first_ns.get_or_insert(time_ns);
        // The format has 32 bits for the seconds. Times since 1970 fit until 2106. A time that does not fit, such as a
        // time since 1601, is replaced by the time since the first record.
        let since_first = time_ns.saturating_sub(first_ns);
        let seconds = u32::try_from(time_ns / SECOND_NS)
            .unwrap_or_else(|_| u32::try_from(since_first / SECOND_NS).unwrap_or(u32::MAX));
        let object = if let (0, Ok(number)) = (record.family, <[u8; 8]>::try_from(&record.key[..])) {
            u64::from_be_bytes(number)
        } else {
            self.losses
                .add("keys are stored as hashes, because the format identifies objects by 8-byte numbers");
            xxh3_64(&record.key) ^ u64::from(record.family)
        };
        let bytes = record.value_bytes.unwrap_or_else(|| {
            self.losses.add("sizes were not recorded, so these sizes are 1");
            1
        });
        self.out.write_all(&seconds.to_le_bytes())?;
        self.out.write_all(&object.to_le_bytes())?;
        self.out.write_all(&bytes.to_le_bytes())?;
        self.out.write_all(&(-1i64).to_le_bytes())?;
        if let Some(before) = self.last.insert(hash_of(record), self.written) {
            self.pending.push((before, self.written));
        }
        self.written += 1;
        if self.pending.len() >= MOST_PENDING { self.set_next() } else { Ok(()) }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.set_next()
    }

    fn losses(&self) -> Vec<String> {
        self.losses.sentences()
    }
}
