//! Reader of the query traces of RocksDB, versions 0.1 and 0.2. `DB::StartTrace` and `db_bench --trace_file` write
//! such traces. A record has a time in microseconds, a type, a length and a payload, in little-endian order.

use std::collections::VecDeque;

use catalog::{Build, Variant};

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::payload::Payload;
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};
use super::seeks::{self, Params, Seeks};
use super::write_batch;

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::new::<RocksDb>(
    "rocksdb",
    "query traces that DB::StartTrace of RocksDB or db_bench --trace_file writes",
    seeks::REFERENCE,
);

/// Number of bytes in the header of a record, which precedes the payload: the time, the type and the length.
const HEADER_BYTES: usize = 13;

/// The magic number of a RocksDB query trace, with which the payload of the first record begins.
const MAGIC: &[u8] = b"feedcafedeadbeef";

/// Maximum length of a payload in bytes. The largest write batch of RocksDB is shorter than this maximum.
const LONGEST_PAYLOAD: u32 = 1 << 30;

/// The type number of the first record of a RocksDB query trace.
const BEGIN: u8 = 1;
const END: u8 = 2;
const WRITE: u8 = 3;
const GET: u8 = 4;
const SEEK: u8 = 5;
const SEEK_FOR_PREV: u8 = 6;
const MULTI_GET: u8 = 13;

/// The number of the bit that states that a record contains a write batch. From trace version 0.2 on, a record begins
/// with a set of such bits, which lists its fields.
const WRITE_BATCH: u32 = 1;
const GET_FAMILY: u32 = 2;
const GET_KEY: u32 = 3;
const SEEK_FAMILY: u32 = 4;
const SEEK_KEY: u32 = 5;
const SEEK_LOWER: u32 = 6;
const SEEK_UPPER: u32 = 7;
const MULTI_GET_SIZE: u32 = 8;
const MULTI_GET_FAMILIES: u32 = 9;
const MULTI_GET_KEYS: u32 = 10;

struct RocksDb(Params);

impl Build<dyn TraceReader> for RocksDb {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn TraceReader>, String> {
        Ok(Box::new(Self(params)))
    }
}

/// The header of a record, which precedes the payload of the record.
struct Header {
    time_us: u64,
    kind: u8,
    length: u32,
}

impl TraceReader for RocksDb {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        head.bytes().get(8) == Some(&BEGIN)
            && head.bytes().get(HEADER_BYTES..).is_some_and(|payload| payload.starts_with(MAGIC))
    }

    fn records(&self, mut input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        let mut payload = Vec::new();
        let wrong = |message: &str| RecordError::Byte { offset: 0, message: message.to_owned() };
        match read_header(&mut input)? {
            Some(Header { kind: BEGIN, length, .. }) => input.take(length.into(), &mut payload)?,
            _ => return Err(wrong("the first record is not the header of a RocksDB trace")),
        }
        if !payload.starts_with(MAGIC) {
            return Err(wrong("the first record does not have the magic number of a RocksDB query trace"));
        }
        let (major, minor) = version(&payload).ok_or_else(|| wrong("the header has no trace version"))?;
        if (major, minor) > (0, 2) {
            return Err(wrong(&format!(
                "the trace has version {major}.{minor}; the newest supported version is 0.2"
            )));
        }
        let has_fields = (major, minor) == (0, 2);
        Ok(Box::new(Queries {
            input,
            has_fields,
            payload,
            ready: VecDeque::new(),
            has_ended: false,
            seeks: Seeks::new(&self.0),
            families: 0,
        }))
    }
}

/// The operations in a RocksDB query trace. A write batch or a multi-get becomes one operation per key.
struct Queries {
    input: TraceInput,
    /// Whether each payload begins with a set of bits that lists the fields of the payload. This is true from trace
    /// version 0.2 on.
    has_fields: bool,
    payload: Vec<u8>,
    ready: VecDeque<TraceRecord>,
    has_ended: bool,
    seeks: Seeks,
    families: u64,
}

