//! Reader of the traces of Meta's key-value caches. The traces are CSV files with a header that names the columns.
//! The columns `key`, `op` and `size` are required. The columns `key_size`, `op_count` and `op_time` are optional.

use catalog::Variant;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::lines::{LineFormat, LineRecords, Records, field, padded, quoted};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::plain(
    "cachelib",
    "CSV of Meta's key-value caches with a header (key, op, size, op_count, key_size)",
    || Box::new(CacheLib),
);

/// Nanoseconds per second.
const SECOND_NS: u64 = 1_000_000_000;

/// The maximum number of operations of one row.
const MOST_OPERATIONS: u32 = 10_000_000;

struct CacheLib;

/// The positions of the columns in a row, as the header of the file gives them.
#[derive(Clone, Copy)]
struct Columns {
    key: usize,
    op: usize,
    size: usize,
    key_size: Option<usize>,
    op_count: Option<usize>,
    op_time: Option<usize>,
}

/// The parser of the rows of a `CacheLib` trace. `None` until the parser has read the names of the columns in the first
/// line.
struct Rows(Option<Columns>);

impl TraceReader for CacheLib {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        head.lines().next().is_some_and(|line| Columns::of(line).is_ok())
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        Ok(Box::new(LineRecords::new(input, Rows(None))))
    }
}

impl Columns {
    fn of(header: &[u8]) -> Result<Self, String> {
        let place = |name: &str| split(header).position(|column| column == name.as_bytes());
        let required = |name: &str| {
            place(name).ok_or_else(|| {
                format!(
                    "the header has no column \"{name}\"; a CacheLib trace needs the columns key, op and \
                     size"
                )
            })
        };
        Ok(Self {
            key: required("key")?,
            op: required("op")?,
            size: required("size")?,
            key_size: place("key_size"),
            op_count: place("op_count"),
            op_time: place("op_time"),
        })
    }
}

impl LineFormat for Rows {
    fn parse(&mut self, line: &[u8], records: &mut Records) -> Result<(), String> {
        let Some(columns) = self.0 else {
            self.0 = Some(Columns::of(line)?);
            return Ok(());
        };
        let fields: Vec<&[u8]> = split(line).collect();
        let get = |at: usize| {
            fields
                .get(at)
                .copied()
                .ok_or_else(|| format!("the row has {} columns, fewer than the header", fields.len()))
        };
        let number = |name: &str, at: Option<usize>| match at {
            Some(at) => field::<u64>(name, get(at)?).map(Some),
            None => Ok(None),
        };
        let op = get(columns.op)?;
        let operation = operation(op).ok_or_else(|| format!("unknown operation \"{}\"", quoted(op)))?;
        let key_bytes = number("key_size", columns.key_size)?.unwrap_or(0);
        let key = padded(get(columns.key)?, usize::try_from(key_bytes).unwrap_or(usize::MAX));
        let bytes: u32 = field("size", get(columns.size)?)?;
        let times = number("op_count", columns.op_count)?.unwrap_or(1);
        let times = u32::try_from(times).ok().filter(|times| *times <= MOST_OPERATIONS);
        let times = times.ok_or_else(|| format!("op_count is above {MOST_OPERATIONS}"))?;
        let mut record = TraceRecord::new(operation, key);
        record.time_ns = number("op_time", columns.op_time)?.map(|time_s| time_s.saturating_mul(SECOND_NS));
        // A get with a size of 0 bytes is a miss, so the size of the value is unknown.
        let is_known = operation.sets() || (operation == TraceOperation::Get && bytes > 0);
        record.value_bytes = is_known.then_some(bytes);
        records.push_times(record, times);
        Ok(())
    }
}

fn split(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

fn operation(name: &[u8]) -> Option<TraceOperation> {
    Some(match name {
        b"GET" | b"GET_LEASE" => TraceOperation::Get,
        b"SET" | b"SET_LEASE" => TraceOperation::Put,
        b"DELETE" => TraceOperation::Delete,
        _ => return None,
    })
}
