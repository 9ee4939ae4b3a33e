//! Reader of the `oracleGeneral` format of libCacheSim. A record has 24 bytes in little-endian order: the time in
//! seconds, the number of the object, the object's size, and the position of the object's next access.

use catalog::Variant;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::plain(
    "oracle-general",
    "cache requests in the binary format of libCacheSim (time, object, size, next access)",
    || Box::new(OracleGeneral),
);

/// Size of a record of an `oracleGeneral` trace in bytes.
const RECORD_BYTES: usize = 24;

/// Nanoseconds per second.
const SECOND_NS: u64 = 1_000_000_000;

struct OracleGeneral;

/// The fields of a record of an `oracleGeneral` trace.
struct Fields {
    time_s: u32,
    object: u64,
    bytes: u32,
    next: i64,
}

impl Fields {
    fn of(record: &[u8; RECORD_BYTES]) -> Self {
        let (time, rest) =
            record.split_first_chunk().expect("a record of an oracleGeneral trace must have 24 bytes");
        let (object, rest) =
            rest.split_first_chunk().expect("a record of an oracleGeneral trace must have 24 bytes");
        let (bytes, rest) =
            rest.split_first_chunk().expect("a record of an oracleGeneral trace must have 24 bytes");
        let next = rest.first_chunk().expect("a record of an oracleGeneral trace must have 24 bytes");
        Self {
            time_s: u32::from_le_bytes(*time),
            object: u64::from_le_bytes(*object),
            bytes: u32::from_le_bytes(*bytes),
            next: i64::from_le_bytes(*next),
        }
    }

    /// Returns whether the field "next access" is plausible in record number `at`: the next access comes later in the
    /// file, or the object has no next access. The check recognizes files of this format.
    fn is_possible_at(&self, at: u64) -> bool {
        self.next == -1 || u64::try_from(self.next).is_ok_and(|next| next >= at)
    }
}

impl TraceReader for OracleGeneral {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        let mut last_s = 0;
        let mut numbers = 0..;
        head.may_be_records_of(RECORD_BYTES)
            && head.records().map(Fields::of).all(|fields| {
                let rises = fields.time_s >= last_s;
                last_s = fields.time_s;
                rises && fields.is_possible_at(numbers.next().unwrap_or(u64::MAX))
            })
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        Ok(Box::new(Requests { input, next: 0 }))
    }

    fn width(&self) -> Option<usize> {
        Some(size_of::<u64>())
    }
}

struct Requests {
    input: TraceInput,
    /// The number of the record that is read next, from 0.
    next: u64,
}

impl TraceRecords for Requests {
    fn read(&mut self) -> Result<Option<TraceRecord>, RecordError> {
        let mut record = [0; RECORD_BYTES];
        let offset = self.input.offset();
        if !self.input.fill(&mut record)? {
            return Ok(None);
        }
        let fields = Fields::of(&record);
        if !fields.is_possible_at(self.next) {
            let message = format!(
                "the next access of record {} is at {}, which is before the record; check that the file is \
                 an oracleGeneral trace",
                self.next, fields.next
            );
            return Err(RecordError::Byte { offset, message });
        }
        self.next += 1;
        let time_ns = u64::from(fields.time_s) * SECOND_NS;
        let key = fields.object.to_be_bytes();
        Ok(Some(TraceRecord::new(TraceOperation::Get, key).at(time_ns).sized(fields.bytes)))
    }
}
