//! Reader of the operations of Tectonic and KV-bench. Each line contains one operation. The operations `I`, `U` and
//! `M` have a key and a value. The operations `P` and `D` have a key. The operations `S` and `R` have two keys, and
//! `SC` has a key and a number of entries.

use catalog::Variant;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::lines::{LineFormat, LineRecords, Records, field, quoted};
use super::reader::{TraceReader, TraceRecords};
use super::record::{TraceOperation, TraceRecord};

pub(super) const VARIANT: Variant<dyn TraceReader> = Variant::plain(
    "tectonic",
    "operations of Tectonic and KV-bench as text (I, U, M, P, D, S, SC, R)",
    || Box::new(Tectonic),
);

struct Tectonic;

impl TraceReader for Tectonic {
    fn recognizes(&self, head: &TraceHead<'_>) -> bool {
        head.all_lines(|line| parse(line).is_ok())
    }

    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError> {
        Ok(Box::new(LineRecords::new(input, Self)))
    }
}

impl LineFormat for Tectonic {
    fn parse(&mut self, line: &[u8], records: &mut Records) -> Result<(), String> {
        if let Some(record) = parse(line)? {
            records.push(record);
        }
        Ok(())
    }
}

/// Parses a line of a Tectonic or KV-bench trace. Returns `None` for a line that only marks a group of operations.
fn parse(line: &[u8]) -> Result<Option<TraceRecord>, String> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let name = words.next().unwrap_or_default();
    let (first, second) = (words.next(), words.next());
    let value = || second.ok_or_else(|| format!("{} has no value", quoted(name)));
    let operation = match name {
        b"I" | b"U" => TraceOperation::Put,
        b"M" => TraceOperation::Merge,
        b"P" => TraceOperation::Get,
        b"D" => TraceOperation::Delete,
        b"S" | b"SC" => TraceOperation::Scan,
        b"R" => TraceOperation::DeleteRange,
        b"FS" | b"FE" => return Ok(None),
        _ => {
            let message = format!(
                "unknown operation \"{}\". Valid: \"I\", \"U\", \"M\", \"P\", \"D\", \"S\", \"SC\", \"R\"",
                quoted(name)
            );
            return Err(message);
        }
    };
    let key = first.filter(|key| !key.is_empty()).ok_or_else(|| format!("{} has no key", quoted(name)))?;
    let record = TraceRecord::new(operation, key);
    Ok(Some(match operation {
        TraceOperation::Put | TraceOperation::Merge => record.with_value(value()?.to_vec()),
        TraceOperation::Scan if name == b"SC" => record.entries(field("number of entries", value()?)?),
        TraceOperation::Scan | TraceOperation::DeleteRange => {
            record.until(second.ok_or_else(|| format!("the operation {} has no end key", quoted(name)))?)
        }
        TraceOperation::Get | TraceOperation::Delete if second.is_some() => {
            return Err(format!("the operation {} has additional words after the key", quoted(name)));
        }
        _ => record,
    }))
}