impl Queries {
    /// Parses the payload of a record of the type `kind`, and keeps its operations until they are read.
    fn parse(&mut self, kind: u8) -> Result<(), String> {
        let mut payload = Payload::new(&self.payload);
        let fields = match (self.has_fields, kind) {
            (true, _) => payload.u64("the bits that list the fields of the record")?,
            (false, WRITE) => 1 << WRITE_BATCH,
            (false, GET) => 1 << GET_FAMILY | 1 << GET_KEY,
            (false, SEEK | SEEK_FOR_PREV) => 1 << SEEK_FAMILY | 1 << SEEK_KEY,
            (false, _) => return Err(format!("records of type {kind} need trace version 0.2")),
        };
        let has = |field: u32| fields & 1 << field != 0;
        match kind {
            WRITE if has(WRITE_BATCH) => {
                let batch = match self.has_fields {
                    true => payload.prefixed("the write batch")?,
                    false => payload.rest(),
                };
                write_batch::parse(batch, &mut self.ready)?;
            }
            GET if has(GET_FAMILY) && has(GET_KEY) => {
                let family = payload.u32("the column family")?;
                let key = payload.prefixed("the key")?;
                self.ready.push_back(TraceRecord::new(TraceOperation::Get, key).in_family(family));
            }
            SEEK | SEEK_FOR_PREV if has(SEEK_FAMILY) && has(SEEK_KEY) => {
                let family = payload.u32("the column family")?;
                let key = payload.prefixed("the key")?;
                let mut record = TraceRecord::new(TraceOperation::Scan, key).in_family(family);
                record.count = Some(self.seeks.entries());
                record.backward = kind == SEEK_FOR_PREV;
                if has(SEEK_LOWER) {
                    let lower = payload.prefixed("the lower bound")?;
                    record.end = record.backward.then(|| lower.to_vec());
                }
                if has(SEEK_UPPER) && !record.backward {
                    record.end = Some(payload.prefixed("the upper bound")?.to_vec());
                }
                self.ready.push_back(record);
            }
            MULTI_GET if has(MULTI_GET_SIZE) && has(MULTI_GET_FAMILIES) && has(MULTI_GET_KEYS) => {
                let keys = payload.u32("the number of keys")?;
                let mut families = Payload::new(payload.prefixed("the column families")?);
                let mut names = Payload::new(payload.prefixed("the keys")?);
                for _ in 0..keys {
                    let family = families.u32("a column family")?;
                    let key = names.prefixed("a key")?;
                    self.ready.push_back(TraceRecord::new(TraceOperation::Get, key).in_family(family));
                }
            }
            WRITE | GET | SEEK | SEEK_FOR_PREV | MULTI_GET => {
                return Err(format!(
                    "a record of type {kind} does not contain the fields that this type requires"
                ));
            }
            _ => return Err(format!("a record has the type {kind}, which is not a query type of RocksDB")),
        }
        Ok(())
    }
}

impl TraceRecords for Queries {
    fn read(&mut self) -> Result<Option<TraceRecord>, RecordError> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                self.families += u64::from(record.family > 0);
                return Ok(Some(record));
            }
            if self.has_ended {
                return Ok(None);
            }
            let offset = self.input.offset();
            // If the recording was interrupted, the trace has no footer.
            let Some(header) = read_header(&mut self.input)? else { return Ok(None) };
            let wrong = |message| RecordError::Byte { offset, message };
            if header.length > LONGEST_PAYLOAD {
                return Err(wrong(format!(
                    "the header of a record states a payload of {} bytes, which is more than any record has",
                    header.length
                )));
            }
            self.input.take(header.length.into(), &mut self.payload)?;
            if header.kind == END {
                self.has_ended = true;
                continue;
            }
            self.parse(header.kind).map_err(wrong)?;
            let time_ns = header.time_us.saturating_mul(1000);
            self.ready.iter_mut().for_each(|record| record.time_ns = Some(time_ns));
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.seeks.note().into_iter().collect();
        if self.families > 0 {
            let count = self.families;
            notes.push(format!(
                "{count} operations belong to column families other than the default family; a replay puts \
                 the number of the column family in front of their keys"
            ));
        }
        notes
    }
}

fn read_header(input: &mut TraceInput) -> Result<Option<Header>, RecordError> {
    let mut bytes = [0; HEADER_BYTES];
    if !input.fill(&mut bytes)? {
        return Ok(None);
    }
    let (time, rest) = bytes.split_first_chunk().expect("the header of a record must have 13 bytes");
    let (length, _) = rest[1..].split_first_chunk().expect("the header of a record must have 13 bytes");
    Ok(Some(Header {
        time_us: u64::from_le_bytes(*time),
        kind: rest[0],
        length: u32::from_le_bytes(*length),
    }))
}

/// Returns the version of the trace from the payload of the first record, such as `…\tTrace Version: 0.2\t…`.
fn version(payload: &[u8]) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(payload).ok()?;
    let version = text.split('\t').find_map(|part| part.strip_prefix("Trace Version: "))?;
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.trim().parse().ok()?))
}
