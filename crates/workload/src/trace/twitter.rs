//! Reader of the traces of Twitter's twemcache clusters, which are CSV files without a header. The columns are time
//! in seconds, key, key size, value size, client, operation and time to live.
//!
//! Source: Yang, Yue and Rashmi, "A large scale analysis of hundreds of in-memory cache clusters at Twitter" (OSDI
//! 2020).

use catalog::Variant;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::lines::{LineFormat, LineRecords, Records, field, number, padded, quoted};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::plain(
    "twitter",
    "CSV of Twitter's twemcache clusters (time, key, key size, value size, client, operation, TTL)",
    || Box::new(Twitter),
);

/// Nanoseconds per second.
const SECOND_NS: u64 = 1_000_000_000;

struct Twitter;

impl TraceReader for Twitter {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        head.all_lines(|line| fields(line).is_some_and(|fields| operation(fields[5]).is_some()))
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        Ok(Box::new(LineRecords::new(input, Self)))
    }
}

impl LineFormat for Twitter {
    fn parse(&mut self, line: &[u8], records: &mut Records) -> Result<(), String> {
        let shape = "a line is TIME,KEY,KEY_SIZE,VALUE_SIZE,CLIENT,OPERATION,TTL";
        let [time, key, key_bytes, value_bytes, _, name, _] = fields(line).ok_or(shape)?;
        let operation = operation(name).ok_or_else(|| format!("unknown operation \"{}\"", quoted(name)))?;
        let time_s: u64 = field("time", time)?;
        let bytes: u32 = field("value size", value_bytes)?;
        let key = padded(key, field("key size", key_bytes)?);
        let record = TraceRecord::new(operation, key).at(time_s.saturating_mul(SECOND_NS));
        // A get with a size of 0 bytes is a miss, so the size of the value is unknown.
        let is_known = operation.sets() || (operation == TraceOperation::Get && bytes > 0);
        records.push(if is_known { record.sized(bytes) } else { record });
        Ok(())
    }
}

/// Splits a line of a Twitter trace into its seven fields. The key may contain commas.
fn fields(line: &[u8]) -> Option<[&[u8]; 7]> {
    let (time, rest) = line.split_at_checked(line.iter().position(|byte| *byte == b',')?)?;
    let mut last = rest[1..].rsplitn(6, |byte| *byte == b',');
    let (ttl, name, client) = (last.next()?, last.next()?, last.next()?);
    let (value_bytes, key_bytes, key) = (last.next()?, last.next()?, last.next()?);
    let fields = [time, key, key_bytes, value_bytes, client, name, ttl];
    [0, 2, 3].iter().all(|at| number::<u64>(fields[*at]).is_some()).then_some(fields)
}

fn operation(name: &[u8]) -> Option<TraceOperation> {
    Some(match name.trim_ascii() {
        b"get" | b"gets" => TraceOperation::Get,
        b"set" | b"add" | b"replace" | b"cas" => TraceOperation::Put,
        b"append" | b"prepend" | b"incr" | b"decr" => TraceOperation::ReadModifyWrite,
        b"delete" => TraceOperation::Delete,
        _ => return None,
    })
}
